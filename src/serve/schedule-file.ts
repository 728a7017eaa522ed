import { readDocument } from '../platform/config/file.ts'
import { parseDuration } from '../domain/duration.ts'
import type { ScheduleInput } from '../contract/schedule.ts'

/** The schedules in a file, or what is wrong with it as a sentence that goes on after the name of the file. */
export type ScheduleFile =
  { readonly ok: true; readonly schedules: readonly ScheduleInput[] } | { readonly ok: false; readonly message: string }

const ALLOWED = 'one schedule, a list of them, or an object with the list under schedules'

/** Reads a file of JSON or YAML with one schedule or many. Durations may be written as `30m`. */
export function readScheduleFile(text: string): ScheduleFile {
  const read = readDocument(text)
  if (!read.ok) return { ok: false, message: `is neither JSON nor YAML: ${read.message}` }
  const { value } = read
  const found = isObject(value) && Array.isArray(value['schedules']) ? (value['schedules'] as unknown) : value
  const all: readonly unknown[] = Array.isArray(found) ? found : [found]
  if (all.length === 0 || !all.every(isObject)) return { ok: false, message: `must hold ${ALLOWED}` }
  return { ok: true, schedules: all.map(withDurations) }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `timeout_seconds: 5m` is 300; what is no duration stays, and whoever reads the schedule says so. */
export function withDurations(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(name, value)]))
}

function plain(name: string, value: unknown): unknown {
  if (isObject(value) && (name === 'retry_policy' || name === 'failure_options')) return withDurations(value)
  const unit = name.endsWith('_seconds') ? 'seconds' : /(?:_ms|[a-z]Ms)$/.test(name) ? 'ms' : null
  if (unit === null || typeof value !== 'string') return value
  return parseDuration(value, unit) ?? value
}
