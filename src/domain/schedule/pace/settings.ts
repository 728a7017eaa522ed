import type { Flaw } from '../../input.ts'
import { SECOND_MS } from '../../instant.ts'

/** How far the interval of a schedule may move by itself. The interval it was given is where it starts and returns to. */
export interface Cadence {
  readonly minSeconds: number
  readonly maxSeconds: number
  /** By how much one step makes the interval longer or shorter; 1: only what agents propose moves it. */
  readonly stretch: number
  /** So many quiet runs in a row before the first step. */
  readonly quietAfter: number
}

/** A cadence in the names of the wire, with everything that was filled in written out. */
export interface StoredCadence {
  readonly min_seconds: number
  readonly max_seconds: number
  readonly stretch: number
  readonly quiet_after: number
}

/** What holds where a cadence does not say. */
export const USUAL_STRETCH = 2
export const USUAL_QUIET_AFTER = 1

/** A step of more than this goes from one bound to the other. */
export const MAX_STRETCH = 10

/** Nobody waits longer than a year for the next look, as with proposals. */
export const MAX_CADENCE_SECONDS = 366 * 86_400

/** A cadence as it is given. */
export type CadenceFields = Pick<StoredCadence, 'min_seconds' | 'max_seconds'> & {
  readonly [Name in 'stretch' | 'quiet_after']?: number | undefined
}

/** A cadence with what is usual where it does not say. */
export const cadenceOf = (given: CadenceFields): Cadence => ({
  minSeconds: given.min_seconds,
  maxSeconds: given.max_seconds,
  stretch: given.stretch ?? USUAL_STRETCH,
  quietAfter: given.quiet_after ?? USUAL_QUIET_AFTER,
})

/** What is wrong with the bounds of a schedule whose own interval is this long: it has to lie between them. */
export function cadenceFlaws(field: string, value: unknown, intervalMs: number): readonly Flaw[] {
  const { min_seconds: minSeconds, max_seconds: maxSeconds } = Object(value) as Partial<StoredCadence>
  if (typeof minSeconds !== 'number' || typeof maxSeconds !== 'number') return []
  const flaw = outOfBounds(field, { minSeconds, maxSeconds }, intervalMs)
  return flaw === null ? [] : [flaw]
}

function outOfBounds(
  field: string,
  { minSeconds, maxSeconds }: Pick<Cadence, 'minSeconds' | 'maxSeconds'>,
  intervalMs: number,
): Flaw | null {
  if (maxSeconds < minSeconds)
    return {
      field: `${field}.max_seconds`,
      value: maxSeconds,
      message: 'must not be below min_seconds',
      allowed: `a whole number from ${minSeconds} on`,
    }
  const every = intervalMs / SECOND_MS
  if (minSeconds > every)
    return {
      field: `${field}.min_seconds`,
      value: minSeconds,
      message: `must not be above every_seconds, which is ${every}`,
      allowed: `at most ${every}`,
    }
  return maxSeconds >= every
    ? null
    : {
        field: `${field}.max_seconds`,
        value: maxSeconds,
        message: `must not be below every_seconds, which is ${every}`,
        allowed: `at least ${every}`,
      }
}

/** Only an interval can be stretched: the moments of the other kinds are somebody's appointments. */
export const misplacedCadence = (value: unknown): Flaw => ({
  field: 'cadence',
  value,
  message: 'belongs to every_seconds; the moments of at, cron and rrule are kept as they are',
  allowed: 'leave it out, or null',
})

/** What to keep of a cadence, and to show. */
export const storeCadence = (cadence: Cadence): StoredCadence => ({
  min_seconds: cadence.minSeconds,
  max_seconds: cadence.maxSeconds,
  stretch: cadence.stretch,
  quiet_after: cadence.quietAfter,
})
