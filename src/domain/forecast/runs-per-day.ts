import { periodBounds } from '../budget/budget-period.ts'
import type { HeartbeatConfig } from '../heartbeat/heartbeat-config.ts'
import { heartbeatInterval } from '../heartbeat/heartbeat.ts'
import { DAY_MS, HOUR_MS, instant, type Instant, later, SECOND_MS } from '../instant.ts'
import type { ScheduleRules } from '../schedule/rules.ts'
import { formatDay } from '../time/calendar.ts'
import { isInsideWindow } from '../time/daily-window.ts'
import { countOccurrences, type Timing } from '../time/timing.ts'
import { localDayAt } from '../time/wall-clock.ts'
import type { Zone } from '../time/zone.ts'

/** The number of runs of a source on each day. */
export type RunsPerDay = readonly number[]

/** The fields of a schedule that determine its occurrences. */
export interface PlannedSchedule {
  readonly timing: Timing
  readonly maxFires: number | null
  readonly fires: number
  /** Occurrences up to here are already decided and create no more runs. */
  readonly watermark: Instant
}

/**
 * The number of occurrences of a schedule per day, counted by the same code that fires it. Each counts as one run,
 * because skips by policies are not predicted.
 */
export function scheduledRuns({ timing, ...plan }: PlannedSchedule, days: readonly ForecastDay[]): RunsPerDay {
  let left = plan.maxFires === null ? Infinity : Math.max(0, plan.maxFires - plan.fires)
  return days.map(({ from, to }) => {
    if (left === 0) return 0
    const after = instant(Math.max(from, plan.watermark) - 1)
    const count = to <= plan.watermark ? 0 : countOccurrences(timing, { after, upTo: instant(to - 1) })
    const created = Math.min(left, count)
    left -= created
    return created
  })
}

/** The maximum number of runs of a schedule that its policies allow to wait while none can start. */
export function maxWaiting(rules: ScheduleRules): number {
  const { overlapAction, maxParallel, concurrencyPolicy, maxConcurrency, queueDepth } = rules
  if (overlapAction === 'PARALLEL') return maxParallel ?? Infinity
  if (overlapAction === 'SKIP' || overlapAction === 'CANCEL_PREV') return 1
  if (concurrencyPolicy === 'PARALLEL') return Infinity
  if (overlapAction === 'BUFFER_ONE') return maxConcurrency + 1
  return maxConcurrency + (concurrencyPolicy === 'QUEUE' ? queueDepth : 0)
}

/** The sampling interval for the part of a window that is inside active hours. */
const SAMPLING_MS = HOUR_MS / 4

/** The heartbeats of an agent that is never busy, at their current interval, limited to active hours. */
export function heartbeatRuns(
  config: Pick<HeartbeatConfig, 'intervalSeconds' | 'adaptive' | 'activeHours'>,
  okStreak: number,
  days: readonly ForecastDay[],
): RunsPerDay {
  const intervalMs = heartbeatInterval(config, okStreak) * SECOND_MS
  const { activeHours: hours } = config
  return days.map(({ from, to }) => {
    if (hours === null) return (to - from) / intervalMs
    let active = 0
    for (let at = from; at < to; at = later(at, SAMPLING_MS))
      if (isInsideWindow(hours, at)) active += Math.min(SAMPLING_MS, to - at)
    // The start of active hours triggers a heartbeat too, so there is at least one per day.
    return active === 0 ? 0 : Math.max((to - from) / DAY_MS, active / intervalMs)
  })
}

/** Runs without a schedule, at their observed rate. */
export const observedRuns = (perDay: number, days: readonly ForecastDay[]): RunsPerDay =>
  days.map(({ from, to }) => (perDay * (to - from)) / DAY_MS)

/** A day of a forecast, from (inclusive) to (exclusive). */
export interface ForecastDay {
  readonly date: string
  readonly from: Instant
  readonly to: Instant
}

/** The days of a window in a time zone. The first and last day can be partial. */
export function daysBetween(
  zone: Zone,
  window: { readonly from: Instant; readonly to: Instant },
): readonly ForecastDay[] {
  const days: ForecastDay[] = []
  let from = window.from
  while (from < window.to) {
    const { end } = periodBounds('day', zone, from)
    const to = end < window.to ? end : window.to
    days.push({ date: formatDay(localDayAt(zone, from)), from, to })
    from = to
  }
  return days
}

/** The same days, also split where a day starts in one of the other zones. */
export function splitDaysBetween(
  zone: Zone,
  others: readonly Zone[],
  window: { readonly from: Instant; readonly to: Instant },
): readonly ForecastDay[] {
  const zones = new Map(others.map((other) => [other.name, other]))
  zones.delete(zone.name)
  const cuts = new Set([...zones.values()].flatMap((other) => daysBetween(other, window).map(({ to }) => to)))
  const sorted = [...cuts].toSorted((a, b) => a - b)
  return daysBetween(zone, window).flatMap(({ date, from, to }) => {
    const inside = sorted.filter((cut) => cut > from && cut < to)
    return [from, ...inside].map((start, index) => ({ date, from: start, to: inside[index] ?? to }))
  })
}

/** The expected usage of one run: the mean, and a high estimate (95th percentile). */
export interface ExpectedUsage {
  readonly expected: number
  readonly high: number
}

/** The sources of an estimate, best first. */
export const USAGE_SOURCES = ['schedule', 'agent', 'stated', 'default_reserve', 'unknown'] as const
export type UsageSource = (typeof USAGE_SOURCES)[number]

/** The percentile of the high estimate. */
const HIGH_PERCENT = 95

/** The mean and the 95th percentile of the usage of runs; null if there are none. */
export function expectedUsage(used: readonly number[]): ExpectedUsage | null {
  if (used.length === 0) return null
  const sorted = used.toSorted((a, b) => a - b)
  const sum = sorted.reduce((total, one) => total + one, 0)
  const rank = Math.ceil((sorted.length * HIGH_PERCENT) / 100)
  const expected = sum / sorted.length
  // A few very large runs can raise the mean above the 95th percentile; the high estimate is never below the mean.
  return { expected, high: Math.max(expected, sorted[rank - 1] ?? 0) }
}

/** The known usage of one unit by the runs of a source. */
interface KnownUsage {
  readonly ofSchedule: readonly number[]
  readonly ofAgent: readonly number[]
  /** The maximum usage that the payload states. */
  readonly stated: number | null
  /** The default reserve of a budget that covers the source. */
  readonly defaultReserve: number | null
}

/** The best available estimate and its source. A maximum stated in the payload is used as both estimates. */
export function estimateUsage(usage: KnownUsage): { readonly use: ExpectedUsage | null; readonly source: UsageSource } {
  const own = expectedUsage(usage.ofSchedule)
  if (own !== null) return { use: own, source: 'schedule' }
  const ofAgent = expectedUsage(usage.ofAgent)
  if (ofAgent !== null) return { use: ofAgent, source: 'agent' }
  if (usage.stated !== null) return { use: { expected: usage.stated, high: usage.stated }, source: 'stated' }
  const { defaultReserve } = usage
  if (defaultReserve !== null && defaultReserve > 0)
    return { use: { expected: defaultReserve, high: defaultReserve }, source: 'default_reserve' }
  return { use: null, source: 'unknown' }
}
