import type { Say } from '../texts/fill.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Below this, tenths of a second are shown. */
const FINE = 10 * SECOND

/** A duration in its largest unit, and the next one where it adds something: `820 ms`, `1.5 s`, `1 min 59 s`, `2 h 5 min`. */
export function spanText(ms: number, say: Say): string {
  const length = Math.abs(ms)
  if (length < SECOND) return say('time.milliseconds', { count: Math.round(length) })
  if (length < FINE) return say('time.seconds', { count: Math.floor(length / 100) / 10 })
  if (length < MINUTE) return say('time.seconds', { count: Math.floor(length / SECOND) })
  const [unit, smaller, first, second] =
    length < HOUR
      ? ([MINUTE, SECOND, 'time.minutes', 'time.seconds'] as const)
      : length < DAY
        ? ([HOUR, MINUTE, 'time.hours', 'time.minutes'] as const)
        : ([DAY, HOUR, 'time.days', 'time.hours'] as const)
  const big = Math.floor(length / unit)
  const small = Math.floor((length % unit) / smaller)
  const firstText = say(first, { count: big })
  return small === 0 || big >= 10
    ? firstText
    : say('time.pair', { first: firstText, second: say(second, { count: small }) })
}

/** How far away a time is: `in 4 min`, `2 h 5 min ago`, `now`. */
export function relativeText(at: number, now: number, say: Say): string {
  const ahead = at - now
  if (Math.abs(ahead) < SECOND) return say('time.now')
  // Rounded the way people expect of a countdown: the last second is `in 1 s`.
  const seconds = Math.abs(ahead > 0 ? Math.ceil(ahead / SECOND) : Math.trunc(ahead / SECOND))
  // Minutes alone: a time that is read again every second need not move every second.
  const coarse = seconds < 60 ? seconds : seconds < 3_600 ? seconds - (seconds % 60) : seconds
  const span = spanText(coarse * SECOND, say)
  return ahead > 0 ? say('time.in', { span }) : say('time.ago', { span })
}

/** How often a relative time has to be drawn again to be true. */
export const stepOf = (at: number, now: number): number => (Math.abs(at - now) < 2 * HOUR ? SECOND : MINUTE)
