import { readShape } from '../../../src/api/read-input.ts'
import { scheduleInput } from '../../../src/features/schedules/schema.ts'
import type { Parsed } from '../../../src/domain/input.ts'
import { instant, type Instant } from '../../../src/domain/instant.ts'
import type { CronPlan } from '../../../src/domain/time/cron.ts'
import { parseCron } from '../../../src/domain/time/cron-grammar.ts'
import { parseTiming, type TimingContext } from '../../../src/domain/time/parse-timing.ts'
import type { Timing } from '../../../src/domain/time/timing.ts'
import { parseZone, type Zone } from '../../../src/domain/time/zone.ts'

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

/** As every way in reads it: each field by the schema of schedules, and then when they say. */
export function readTiming(input: Readonly<Record<string, unknown>>, context: TimingContext): Parsed<Timing> {
  const fields = readShape(scheduleInput, input)
  return fields.ok ? parseTiming(fields.value, context) : fields
}

export const timing = (input: Readonly<Record<string, unknown>>, now = NOW): Timing =>
  right(readTiming(input, { now, defaultZone: zone('UTC') }))

/** The flaws of an input as `field: message`. */
export function flawsOf(input: Readonly<Record<string, unknown>>, now = NOW): readonly string[] {
  const answer = readTiming(input, { now, defaultZone: zone('UTC') })
  return answer.ok ? [] : answer.flaws.map((flaw) => `${flaw.field}: ${flaw.message}`)
}
