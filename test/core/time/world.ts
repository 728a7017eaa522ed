import type { Parsed } from '../../../src/core/input.ts'
import { instant, type Instant } from '../../../src/core/instant.ts'
import type { CronPlan } from '../../../src/core/time/cron.ts'
import { parseCron } from '../../../src/core/time/cron-grammar.ts'
import { parseTiming } from '../../../src/core/time/parse-timing.ts'
import type { Timing } from '../../../src/core/time/timing.ts'
import { parseZone, type Zone } from '../../../src/core/time/zone.ts'

export function right<T>(answer: Parsed<T>): T {
  if (!answer.ok) throw new Error(JSON.stringify(answer.flaws))
  return answer.value
}

export const at = (text: string): Instant => instant(Date.parse(text))

export const show = (moment: number | null): string => (moment === null ? 'none' : new Date(moment).toISOString())

export const zone = (name: string): Zone => right(parseZone('timezone', name))

export const cron = (text: string, zoneName = 'UTC', options: Partial<CronPlan> = {}): CronPlan => ({
  expression: right(parseCron('cron', text)),
  zone: zone(zoneName),
  dst: 'vixie',
  dayMatch: 'or',
  ...options,
})

export const NOW = at('2026-01-15T00:00:00Z')

export const timing = (input: Readonly<Record<string, unknown>>, now = NOW): Timing =>
  right(parseTiming(input, { now, defaultZone: zone('UTC') }))

/** The flaws of an input as `field: message`. */
export function flawsOf(input: Readonly<Record<string, unknown>>, now = NOW): readonly string[] {
  const answer = parseTiming(input, { now, defaultZone: zone('UTC') })
  return answer.ok ? [] : answer.flaws.map((flaw) => `${flaw.field}: ${flaw.message}`)
}
