import { flawed, integerField, parsed, parseFields, type Flaw, type Parsed } from '../input.ts'
import { SECOND_MS } from '../instant.ts'

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
const MOST_STRETCH = 10

/** Nobody waits longer than a year for the next look, as with proposals. */
const MOST_SECONDS = 366 * 86_400

const FIELDS = {
  min_seconds: integerField({ min: 1, max: MOST_SECONDS }),
  max_seconds: integerField({ min: 1, max: MOST_SECONDS }),
  stretch: parseStretch,
  quiet_after: integerField({ min: 1, max: 1_000 }),
}

function parseStretch(field: string, value: unknown): Parsed<number> {
  const allowed = `a number from 1 to ${MOST_STRETCH}`
  if (typeof value !== 'number' || !Number.isFinite(value))
    return flawed({ field, value, message: 'must be a number', allowed })
  return value < 1 || value > MOST_STRETCH
    ? flawed({ field, value, message: 'is out of range', allowed })
    : parsed(value)
}

/** Reads the cadence of a schedule whose own interval is this long: it has to lie between the bounds. */
export function parseCadence(field: string, value: unknown, intervalMs: number | null): Parsed<Cadence> {
  const read = parseFields(field, value, FIELDS)
  if (!read.ok) return read
  const { min_seconds: minSeconds, max_seconds: maxSeconds, stretch, quiet_after: quietAfter } = read.value
  if (minSeconds === undefined || maxSeconds === undefined)
    return flawed([
      ...(minSeconds === undefined ? [missing(`${field}.min_seconds`)] : []),
      ...(maxSeconds === undefined ? [missing(`${field}.max_seconds`)] : []),
    ])
  const flaw = outOfBounds(field, { minSeconds, maxSeconds }, intervalMs)
  if (flaw !== null) return flawed(flaw)
  return parsed({
    minSeconds,
    maxSeconds,
    stretch: stretch ?? USUAL_STRETCH,
    quietAfter: quietAfter ?? USUAL_QUIET_AFTER,
  })
}

const missing = (field: string): Flaw => ({
  field,
  value: undefined,
  message: 'is missing',
  allowed: `a whole number from 1 to ${MOST_SECONDS}`,
})

function outOfBounds(
  field: string,
  { minSeconds, maxSeconds }: Pick<Cadence, 'minSeconds' | 'maxSeconds'>,
  intervalMs: number | null,
): Flaw | null {
  if (maxSeconds < minSeconds)
    return {
      field: `${field}.max_seconds`,
      value: maxSeconds,
      message: 'must not be below min_seconds',
      allowed: `a whole number from ${minSeconds} on`,
    }
  if (intervalMs === null) return null
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
