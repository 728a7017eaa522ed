import { nextCheckDelay } from '../../heartbeat/next-check.ts'
import type { Instant } from '../../instant.ts'

/** The next check an agent proposes. */
export interface Proposal {
  /** The proposal as the agent wrote it, shortened. */
  readonly text: string
  /** Milliseconds from now; null when it cannot be parsed. */
  readonly inMs: number | null
}

/** The maximum stored length of a proposal. */
const MAX_PROPOSAL_LENGTH = 80

/** Reads the proposal: from the result's own field, otherwise from the output, where it is a field or the last line. */
export function findProposal(
  answer: { readonly nextCheck: unknown; readonly output: unknown },
  now: Instant,
): Proposal | null {
  const value = answer.nextCheck ?? proposalInOutput(answer.output)
  if (value === undefined || value === null) return null
  const inMs = nextCheckDelay(value, now) ?? (typeof value === 'string' ? parseProposedWait(value) : null)
  return { text: (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MAX_PROPOSAL_LENGTH), inMs }
}

/** A last line as models write it: `next_check: 45m`. */
const LAST_LINE = /(?:^|\n)[ \t]*[*_`]*next_check[*_`]*[ \t]*[:=][ \t*_`]*([^\s*_`][^\n*_`]{0,79})[*_`]*\s*$/i

/** How much of the end of a text is searched: outputs come from outside and may be large. */
const SEARCHED_LENGTH = 200

function proposalInOutput(output: unknown): unknown {
  if (typeof output === 'string') return LAST_LINE.exec(output.slice(-SEARCHED_LENGTH))?.[1]?.trim()
  return isObject(output) ? output['next_check'] : undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const LENGTH = /^(\d{1,9}(?:\.\d{1,3})?)\s*(s|m|h|d)?$/i

/** Parses `90`, `90s`, `45m`, `2h` or `1d`; a bare number is seconds. */
function parseProposedWait(text: string): number | null {
  const match = LENGTH.exec(text.trim())
  if (match === null) return null
  return Math.round(Number(match[1]) * (UNITS[(match[2] ?? 's').toLowerCase()] ?? 1_000))
}

/** The output without its proposal: a different proposal alone is nothing new. */
export function withoutProposal(output: unknown): unknown {
  if (typeof output === 'string') {
    const from = Math.max(0, output.length - SEARCHED_LENGTH)
    const line = LAST_LINE.exec(output.slice(from))
    return line === null ? output : output.slice(0, from + line.index)
  }
  if (!isObject(output) || !Object.hasOwn(output, 'next_check')) return output
  const { next_check: _nextCheck, ...rest } = output
  return Object.keys(rest).length === 0 ? null : rest
}
