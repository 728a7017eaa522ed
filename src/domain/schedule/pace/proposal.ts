import { wishedIn } from '../../../core/heartbeat/next-check.ts'
import type { Instant } from '../../instant.ts'

/** When an agent wants to be woken next. */
export interface Proposal {
  /** As it was said, short enough to be kept. */
  readonly asked: string
  /** In so many milliseconds from now; null: what was said cannot be read. */
  readonly inMs: number | null
}

/** So much of a proposal is kept as it was said. */
const MOST_ASKED = 80

/** What the result says apart from the output, else what the output says: a field of its own, or its last line. */
export function findProposal(
  said: { readonly nextCheck: unknown; readonly output: unknown },
  now: Instant,
): Proposal | null {
  const value = said.nextCheck ?? inOutput(said.output)
  if (value === undefined || value === null) return null
  const inMs = wishedIn(value, now) ?? (typeof value === 'string' ? lengthOf(value) : null)
  return { asked: (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MOST_ASKED), inMs }
}

/** A line of its own at the end, as a model writes it: `next_check: 45m`. */
const LAST_LINE = /(?:^|\n)[ \t]*[*_`]*next_check[*_`]*[ \t]*[:=][ \t*_`]*([^\s*_`][^\n*_`]{0,79})[*_`]*\s*$/i

/** The end of a text in which the line is looked for: answers come from outside and may be large. */
const NEAR_THE_END = 200

function inOutput(output: unknown): unknown {
  if (typeof output === 'string') return LAST_LINE.exec(output.slice(-NEAR_THE_END))?.[1]?.trim()
  return isObject(output) ? output['next_check'] : undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const LENGTH = /^(\d{1,9}(?:\.\d{1,3})?)\s*(s|m|h|d)?$/i

/** `90`, `90s`, `45m`, `2h` or `1d`; a bare number is seconds. */
function lengthOf(text: string): number | null {
  const match = LENGTH.exec(text.trim())
  if (match === null) return null
  return Math.round(Number(match[1]) * (UNITS[(match[2] ?? 's').toLowerCase()] ?? 1_000))
}

/** What an answer says apart from when to ask again: another wish alone is nothing new. */
export function withoutProposal(output: unknown): unknown {
  if (typeof output === 'string') {
    const from = Math.max(0, output.length - NEAR_THE_END)
    const line = LAST_LINE.exec(output.slice(from))
    return line === null ? output : output.slice(0, from + line.index)
  }
  if (!isObject(output) || !Object.hasOwn(output, 'next_check')) return output
  const { next_check: _wish, ...rest } = output
  return Object.keys(rest).length === 0 ? null : rest
}
