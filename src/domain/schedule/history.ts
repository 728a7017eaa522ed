import type { RunId } from '../ids.ts'
import type { Instant } from '../instant.ts'
import { isPending, type RunState } from '../run/run-machine.ts'

/** The endings that count as a result of the schedule. Skipped, superseded and never-started runs do not. */
export type CountedEnding = 'success' | 'failed' | 'timeout' | 'cancelled'

/** The history of a schedule's runs: the input of all policies. */
export interface ScheduleHistory {
  /** The most recently decided run of any trigger that is not skipped, superseded or held. */
  readonly previous: { readonly id: RunId; readonly state: RunState } | null
  /** All pending runs that are neither superseded nor held, oldest first. */
  readonly pending: readonly PendingRun[]
  /** The most recent ending among `success`, `failed`, `timeout` and `cancelled`, ignoring superseded runs. */
  readonly lastEnding: LastEnding | null
  /** The number of consecutive failures up to `lastEnding`. */
  readonly failureStreak: number
  /** The failed run for which failure action SKIP has already skipped its one occurrence. */
  readonly skippedFor: RunId | null
  /** The number of occurrences that became runs. */
  readonly fires: number
}

export interface PendingRun {
  readonly id: RunId
  /** `parked` runs wait for a slot of the schedule. */
  readonly slot: 'held' | 'parked'
  /**
   * Its nominal time, or its creation time if it was requested manually. Omitted: sorts before every held occurrence.
   */
  readonly nominal?: Instant
  /** It catches up a missed occurrence and does not count against `queue_depth`. */
  readonly isCatchUp?: boolean
}

export interface LastEnding {
  readonly id: RunId
  readonly status: CountedEnding
  readonly attempt: number
  readonly endedAt: Instant
}

export const NO_HISTORY: ScheduleHistory = {
  previous: null,
  pending: [],
  lastEnding: null,
  failureStreak: 0,
  skippedFor: null,
  fires: 0,
}

export const slotsHeld = (history: ScheduleHistory): number =>
  history.pending.filter((run) => run.slot === 'held').length

export const slotsAwaited = (history: ScheduleHistory): number =>
  history.pending.filter((run) => run.slot === 'parked').length

/** The previous run, if it is still pending. */
export const pendingPrevious = (history: ScheduleHistory): ScheduleHistory['previous'] =>
  history.previous !== null && isPending(history.previous.state) ? history.previous : null

/** Failed, timed-out and cancelled runs all count as failures of the schedule. */
export const isFailure = (status: CountedEnding): boolean => status !== 'success'

/** The failure streak after a run has ended; superseded runs and runs that never started leave it unchanged. */
export function nextFailureStreak(
  streak: number,
  ending: { readonly state: RunState; readonly superseded: boolean },
): number {
  if (ending.superseded) return streak
  if (ending.state === 'success') return 0
  return ending.state === 'failed' || ending.state === 'timeout' || ending.state === 'cancelled' ? streak + 1 : streak
}
