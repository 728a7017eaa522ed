import type { Flaw } from '../../input.ts'
import { SECOND_MS } from '../../instant.ts'

/** How far the interval of a schedule may adapt. It starts at and returns to the configured interval. */
export interface Cadence {
  readonly minSeconds: number
  readonly maxSeconds: number
  /** The factor by which one step changes the interval; 1: only proposals of agents change it. */
  readonly stretch: number
  /** The number of consecutive quiet runs before the first step. */
  readonly quietAfter: number
}

/** A cadence with its API field names and all defaults filled in. */
export interface StoredCadence {
  readonly min_seconds: number
  readonly max_seconds: number
  readonly stretch: number
  readonly quiet_after: number
}

/** The defaults of a cadence. */
export const DEFAULT_STRETCH = 2
export const DEFAULT_QUIET_AFTER = 1

/** A larger factor would jump from one bound to the other. */
export const MAX_CADENCE_STRETCH = 10

/** The maximum interval: one year, as with proposals. */
export const MAX_CADENCE_SECONDS = 366 * 86_400

/** A cadence from a request. */
export type CadenceFields = Pick<StoredCadence, 'min_seconds' | 'max_seconds'> & {
  readonly [Name in 'stretch' | 'quiet_after']?: number | undefined
}

/** Completes a cadence with the defaults. */
export const cadenceOf = (given: CadenceFields): Cadence => ({
  minSeconds: given.min_seconds,
  maxSeconds: given.max_seconds,
  stretch: given.stretch ?? DEFAULT_STRETCH,
  quietAfter: given.quiet_after ?? DEFAULT_QUIET_AFTER,
})

/** Flaws of a cadence's bounds: the configured interval must be between them. */
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

/** The flaw of a cadence on a timing other than `every_seconds`, whose times are fixed. */
export const misplacedCadence = (value: unknown): Flaw => ({
  field: 'cadence',
  value,
  message: 'applies only to every_seconds, not to at, cron or rrule',
  allowed: 'null, or leave it out',
})

/** A cadence as it is stored and shown. */
export const storeCadence = (cadence: Cadence): StoredCadence => ({
  min_seconds: cadence.minSeconds,
  max_seconds: cadence.maxSeconds,
  stretch: cadence.stretch,
  quiet_after: cadence.quietAfter,
})
