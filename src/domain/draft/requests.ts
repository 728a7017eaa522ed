/** Languages that an answer can be told to be in, by what they are called in English. */
const LANGUAGES = {
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
const LANGUAGE_NAMES = Object.keys(LANGUAGES) as readonly Language[]

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

/** What somebody wanted otherwise after an answer: no question of its own, but a wish about the one before. */
export interface Wish {
  readonly kind: 'length' | 'language' | 'format' | 'tone' | 'content'
  /** The wish, in words that mean something without the answer it was about; null: only with it. */
  readonly text: string | null
  /** Of a length that was compared: which way it was to go. */
  readonly towards?: 'shorter' | 'longer'
}

/** Nobody corrects in more words; what is longer is a question of its own. */
const LONGEST = 120

const LEAD_IN =
  /^(?:(?:ok(?:ay)?|thanks|thank you|great|good|nice|perfect|now|and|but|again|please|pls|can you|could you|would you|i (?:want|need|would like) (?:it|this)|do (?:it|that|this)|the same|same|make (?:it|that|this)|keep it|give (?:it to )?me|say it|write it|answer|reply|rewrite(?: it)?)\b[\s,:–-]*)+/iu
const LEAD_OUT = /(?:[\s,]*\b(?:please|pls|thanks|thank you|this time|from now on|next time|instead|too|again)\b)+$/iu
const LEAD_IN_ZH = /^(?:请|麻烦|能不能|可以|好的?|谢谢|那|再|然后|但是?|，|,|\s)+/u
const LEAD_OUT_ZH = /(?:吧|呢|啊|谢谢|，|,|\s)+$/u

/** A question about the answer is a wish about it; every other question is one of its own. */
const ASKED_FOR = /^\s*(?:please )?(?:can|could|would) you\b|^\s*(?:能不能|可以)/iu

/** A wish without the courtesies around it. */
function plain(text: string): string {
  const bare = text.trim().replace(/[.!?。！？]+$/u, '')
  return bare.replace(LEAD_IN, '').replace(LEAD_OUT, '').replace(LEAD_IN_ZH, '').replace(LEAD_OUT_ZH, '').trim()
}

const SHORTER =
  /^(?:(?:a (?:bit|little)|much|even|far) )?(?:shorter|briefer|brief|short|concise|more concise|less detail(?:ed)?|(?:that|it|this)(?:'s| is| was) too long|too long)$/iu
const LONGER =
  /^(?:(?:a (?:bit|little)|much|even|far) )?(?:longer|more detail(?:s|ed)?|in (?:more|greater) detail|detailed|elaborate|(?:that|it|this)(?:'s| is| was) too short|too short)$/iu
const SHORTER_ZH = /^(?:写|说)?(?:得)?(?:简短|短|精简|简洁|简单)(?:一?点|一?些)?$|^太长了?$/u
const LONGER_ZH = /^(?:写|说)?(?:得)?(?:详细|长|具体|仔细)(?:一?点|一?些)?$|^太短了?$/u
const MEASURED =
  /^(?:in )?(?:in|at most|max(?:imum)?|no more than|not more than|under|up to|within|only|just|exactly) (?:\d+|one|two|three|four|five|ten) (?:words?|sentences?|lines?|bullets?|bullet points?|characters?|paragraphs?|items?)$/iu
const MEASURED_ZH =
  /^(?:不超过|最多|控制在|限制在|只要|用)\s*(?:\d+|[一二三四五六七八九十百两]+)\s*(?:个)?(?:字|词|句话?|条|行|段|项)(?:以内|之内)?$/u
const SHAPE =
  /^(?:as|in|with|using|use|format (?:it )?as|into|turn it into) (?:an? |the )?(?:[a-z]+ )?(?:table|list|bullets?|bullet points?|checklist|json|csv|markdown|plain text|html|yaml|xml|paragraphs?|sentence|line|headings?|email|e-mail)(?: form(?:at)?)?$/iu
const SHAPE_ZH =
  /^(?:用|以|改成|换成|做成|列成|整理成)?\s*(?:markdown|项目符号|无序|有序|编号)?\s*(?:表格|列表|清单|json|csv|markdown|yaml|纯文本|一句话|段落|要点)(?:的?(?:形式|格式))?(?:回答|输出|列出|给我)?$/iu
const TONE =
  /^(?:(?:a (?:bit|little)|much) )?(?:more |less )?(?:formal|informal|casual|friendly|polite|technical|simple|neutral|professional|serious|playful)(?:ly)?$|^(?:simpler|friendlier|in (?:plain|simple) (?:words|language|english)|for (?:a |my )?(?:beginners?|child(?:ren)?|managers?|boss|team|customers?))$/iu
const TONE_ZH = /^(?:更)?(?:语气)?(?:更)?(?:正式|口语化?|通俗|礼貌|专业|友好|客气|幽默)(?:易懂)?(?:一?点|一?些)?$/u
const CONTENT =
  /^(?:only|just|without|no|don't|do not|leave out|skip|include|also|add|always|never|remove|focus on|sort(?:ed)? by|order(?:ed)? by|group(?:ed)? by|start with|end with|begin with|mention|highlight|ignore)\s+\S/iu
const CONTENT_ZH =
  /^(?:不要|别|去掉|删掉|只要|只看|只列|只说|加上|加入|还要|也要|包括|忽略|重点|突出|按.{1,12}(?:排序|分组|排列))\S*/u

/** The wish in a message; null: it asks for something of its own. */
export function wishIn(message: string): Wish | null {
  if (message.length > LONGEST || message.includes('\n') || (/[?？]\s*$/u.test(message) && !ASKED_FOR.test(message)))
    return null
  const said = plain(message)
  if (said === '') return null
  const language = languageIn(said)
  if (language !== null) return { kind: 'language', text: inLanguage(language, spokenIn(message)) }
  if (SHORTER.test(said) || SHORTER_ZH.test(said)) return { kind: 'length', text: null, towards: 'shorter' }
  if (LONGER.test(said) || LONGER_ZH.test(said)) return { kind: 'length', text: null, towards: 'longer' }
  const text = sentence(said)
  if (MEASURED.test(said) || MEASURED_ZH.test(said)) return { kind: 'length', text }
  if (SHAPE.test(said) || SHAPE_ZH.test(said)) return { kind: 'format', text }
  if (TONE.test(said) || TONE_ZH.test(said)) return { kind: 'tone', text }
  return CONTENT.test(said) || CONTENT_ZH.test(said) ? { kind: 'content', text } : null
}

const IN_LANGUAGE = /^(?:(?:but|all) )?(?:in|into|to|translate (?:it |this |that )?(?:in)?to) (\p{L}+)$/iu
const IN_LANGUAGE_ZH = /^(?:用|以|改用|换成|翻译成|译成|翻成)(.{1,5}?)(?:回答|写|说|输出)?$/u
const ZH_NAMES = new Map<string, Language>([
  ...LANGUAGE_NAMES.map((name) => [LANGUAGES[name].zh, name] as const),
  ...LANGUAGE_NAMES.map((name) => [LANGUAGES[name].zh.replace('语', '文'), name] as const),
  ['汉语', 'Chinese'],
  ['简体中文', 'Chinese'],
])

function languageIn(said: string): Language | null {
  const english = IN_LANGUAGE.exec(said)?.[1]?.toLowerCase()
  if (english !== undefined) return LANGUAGE_NAMES.find((name) => name.toLowerCase() === english) ?? null
  const chinese = IN_LANGUAGE_ZH.exec(said)?.[1]
  return chinese === undefined ? null : (ZH_NAMES.get(chinese) ?? null)
}

/** What is asked of an answer that has to be in a language. */
export const inLanguage = (language: Language, spoken: 'en' | 'zh'): string =>
  spoken === 'zh' ? `用${LANGUAGES[language].zh}回答。` : `Answer in ${language}.`

/** Words as a sentence of their own. */
function sentence(said: string): string {
  const [first = ''] = said
  return `${first.toUpperCase()}${said.slice(first.length)}${spokenIn(said) === 'zh' ? '。' : '.'}`
}
