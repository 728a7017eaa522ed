import type { ThreadRequest, Thread } from './thread.ts'
import { languageInstruction, type AnswerLanguage, languageOfText, noteLanguageOf } from './requests.ts'

export const REQUIREMENT_KINDS = ['format', 'length', 'language', 'tone', 'content'] as const
export type RequirementKind = (typeof REQUIREMENT_KINDS)[number]

/** A requirement for answers, as an instruction to an agent. */
export interface Requirement {
  /** The id by which it is selected: its kind if derived from the answer, otherwise `wish-1` and so on. */
  readonly id: string
  readonly kind: RequirementKind
  readonly text: string
  /** The message that asked for it; null if it is derived from the answer. */
  readonly said: string | null
  readonly runId: string
  /** Whether it is selected by default. */
  readonly taken: boolean
}

/** The requirements of a good answer, derived from the answer and the messages. Calls no model. */
export function requirementsOf(thread: Thread): readonly Requirement[] {
  const { runId, answer } = thread.answered
  const noteLanguage = noteLanguageOf(thread.prompt)
  const requestedKinds = new Set(
    thread.before.filter(({ request: wish }) => wish.text !== null).map(({ request: wish }) => wish.kind),
  )
  const seen = traitSentences(traitsOf(answer), { prompt: thread.prompt, spoken: noteLanguage })
    .filter(({ kind }) => !requestedKinds.has(kind))
    .map((trait) => ({ ...trait, id: trait.kind, said: null, runId }))
  const said = [
    ...thread.before.map((one) => ({ one, taken: true, text: one.request.text })),
    ...thread.after.map((one) => ({
      one,
      taken: false,
      text: one.request.text ?? relativeLengthText(one, noteLanguage),
    })),
  ].flatMap(({ one, taken, text }) => (text === null ? [] : [{ ...one, taken, text }]))
  const requested = said.map(({ request: wish, message, taken, text }, index) => ({
    ...{ id: `wish-${index + 1}`, kind: wish.kind, text, said: message.text.trim(), runId: message.runId, taken },
  }))
  const kept = new Map<string, Requirement>()
  for (const one of [...seen, ...requested]) if (!kept.has(one.text)) kept.set(one.text, one)
  return [...kept.values()]
}

type NoteLanguage = 'en' | 'zh'
type AnswerTrait = Pick<Requirement, 'kind' | 'text' | 'taken'>

function traitSentences(
  { format, length, language }: AnswerTraits,
  { prompt, spoken: noteLanguage }: { readonly prompt: string; readonly spoken: NoteLanguage },
): readonly AnswerTrait[] {
  const traits: AnswerTrait[] = []
  if (format !== null) traits.push({ kind: 'format', text: formatText(format, noteLanguage), taken: true })
  if (length !== null && format?.kind !== 'line')
    traits.push({ kind: 'length', text: lengthText(length, noteLanguage), taken: true })
  // Agents answer in the language of the prompt, so only another language needs an instruction.
  if (language !== null)
    traits.push({
      ...{ kind: 'language', text: languageInstruction(language, noteLanguage) },
      taken: (languageOfText(prompt) ?? (noteLanguage === 'zh' ? 'Chinese' : language)) !== language,
    })
  return traits
}

function formatText(format: AnswerFormat, noteLanguage: NoteLanguage): string {
  const isEnglish = noteLanguage === 'en'
  switch (format.kind) {
    case 'json':
      return isEnglish ? 'Answer with JSON only.' : '只用 JSON 回答。'
    case 'table':
      return isEnglish ? 'Answer with a Markdown table.' : '用 Markdown 表格回答。'
    case 'code':
      return isEnglish ? 'Answer with one code block only.' : '只用一个代码块回答。'
    case 'line':
      return isEnglish ? 'Answer in one line.' : '用一行回答。'
    case 'bullets':
      return isEnglish
        ? `Answer as a bullet list of about ${format.items} items.`
        : `用项目符号列表回答，约 ${format.items} 项。`
    case 'numbers':
      return isEnglish
        ? `Answer as a numbered list of about ${format.items} items.`
        : `用编号列表回答，约 ${format.items} 项。`
  }
}

function lengthText({ count, unit }: NonNullable<AnswerTraits['length']>, noteLanguage: NoteLanguage): string {
  const limit = roundedLimit(count)
  if (noteLanguage === 'en') return `Use at most about ${limit} ${unit}.`
  return unit === 'words' ? `不超过约 ${limit} 个词。` : `不超过约 ${limit} 字。`
}

/** The instruction for a relative length: "shorter" becomes the length of the answer that followed. */
function relativeLengthText({ request: wish, message }: ThreadRequest, noteLanguage: NoteLanguage): string {
  const { length } = traitsOf(message.answer)
  if (length !== null && wish.direction === 'shorter') return lengthText(length, noteLanguage)
  if (wish.direction === 'longer') return noteLanguage === 'en' ? 'Go into detail.' : '请写得详细。'
  return noteLanguage === 'en' ? 'Keep it short.' : '请简短。'
}

/** The format of an answer. */
type AnswerFormat =
  | { readonly kind: 'json' | 'table' | 'code' | 'line' }
  | { readonly kind: 'bullets' | 'numbers'; readonly items: number }

/** The visible traits of an answer that later answers should have too. */
interface AnswerTraits {
  /** Null for paragraphs, which need no instruction. */
  readonly format: AnswerFormat | null
  /** Null if the answer has no words. */
  readonly length: { readonly count: number; readonly unit: 'words' | 'characters' } | null
  readonly language: AnswerLanguage | null
}

const BULLET = /^\s*[-*•·–]\s+\S/u
const NUMBER = /^\s*\d{1,3}[.)、]\s*\S/u
const TABLE_RULE = /^\s*\|?[\s:|-]*-{2,}[\s:|-]*\|[\s:|-]*$/u
/** The minimum share of lines that are items in a list; the rest can be a heading or closing text. */
const MIN_LIST_SHARE = 0.5
/** The maximum number of words in a line; a longer one is a paragraph. */
const MAX_LINE_WORDS = 25

/** The format, length and language of an answer. */
export function traitsOf(answer: unknown): AnswerTraits {
  if (typeof answer !== 'string')
    return { format: answer === null || answer === undefined ? null : { kind: 'json' }, length: null, language: null }
  const text = answer.trim()
  if (text === '') return { format: null, length: null, language: null }
  const format = formatOf(text)
  if (format?.kind === 'json' || format?.kind === 'code') return { format, length: null, language: null }
  return { format, length: lengthOf(text), language: languageOfText(text) }
}

function formatOf(text: string): AnswerFormat | null {
  if (isJson(text)) return { kind: 'json' }
  if (/^```[^]*```$/u.test(text)) return { kind: 'code' }
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.some((line) => TABLE_RULE.test(line))) return { kind: 'table' }
  for (const [kind, item] of [
    ['bullets', BULLET],
    ['numbers', NUMBER],
  ] as const) {
    const items = lines.filter((line) => item.test(line)).length
    if (items > 1 && items / lines.length >= MIN_LIST_SHARE) return { kind, items }
  }
  return lines.length === 1 && (lengthOf(text)?.count ?? 0) <= MAX_LINE_WORDS ? { kind: 'line' } : null
}

function isJson(text: string): boolean {
  if (!/^[{[]/u.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The length in words, or in characters for scripts without spaces. */
function lengthOf(text: string): AnswerTraits['length'] {
  const written = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0
  const words = text.match(/[\p{L}\p{N}]+(?:['’.,:-][\p{L}\p{N}]+)*/gu)?.length ?? 0
  if (written > words) return { count: written, unit: 'characters' }
  return words === 0 ? null : { count: words, unit: 'words' }
}

/** A length limit: 20 % above a count, rounded up to a round number. */
export function roundedLimit(count: number): number {
  const requestedKinds = count * 1.2
  const step = requestedKinds <= 50 ? 10 : requestedKinds <= 200 ? 25 : requestedKinds <= 1_000 ? 50 : 100
  return Math.ceil(requestedKinds / step) * step
}
