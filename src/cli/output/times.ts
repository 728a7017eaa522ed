import type { Instant } from '../../domain/instant.ts'

const UNITS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const

/** A length of time in its largest unit, and the next one where that says something: `2 d`, `1 h 20 min`, `340 ms`. */
export function lengthText(ms: number): string {
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

/** A moment as people say it: `in 5 min`, `3 h ago`. */
export function agoText(moment: string | null, now: Instant): string {
  if (moment === null) return '-'
  const away = Date.parse(moment) - now
  if (Math.abs(away) < 1_000) return 'now'
  return away > 0 ? `in ${lengthText(away)}` : `${lengthText(-away)} ago`
}

/** A moment exactly, and how far it is away. */
export const momentText = (moment: string | null, now: Instant): string | null =>
  moment === null ? null : `${moment} (${agoText(moment, now)})`
