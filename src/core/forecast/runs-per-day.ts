import { heartbeatInterval } from '../heartbeat/heartbeat.ts'
import type { HeartbeatConfig } from '../heartbeat/heartbeat-config.ts'
import type { ScheduleRules } from '../schedule/schedule-rules.ts'
import { DAY_MS, HOUR_MS, instant, later, SECOND_MS, type Instant } from '../instant.ts'
import { isInside } from '../time/daily-window.ts'
import { countOccurrences, type Timing } from '../time/timing.ts'
import type { ForecastDay } from './days.ts'

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
