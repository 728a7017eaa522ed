import type { Say } from '../texts/fill.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** A length of time in its largest unit, and the next one where that says more: `3 min`, `2 h 5 min`, `820 ms`. */
export function spanText(ms: number, say: Say): string {
  const length = Math.abs(ms)
  if (length < SECOND) return say('time.milliseconds', { count: Math.round(length) })
  if (length < MINUTE) return say('time.seconds', { count: Math.floor(length / SECOND) })
  if (length < HOUR) return say('time.minutes', { count: Math.floor(length / MINUTE) })
  const [unit, smaller, first, second] =
    length < DAY
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
  const span = spanText(ahead > 0 ? Math.ceil(ahead / SECOND) * SECOND : ahead, say)
  return ahead > 0 ? say('time.in', { span }) : say('time.ago', { span })
}

/** How often a relative time has to be drawn again to be true. */
export const stepOf = (at: number, now: number): number => (Math.abs(at - now) < 2 * HOUR ? SECOND : MINUTE)
