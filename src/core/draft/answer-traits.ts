import { languageOfText, type Language } from './language.ts'

/** What an answer is made of, where that can be seen. */
export type AnswerFormat =
  | { readonly kind: 'json' | 'table' | 'code' | 'line' }
  | { readonly kind: 'bullets' | 'numbers'; readonly items: number }

/** How an answer looks: what a later one has to look like to be as good. */
export interface AnswerTraits {
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
