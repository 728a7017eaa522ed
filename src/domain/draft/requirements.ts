import type { SaidWish, Thread } from '../../core/draft/thread.ts'
import { inLanguage, type Language, languageOfText, spokenIn } from './requests.ts'

export const REQUIREMENT_KINDS = ['format', 'length', 'language', 'tone', 'content'] as const
export type RequirementKind = (typeof REQUIREMENT_KINDS)[number]

/** Something that answers have to be like, as it would be told to an agent. */
export interface Requirement {
  /** By which it is chosen: of what is seen in the answer its kind, of what was said `wish-1` and so on. */
  readonly id: string
  readonly kind: RequirementKind
  readonly text: string
  /** What somebody said; null: it is seen in the answer. */
  readonly said: string | null
  readonly runId: string
  /** Whether it is asked for unless somebody decides otherwise. */
  readonly taken: boolean
}

/** What made an answer good, as far as that can be seen and was said: no model is asked. */
export function requirementsOf(thread: Thread): readonly Requirement[] {
  const { runId, answer } = thread.answered
  const spoken = spokenIn(thread.prompt)
  const wanted = new Set(thread.before.filter(({ wish }) => wish.text !== null).map(({ wish }) => wish.kind))
  const seen = traitSentences(traitsOf(answer), { prompt: thread.prompt, spoken })
    .filter(({ kind }) => !wanted.has(kind))
    .map((trait) => ({ ...trait, id: trait.kind, said: null, runId }))
  const said = [
    ...thread.before.map((one) => ({ one, taken: true, text: one.wish.text })),
    ...thread.after.map((one) => ({ one, taken: false, text: one.wish.text ?? comparedText(one, spoken) })),
  ].flatMap(({ one, taken, text }) => (text === null ? [] : [{ ...one, taken, text }]))
  const wishes = said.map(({ wish, message, taken, text }, no) => ({
    ...{ id: `wish-${no + 1}`, kind: wish.kind, text, said: message.text.trim(), runId: message.runId, taken },
  }))
  const kept = new Map<string, Requirement>()
  for (const one of [...seen, ...wishes]) if (!kept.has(one.text)) kept.set(one.text, one)
  return [...kept.values()]
}

type Spoken = 'en' | 'zh'
type Trait = Pick<Requirement, 'kind' | 'text' | 'taken'>

function traitSentences(
  { format, length, language }: AnswerTraits,
  { prompt, spoken }: { readonly prompt: string; readonly spoken: Spoken },
): readonly Trait[] {
  const traits: Trait[] = []
  if (format !== null) traits.push({ kind: 'format', text: formatText(format, spoken), taken: true })
  if (length !== null && format?.kind !== 'line')
    traits.push({ kind: 'length', text: lengthText(length, spoken), taken: true })
  // Who is asked in a language answers in it; only another one has to be asked for.
  if (language !== null)
    traits.push({
      ...{ kind: 'language', text: inLanguage(language, spoken) },
      taken: (languageOfText(prompt) ?? (spoken === 'zh' ? 'Chinese' : language)) !== language,
    })
  return traits
}

function formatText(format: AnswerFormat, spoken: Spoken): string {
  const isEnglish = spoken === 'en'
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

function lengthText({ count, unit }: NonNullable<AnswerTraits['length']>, spoken: Spoken): string {
  const most = roomAround(count)
  if (spoken === 'en') return `Use at most about ${most} ${unit}.`
  return unit === 'words' ? `不超过约 ${most} 个词。` : `不超过约 ${most} 字。`
}

/** "Shorter" means something beside the answer before it; alone it is the length of the answer that came of it. */
function comparedText({ wish, message }: SaidWish, spoken: Spoken): string {
  const { length } = traitsOf(message.answer)
  if (length !== null && wish.towards === 'shorter') return lengthText(length, spoken)
  if (wish.towards === 'longer') return spoken === 'en' ? 'Go into detail.' : '请写得详细。'
  return spoken === 'en' ? 'Keep it short.' : '请简短。'
}

/** What an answer is made of, where that can be seen. */
type AnswerFormat =
  | { readonly kind: 'json' | 'table' | 'code' | 'line' }
  | { readonly kind: 'bullets' | 'numbers'; readonly items: number }

/** How an answer looks: what a later one has to look like to be as good. */
interface AnswerTraits {
  /** Null: paragraphs, which nobody has to be told. */
  readonly format: AnswerFormat | null
  /** Null: it has no words that could be counted. */
  readonly length: { readonly count: number; readonly unit: 'words' | 'characters' } | null
  readonly language: Language | null
}

const BULLET = /^\s*[-*•·–]\s+\S/u
const NUMBER = /^\s*\d{1,3}[.)、]\s*\S/u
const TABLE_RULE = /^\s*\|?[\s:|-]*-{2,}[\s:|-]*\|[\s:|-]*$/u
/** A list is one when most of its lines are items; a heading and a closing word may stand around it. */
const MOST = 0.5
/** More words in one line than these are a paragraph. */
const LONGEST_LINE = 25

/** What can be seen of an answer without understanding it. */
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
    if (items > 1 && items / lines.length >= MOST) return { kind, items }
  }
  return lines.length === 1 && (lengthOf(text)?.count ?? 0) <= LONGEST_LINE ? { kind: 'line' } : null
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

/** Words where they stand apart, else characters. */
function lengthOf(text: string): AnswerTraits['length'] {
  const written = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu)?.length ?? 0
  const words = text.match(/[\p{L}\p{N}]+(?:['’.,:-][\p{L}\p{N}]+)*/gu)?.length ?? 0
  if (written > words) return { count: written, unit: 'characters' }
  return words === 0 ? null : { count: words, unit: 'words' }
}

/** A length to keep to: somewhat more than what was seen, as a number that people would say. */
export function roomAround(count: number): number {
  const wanted = count * 1.2
  const step = wanted <= 50 ? 10 : wanted <= 200 ? 25 : wanted <= 1_000 ? 50 : 100
  return Math.ceil(wanted / step) * step
}
