/** Languages that an answer can be told to be in, by what they are called in English. */
export const LANGUAGES = {
  English: { words: 'the and of to in is for with that this are on be was it not your you from have', zh: '英语' },
  German: { words: 'der die und das ist nicht mit von ein eine den im zu auf für dem sie des sich auch', zh: '德语' },
  French: { words: 'le la les des et est une un dans pour que qui sur avec pas vous nous au du ce', zh: '法语' },
  Spanish: { words: 'el los las y es una un en para que con por del no se su al como más lo', zh: '西班牙语' },
  Italian: { words: 'il gli di e è una un in per che con non del della sono si da anche alla nel', zh: '意大利语' },
  Portuguese: { words: 'o os as e é uma um em para que com não do da se por mais dos ao na', zh: '葡萄牙语' },
  Dutch: { words: 'de het een en van is niet met dat op te voor zijn aan ook er maar om bij wordt', zh: '荷兰语' },
  Chinese: { words: '', zh: '中文' },
  Japanese: { words: '', zh: '日语' },
  Korean: { words: '', zh: '韩语' },
} as const

export type Language = keyof typeof LANGUAGES

/** Every language by its name in English. */
export const LANGUAGE_NAMES = Object.keys(LANGUAGES) as readonly Language[]

const SPACED = LANGUAGE_NAMES.filter((name) => LANGUAGES[name].words !== '').map(
  (name) => [name, new Set(LANGUAGES[name].words.split(' '))] as const,
)

/** Fewer words than these say nothing about their language. */
const FEWEST_WORDS = 6
/** The share of words that must be among the commonest of a language; of two languages the winner needs a lead. */
const LEAST_SHARE = 0.12
const LEAD = 1.4

const share = (text: string, letters: RegExp): number => {
  const all = text.match(/\p{L}/gu)?.length ?? 0
  return all === 0 ? 0 : (text.match(letters)?.length ?? 0) / all
}

/**
 * The language of a text, by its script and its commonest words. Null: it is too short, mixed, or in a language that is
 * not among ours, and nobody guesses.
 */
export function languageOfText(text: string): Language | null {
  if (share(text, /[\p{Script=Hiragana}\p{Script=Katakana}]/gu) > 0.15) return 'Japanese'
  if (share(text, /\p{Script=Hangul}/gu) > 0.3) return 'Korean'
  if (share(text, /\p{Script=Han}/gu) > 0.3) return 'Chinese'
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  if (words.length < FEWEST_WORDS) return null
  const found = SPACED.map(
    ([name, common]) => [name, words.filter((word) => common.has(word)).length / words.length] as const,
  ).toSorted(([, a], [, b]) => b - a)
  const [first, second] = found
  if (first === undefined || first[1] < LEAST_SHARE) return null
  return second !== undefined && first[1] < second[1] * LEAD ? null : first[0]
}

/** The language in which something about a text is said: Chinese to whoever writes Chinese. */
export const spokenIn = (text: string): 'en' | 'zh' => (share(text, /\p{Script=Han}/gu) > 0.3 ? 'zh' : 'en')
