import type { Parsed } from '../domain/input.ts'
import { formatInstant, instant, type Instant } from '../domain/instant.ts'
import { parseTiming } from '../core/time/parse-timing.ts'
import { storeTiming } from '../core/time/stored-timing.ts'
import type { Timing } from '../domain/time/timing.ts'
import {
  findField,
  isGiven,
  LIMIT_NAMES,
  PLAN_NAMES,
  PLANS,
  TIMING_FIELDS,
  ZONE_NAMES,
} from '../domain/time/timing-fields.ts'
import type { Zone } from '../core/time/zone.ts'
import type { Given } from '../domain/input-fields.ts'

const MOMENTS = ['at', 'run_at', 'anchor', 'starts_at', 'ends_at']

/** What is known of a schedule whose timing changes. */
export interface TimedSchedule {
  readonly input: Given
  readonly timing: Timing
}

export interface ReadTiming {
  readonly timing: Timing
  /** The fields as they were given, without synonyms. */
  readonly input: Given
  /** Whether occurrences are other ones than before. */
  readonly changed: boolean
}

/** Reads when a new schedule fires. */
export function parseNewTiming(
  given: Given,
  context: { readonly now: Instant; readonly defaultZone: Zone },
): Parsed<ReadTiming> {
  const fields = timingFields(given)
  const read = parseTiming(fields, context)
  return read.ok ? { ok: true, value: { timing: read.value, input: kept(fields, read.value), changed: true } } : read
}

/** Earlier than everything: no moment that is read against it is in the past. */
const BEFORE_EVERYTHING = instant(-8.64e15)

/**
 * Reads a change of when a schedule fires. What is left out stays. A timing that comes out as it was is no change, and
 * is not judged again: an `at` that has passed may keep its moment.
 */
export function parseTimingChange(
  given: Given,
  existing: TimedSchedule,
  { now, defaultZone: usual }: { readonly now: Instant; readonly defaultZone: Zone },
): Parsed<ReadTiming> {
  const change = timingFields(given)
  const unchanged: ReadTiming = { timing: existing.timing, input: timingFields(existing.input), changed: false }
  if (Object.keys(change).length === 0) return { ok: true, value: unchanged }
  const merged = mergeTiming(change, existing)
  // The zone was settled at creation, and the org's default may have changed since: only null asks for it.
  const isReset = ZONE_NAMES.some((name) => change[name] === null) && !ZONE_NAMES.some((name) => isGiven(change[name]))
  const defaultZone = isReset ? usual : existing.timing.zone
  const timeless = parseTiming(merged.fields, { now: BEFORE_EVERYTHING, defaultZone })
  if (timeless.ok && sameTiming(timeless.value, existing.timing)) return { ok: true, value: unchanged }
  const read = parseTiming(merged.fields, { now, defaultZone })
  if (!read.ok) return read
  const input = kept(merged.givenAnchor ? merged.fields : { ...merged.fields, anchor: null }, read.value)
  return { ok: true, value: { timing: read.value, input, changed: !sameTiming(read.value, existing.timing) } }
}

const sameTiming = (a: Timing, b: Timing): boolean => textOf(storeTiming(a)) === textOf(storeTiming(b))

interface Merged {
  readonly fields: Given
  readonly givenAnchor: boolean
}

function mergeTiming(change: Given, existing: TimedSchedule): Merged {
  const before = timingFields(existing.input)
  const base: Record<string, unknown> = { ...before }
  const plan = findField(change, PLAN_NAMES)
  const staysOfKind = plan === null || PLANS[existing.timing.kind].includes(plan.name)
  if (plan !== null) for (const name of PLAN_NAMES) Reflect.deleteProperty(base, name)
  if (!staysOfKind) Reflect.deleteProperty(base, 'anchor')
  if (ZONE_NAMES.some((name) => Object.hasOwn(change, name))) Reflect.deleteProperty(base, 'timezone')
  const fields: Record<string, unknown> = { ...base, ...change }
  const givenAnchor = isGiven(fields['anchor'])
  // An interval or a rule that nobody has rewritten keeps its beat when something around it changes.
  const samePlan = plan === null || textOf(before[plan.name] ?? null) === textOf(plan.value)
  if (!givenAnchor && samePlan) fields['anchor'] = startOf(existing.timing)
  return { fields, givenAnchor }
}

function startOf(timing: Timing): string | null {
  if (timing.kind === 'every') return formatInstant(timing.anchor)
  return timing.kind === 'rrule' ? formatInstant(timing.rule.start) : null
}

const textOf = (value: unknown): string => JSON.stringify(value)

/** Only what says when; moments that a program gives as a number become the text that everybody reads. */
function timingFields(given: Given): Given {
  const fields: Record<string, unknown> = {}
  for (const name of TIMING_FIELDS) {
    if (!Object.hasOwn(given, name) || given[name] === undefined) continue
    const value = given[name]
    fields[name] = MOMENTS.includes(name) && typeof value === 'number' ? formatInstant(instant(value)) : value
  }
  return fields
}

/** The fields to keep of a timing that was read: no synonyms, nothing that was only filled in. */
function kept(fields: Given, timing: Timing): Given {
  const zone = ZONE_NAMES.map((name) => fields[name]).find(isGiven)
  const found: Record<string, unknown> = { ...planField(fields, timing) }
  if (isGiven(zone)) found['timezone'] = timing.zone.name
  if (isGiven(fields['anchor'])) found['anchor'] = fields['anchor']
  for (const name of LIMIT_NAMES) if (isGiven(fields[name])) found[name] = fields[name]
  return found
}

function planField(fields: Given, timing: Timing): Given {
  switch (timing.kind) {
    case 'at':
      return { at: formatInstant(timing.at) }
    case 'every':
      return everyField(timing.intervalMs)
    case 'cron':
      return { cron: PLANS.cron.map((name) => fields[name]).find(isGiven) }
    case 'rrule':
      return { rrule: fields['rrule'] }
  }
}

/** An interval as it is written: in seconds, or in milliseconds when it is not whole. */
export const everyField = (intervalMs: number): Given =>
  intervalMs % 1000 === 0 ? { every_seconds: intervalMs / 1000 } : { everyMs: intervalMs }
