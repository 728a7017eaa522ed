import { flawed, integerField, parsed, parseFields, parseInteger, wordField, type Parsed } from '../input.ts'

export const RETRY_STRATEGIES = ['fixed', 'exponential', 'ladder'] as const
export type RetryStrategy = (typeof RETRY_STRATEGIES)[number]

export interface RetryPolicy {
  /** Retries after the first attempt. 0 means none. */
  readonly maxRetries: number
  readonly strategy: RetryStrategy
  readonly baseMs: number
  readonly maxMs: number
  /** The share by which a wait may be shorter or longer: 0.25 gives 0.75…1.25. */
  readonly jitter: number
  /** The waits of strategy `ladder`. The last one repeats. */
  readonly ladderSeconds: readonly number[]
}

export const DEFAULT_LADDER_SECONDS: readonly number[] = [30, 60, 300, 900, 3600]

/** What an agent's turn gets unless the schedule or agent says otherwise: waits of about 2, 4 and 8 s. */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  maxRetries: 3,
  strategy: 'exponential',
  baseMs: 2_000,
  maxMs: 30_000,
  jitter: 0.25,
  ladderSeconds: DEFAULT_LADDER_SECONDS,
}

/** Nobody waits longer than this for a retry; a longer wait is a schedule. */
const MAX_WAIT_MS = 86_400_000

const FIELDS = {
  max_retries: integerField({ min: 0, max: 1_000 }),
  strategy: wordField(RETRY_STRATEGIES),
  base_ms: integerField({ min: 1, max: MAX_WAIT_MS }),
  max_ms: integerField({ min: 1, max: MAX_WAIT_MS }),
  jitter: parseShare,
  ladder_seconds: parseLadder,
}

/**
 * Reads a retry policy. What is left out comes from `base`; a ladder without `max_retries` is climbed once. A fixed wait
 * or a ladder is exact unless jitter is asked for: somebody who writes 30 s means 30 s.
 */
export function parseRetryPolicy(field: string, value: unknown, base = DEFAULT_RETRY_POLICY): Parsed<RetryPolicy> {
  const read = parseFields(field, value, FIELDS)
  if (!read.ok) return read
  const given = read.value
  const strategy = given.strategy ?? base.strategy
  const ladderSeconds = given.ladder_seconds ?? base.ladderSeconds
  const baseMs = given.base_ms ?? base.baseMs
  // A longest wait that nobody wrote must not contradict a first wait that somebody did.
  const maxMs = given.max_ms ?? Math.max(base.maxMs, baseMs)
  if (strategy === 'exponential' && maxMs < baseMs)
    return flawed({ field: `${field}.max_ms`, value: maxMs, message: `is below base_ms, ${baseMs}` })
  return parsed({
    strategy,
    ladderSeconds,
    maxRetries: given.max_retries ?? (strategy === 'ladder' ? ladderSeconds.length : base.maxRetries),
    baseMs,
    maxMs,
    jitter: given.jitter ?? (strategy === 'exponential' ? base.jitter : 0),
  })
}

function parseShare(field: string, value: unknown): Parsed<number> {
  return typeof value === 'number' && value >= 0 && value < 1
    ? parsed(value)
    : flawed({ field, value, message: 'must be a share', allowed: 'a number from 0 to below 1' })
}

/** Reads a list of waits in whole seconds. */
export function parseLadder(field: string, value: unknown): Parsed<readonly number[]> {
  const allowed = `a list of 1 to 20 whole seconds from 1 to ${MAX_WAIT_MS / 1000}`
  if (!Array.isArray(value) || value.length < 1 || value.length > 20)
    return flawed({ field, value, message: 'must be a list of seconds', allowed })
  const steps: readonly unknown[] = value
  const bad = steps.findIndex((step) => !parseInteger(field, step, { min: 1, max: MAX_WAIT_MS / 1000 }).ok)
  if (bad >= 0) return flawed({ field: `${field}.${bad}`, value: steps[bad], message: 'is not a wait', allowed })
  return parsed(steps as readonly number[])
}
