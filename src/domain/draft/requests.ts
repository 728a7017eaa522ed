/** The supported languages of answers by English name, with their most common words. */
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

export type AnswerLanguage = keyof typeof LANGUAGES

/** The English names of the supported languages. */
const LANGUAGE_NAMES = Object.keys(LANGUAGES) as readonly AnswerLanguage[]

const WORD_LANGUAGES = LANGUAGE_NAMES.filter((name) => LANGUAGES[name].words !== '').map(
  (name) => [name, new Set(LANGUAGES[name].words.split(' '))] as const,
)

/** Texts with fewer words are too short to detect their language. */
const MIN_WORDS = 6
/** The minimum share of words that are common in a language, and the lead required over the second language. */
const MIN_COMMON_SHARE = 0.12
const MIN_LEAD = 1.4

const letterShare = (text: string, letters: RegExp): number => {
  const all = text.match(/\p{L}/gu)?.length ?? 0
  return all === 0 ? 0 : (text.match(letters)?.length ?? 0) / all
}

/**
 * Detects the language of a text by its script and most common words. Null if the text is too short, mixed or in an
 * unsupported language.
 */
export function languageOfText(text: string): AnswerLanguage | null {
  if (letterShare(text, /[\p{Script=Hiragana}\p{Script=Katakana}]/gu) > 0.15) return 'Japanese'
  if (letterShare(text, /\p{Script=Hangul}/gu) > 0.3) return 'Korean'
  if (letterShare(text, /\p{Script=Han}/gu) > 0.3) return 'Chinese'
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? []
  if (words.length < MIN_WORDS) return null
  const found = WORD_LANGUAGES.map(
    ([name, common]) => [name, words.filter((word) => common.has(word)).length / words.length] as const,
  ).toSorted(([, a], [, b]) => b - a)
  const [first, second] = found
  if (first === undefined || first[1] < MIN_COMMON_SHARE) return null
  return second !== undefined && first[1] < second[1] * MIN_LEAD ? null : first[0]
}

/** The language of notes about a text: Chinese for Chinese texts, otherwise English. */
export const noteLanguageOf = (text: string): 'en' | 'zh' => (letterShare(text, /\p{Script=Han}/gu) > 0.3 ? 'zh' : 'en')

/** A request to change the previous answer, as opposed to a new question. */
export interface ChangeRequest {
  readonly kind: 'length' | 'language' | 'format' | 'tone' | 'content'
  /** The request as a self-contained sentence; null if it only makes sense with the previous answer. */
  readonly text: string | null
  /** The direction of a relative length. */
  readonly direction?: 'shorter' | 'longer'
}

/** Longer messages are new questions, not change requests. In characters. */
const MAX_REQUEST_LENGTH = 120

const LEAD_IN =
  /^(?:(?:ok(?:ay)?|thanks|thank you|great|good|nice|perfect|now|and|but|again|please|pls|can you|could you|would you|i (?:want|need|would like) (?:it|this)|do (?:it|that|this)|the same|same|make (?:it|that|this)|keep it|give (?:it to )?me|say it|write it|answer|reply|rewrite(?: it)?)\b[\s,:–-]*)+/iu
const LEAD_OUT = /(?:[\s,]*\b(?:please|pls|thanks|thank you|this time|from now on|next time|instead|too|again)\b)+$/iu
const LEAD_IN_ZH = /^(?:请|麻烦|能不能|可以|好的?|谢谢|那|再|然后|但是?|，|,|\s)+/u
const LEAD_OUT_ZH = /(?:吧|呢|啊|谢谢|，|,|\s)+$/u

/** A question of this form is a change request; every other question is a new one. */
const POLITE_QUESTION = /^\s*(?:please )?(?:can|could|would) you\b|^\s*(?:能不能|可以)/iu

/** A message without polite phrases around the request. */
function withoutPoliteness(text: string): string {
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

/** The change request in a message; null if the message is a new question. */
export function changeRequestIn(message: string): ChangeRequest | null {
  if (
    message.length > MAX_REQUEST_LENGTH ||
    message.includes('\n') ||
    (/[?？]\s*$/u.test(message) && !POLITE_QUESTION.test(message))
  )
    return null
  const request = withoutPoliteness(message)
  if (request === '') return null
  const language = requestedLanguage(request)
  if (language !== null) return { kind: 'language', text: languageInstruction(language, noteLanguageOf(message)) }
  if (SHORTER.test(request) || SHORTER_ZH.test(request)) return { kind: 'length', text: null, direction: 'shorter' }
  if (LONGER.test(request) || LONGER_ZH.test(request)) return { kind: 'length', text: null, direction: 'longer' }
  const text = asSentence(request)
  if (MEASURED.test(request) || MEASURED_ZH.test(request)) return { kind: 'length', text }
  if (SHAPE.test(request) || SHAPE_ZH.test(request)) return { kind: 'format', text }
  if (TONE.test(request) || TONE_ZH.test(request)) return { kind: 'tone', text }
  return CONTENT.test(request) || CONTENT_ZH.test(request) ? { kind: 'content', text } : null
}

const IN_LANGUAGE = /^(?:(?:but|all) )?(?:in|into|to|translate (?:it |this |that )?(?:in)?to) (\p{L}+)$/iu
const IN_LANGUAGE_ZH = /^(?:用|以|改用|换成|翻译成|译成|翻成)(.{1,5}?)(?:回答|写|说|输出)?$/u
const ZH_NAMES = new Map<string, AnswerLanguage>([
  ...LANGUAGE_NAMES.map((name) => [LANGUAGES[name].zh, name] as const),
  ...LANGUAGE_NAMES.map((name) => [LANGUAGES[name].zh.replace('语', '文'), name] as const),
  ['汉语', 'Chinese'],
  ['简体中文', 'Chinese'],
])

function requestedLanguage(request: string): AnswerLanguage | null {
  const english = IN_LANGUAGE.exec(request)?.[1]?.toLowerCase()
  if (english !== undefined) return LANGUAGE_NAMES.find((name) => name.toLowerCase() === english) ?? null
  const chinese = IN_LANGUAGE_ZH.exec(request)?.[1]
  return chinese === undefined ? null : (ZH_NAMES.get(chinese) ?? null)
}

/** The instruction to answer in a language. */
export const languageInstruction = (language: AnswerLanguage, noteLanguage: 'en' | 'zh'): string =>
  noteLanguage === 'zh' ? `用${LANGUAGES[language].zh}回答。` : `Answer in ${language}.`

/** A text as a sentence: capitalized and with a period. */
function asSentence(request: string): string {
  const [first = ''] = request
  return `${first.toUpperCase()}${request.slice(first.length)}${noteLanguageOf(request) === 'zh' ? '。' : '.'}`
}
