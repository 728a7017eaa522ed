import { judgeCondition } from '../../domain/probe/check-condition.ts'
import { valueAt } from './pointer.ts'
import type { Probe } from '../../domain/probe/probe.ts'

/** What a probe can say. */
export const PROBE_ANSWERS = ['yes', 'no', 'error'] as const
export type ProbeAnswer = (typeof PROBE_ANSWERS)[number]

/** What came of asking, before anybody has judged it. */
export type Sight =
  /** Something was seen: JSON or text, and by which mark it is told apart where it has no content of its own. */
  | { readonly kind: 'seen'; readonly value: unknown; readonly how: string; readonly mark: string | null }
  /** There is plainly nothing: an empty answer, an exit code of 1. */
  | { readonly kind: 'nothing'; readonly how: string }
  | { readonly kind: 'failed'; readonly message: string }

/** What a probe says, in words, and by what it will be told whether anything has changed. */
export interface Verdict {
  readonly answer: ProbeAnswer
  readonly sentence: string
  /** What was looked at, cut: for people. */
  readonly seen: string
  /** Null: `changed` was not asked for, or nothing was seen. */
  readonly fingerprint: string | null
}

const MOST_SEEN = 500

const seenOf = (value: unknown): string => {
  const text = typeof value === 'string' ? value : ((JSON.stringify(value) as string | undefined) ?? '')
  return text.length > MOST_SEEN ? `${text.slice(0, MOST_SEEN)}…` : text
}

/**
 * Decides by what was seen. `before` is what the last asking saw whose run succeeded; null: nothing was ever seen.
 * `digest` makes a short text of a long one, the same for the same.
 */
export function judgeSight(
  probe: Probe,
  sight: Sight,
  { before, digest }: { readonly before: string | null; readonly digest: (text: string) => string },
): Verdict {
  if (sight.kind === 'failed') return { answer: 'error', sentence: sight.message, seen: '', fingerprint: null }
  if (sight.kind === 'nothing') return { answer: 'no', sentence: sight.how, seen: '', fingerprint: null }
  const { value, how, mark } = sight
  const seen = seenOf(value)
  const judged = probe.when === null ? { holds: true, sentence: how } : judgeCondition(probe.when, value)
  if (!judged.holds) return { answer: 'no', sentence: judged.sentence, seen, fingerprint: null }
  if (probe.changed === null) return { answer: 'yes', sentence: judged.sentence, seen, fingerprint: null }
  const told = mark ?? canonical(typeof probe.changed === 'string' ? valueAt(value, probe.changed) : value)
  const fingerprint = digest(told)
  const place = typeof probe.changed === 'string' ? probe.changed : 'the answer'
  if (before === fingerprint)
    return { answer: 'no', sentence: `${place} is the same as the last time`, seen, fingerprint }
  const since = before === null ? 'was never looked at before' : 'has changed since the last time'
  return { answer: 'yes', sentence: `${place} ${since}`, seen, fingerprint }
}

/** The same text for the same JSON, whatever order its names come in. */
function canonical(value: unknown): string {
  if (value === undefined) return 'missing'
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(',')}}`
}

/** Reads a text as what it looks like: JSON, or words. */
export function readSight(text: string): unknown {
  if (isDeep(text)) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** What is nested deeper is nobody's answer, and would be more than whoever compares it can hold. */
const DEEPEST_SIGHT = 200

function isDeep(text: string): boolean {
  let depth = 0
  let isQuoted = false
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index]
    if (isQuoted) {
      if (sign === '\\') index += 1
      else if (sign === '"') isQuoted = false
    } else if (sign === '"') isQuoted = true
    else if (sign === '[' || sign === '{') depth += 1
    else if (sign === ']' || sign === '}') depth -= 1
    if (depth > DEEPEST_SIGHT) return true
  }
  return false
}
