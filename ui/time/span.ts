import type { Say } from '../texts/fill.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Below this, a part of a second says something: `1.5 s`. */
const TENTHS_BELOW = 10 * SECOND

/** A length of time as people say it: `820 ms`, `1.5 s`, `45 s`, `2 min 5 s`, `2 h 5 min`. */
export function spanText(ms: number, say: Say): string {
  const length = Math.abs(ms)
  if (Math.round(length) < SECOND) return say('time.milliseconds', { count: Math.round(length) })
  const tenths = Math.round(length / 100) / 10
  if (tenths * SECOND < TENTHS_BELOW) return say('time.seconds', { count: tenths })
  const seconds = Math.round(length / SECOND)
  if (seconds * SECOND < MINUTE) return say('time.seconds', { count: seconds })
  if (seconds * SECOND < HOUR) return pairText(seconds * SECOND, say, { unit: MINUTE, smaller: SECOND })
  return coarseText(length, say)
}

interface Units {
  readonly unit: number
  readonly smaller: number
}

const UNIT_TEXTS = new Map([
  [SECOND, 'time.seconds'],
  [MINUTE, 'time.minutes'],
  [HOUR, 'time.hours'],
  [DAY, 'time.days'],
] as const)

/** Two units, the smaller one only where it says something. */
function pairText(length: number, say: Say, { unit, smaller }: Units): string {
  const big = Math.floor(length / unit)
  const small = Math.floor((length % unit) / smaller)
  const text = (of: number, count: number): string => say(UNIT_TEXTS.get(of as never) ?? 'time.seconds', { count })
  return small === 0 || big >= 10
    ? text(unit, big)
    : say('time.pair', { first: text(unit, big), second: text(smaller, small) })
}

/** A distance in its largest unit, which people count down by: `3 min`, `2 h 5 min`. */
function coarseText(length: number, say: Say): string {
  if (length < SECOND) return say('time.milliseconds', { count: Math.round(length) })
  if (length < MINUTE) return say('time.seconds', { count: Math.floor(length / SECOND) })
  if (length < HOUR) return say('time.minutes', { count: Math.floor(length / MINUTE) })
  const units = length < DAY ? { unit: HOUR, smaller: MINUTE } : { unit: DAY, smaller: HOUR }
  return pairText(length, say, units)
}

/** How far away a time is: `in 4 min`, `2 h 5 min ago`, `now`. */
export function relativeText(at: number, now: number, say: Say): string {
  const ahead = at - now
  if (Math.abs(ahead) < SECOND) return say('time.now')
  // Rounded the way people expect of a countdown: the last second is `in 1 s`.
  const span = coarseText(ahead > 0 ? Math.ceil(ahead / SECOND) * SECOND : -ahead, say)
  return ahead > 0 ? say('time.in', { span }) : say('time.ago', { span })
}

/** How often a relative time has to be drawn again to be true. */
export const stepOf = (at: number, now: number): number => (Math.abs(at - now) < 2 * HOUR ? SECOND : MINUTE)
