import { periodBounds } from '../budget/budget-period.ts'
import { heartbeatInterval } from '../heartbeat/heartbeat.ts'
import type { HeartbeatConfig } from '../heartbeat/heartbeat-config.ts'
import { DAY_MS, HOUR_MS, instant, type Instant, later, SECOND_MS } from '../instant.ts'
import type { ScheduleRules } from '../schedule/rules.ts'
import { formatDay } from '../time/calendar.ts'
import { isInside } from '../time/daily-window.ts'
import { countOccurrences, type Timing } from '../time/timing.ts'
import { localDayOf } from '../time/wall-clock.ts'
import type { Zone } from '../../core/time/zone.ts'

/** How many runs a source makes in each of the days. */
export type RunsPerDay = readonly number[]

/** A schedule as far as its plan goes. */
export interface PlannedSchedule {
  readonly timing: Timing
  readonly maxFires: number | null
  readonly fires: number
  /** What was decided up to here makes no runs any more. */
  readonly watermark: Instant
}

/**
 * The occurrences of a schedule, by the evaluator that fires it, counted and not walked through. Each is taken for one
 * run: what policies skip is not foreseen.
 */
export function scheduledRuns({ timing, ...plan }: PlannedSchedule, days: readonly ForecastDay[]): RunsPerDay {
  let left = plan.maxFires === null ? Infinity : Math.max(0, plan.maxFires - plan.fires)
  return days.map(({ from, to }) => {
    if (left === 0) return 0
    const after = instant(Math.max(from, plan.watermark) - 1)
    const count = to <= plan.watermark ? 0 : countOccurrences(timing, { after, upTo: instant(to - 1) })
    const made = Math.min(left, count)
    left -= made
    return made
  })
}

/** How many runs of a schedule its policies let wait at once while none of them can start. */
export function maxWaiting(rules: ScheduleRules): number {
  const { overlapAction, maxParallel, concurrencyPolicy, maxConcurrency, queueDepth } = rules
  if (overlapAction === 'PARALLEL') return maxParallel ?? Infinity
  if (overlapAction === 'SKIP' || overlapAction === 'CANCEL_PREV') return 1
  if (concurrencyPolicy === 'PARALLEL') return Infinity
  if (overlapAction === 'BUFFER_ONE') return maxConcurrency + 1
  return maxConcurrency + (concurrencyPolicy === 'QUEUE' ? queueDepth : 0)
}

/** A window is looked at this often to see how much of it is inside active hours. */
const LOOK_MS = HOUR_MS / 4

/** The heartbeats of an agent that is never busy, at the pace they have now; with active hours, at most those inside. */
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
    for (let at = from; at < to; at = later(at, LOOK_MS)) if (isInside(hours, at)) active += Math.min(LOOK_MS, to - at)
    // The opening of the window counts too, however long the interval is.
    return active === 0 ? 0 : Math.max((to - from) / DAY_MS, active / intervalMs)
  })
}

/** What comes without a plan, as often as it came so far. */
export const observedRuns = (perDay: number, days: readonly ForecastDay[]): RunsPerDay =>
  days.map(({ from, to }) => (perDay * (to - from)) / DAY_MS)

/** A day of a forecast: from its first moment (exclusive in what is counted) to the last (inclusive). */
export interface ForecastDay {
  readonly date: string
  readonly from: Instant
  readonly to: Instant
}

/** The days of a window as the zone's calendar has them; the first and the last may be parts of a day. */
export function daysBetween(
  zone: Zone,
  window: { readonly from: Instant; readonly to: Instant },
): readonly ForecastDay[] {
  const days: ForecastDay[] = []
  let from = window.from
  while (from < window.to) {
    const { end } = periodBounds('day', zone, from)
    const to = end < window.to ? end : window.to
    days.push({ date: formatDay(localDayOf(zone, from)), from, to })
    from = to
  }
  return days
}

/** The same days, cut also where a day begins in one of the other zones. */
export function stretchesBetween(
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
    return [from, ...inside].map((start, place) => ({ date, from: start, to: inside[place] ?? to }))
  })
}
