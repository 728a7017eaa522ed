/** The unit of a duration setting, which its name ends with: `lease_ms`, `result_ttl_seconds`, `run_days`. */
export type DurationUnit = 'ms' | 'seconds' | 'days'

const MS_IN: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const MS_OF: Readonly<Record<DurationUnit, number>> = { ms: 1, seconds: 1_000, days: 86_400_000 }

/** The allowed durations, for errors. */
export const DURATION_WORDS = 'a number followed by ms, s, m, h or d, or a combination such as 1h30m'

/**
 * Reads `30m` or `1h30m` as a number of units. Null: not a duration. A duration between whole units, such as 1500ms in
 * seconds, keeps its fraction, which the rule of the setting then refuses.
 */
export function parseDuration(text: string, unit: DurationUnit): number | null {
  const trimmed = text.trim().toLowerCase()
  if (!/^(?:\d{1,9}(?:ms|s|m|h|d))+$/.test(trimmed)) return null
  let ms = 0
  for (const [, count = '0', of = 'ms'] of trimmed.matchAll(/(\d+)(ms|s|m|h|d)/g))
    ms += Number(count) * (MS_IN[of] ?? 0)
  return ms / MS_OF[unit]
}
