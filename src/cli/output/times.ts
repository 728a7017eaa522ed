import { instant, type Instant } from '../../domain/instant.ts'

/** The host's wall clock. Only the entry point reads it; everything else takes `now` as an argument. */
export const systemNow = (): Instant => instant(Date.now())

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const

/** A duration in its largest unit and, if not zero, the next one: `2 d`, `1 h 20 min`, `340 ms`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  const at = UNITS.findIndex((unit) => ms >= unit.ms)
  const unit = UNITS[at]
  if (unit === undefined) return `${ms} ms`
  const next = UNITS[at + 1]
  if (next === undefined || ms >= 10 * unit.ms) return `${Math.round(ms / unit.ms)} ${unit.name}`
  const whole = Math.floor(ms / unit.ms)
  const rest = Math.floor((ms % unit.ms) / next.ms)
  return rest === 0 ? `${whole} ${unit.name}` : `${whole} ${unit.name} ${rest} ${next.name}`
}

/** A time relative to now: `in 5 min`, `3 h ago`. */
export function relativeTimeText(time: string | null, now: Instant): string {
  if (time === null) return '-'
  const distance = Date.parse(time) - now
  if (Math.abs(distance) < 1_000) return 'now'
  return distance > 0 ? `in ${durationText(distance)}` : `${durationText(-distance)} ago`
}

/** A time, followed by its distance from now. */
export const cliTimeText = (time: string | null, now: Instant): string | null =>
  time === null ? null : `${time} (${relativeTimeText(time, now)})`
