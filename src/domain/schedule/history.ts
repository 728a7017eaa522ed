import type { RunId } from '../ids.ts'
import type { Instant } from '../instant.ts'
import { isPending, type RunState } from '../run/run-machine.ts'

/** The endings that say how a run of a schedule went. Skipped, superseded and never-started runs say nothing. */
export type SpeakingEnding = 'success' | 'failed' | 'timeout' | 'cancelled'

/** What has become of a schedule's runs so far: everything the policies look at. */
export interface ScheduleHistory {
  /** The run decided last, whatever its trigger, that is neither skipped, superseded nor held. */
  readonly previous: { readonly id: RunId; readonly state: RunState } | null
  /** Every pending run that is neither superseded nor held, oldest first. */
  readonly pending: readonly PendingRun[]
  /** The newest by end time of those that ended `success`, `failed`, `timeout` or `cancelled` and are not superseded. */
  readonly lastEnding: LastEnding | null
  /** Runs that failed in a row, up to `lastEnding`. */
  readonly failureStreak: number
  /** The failed run for which failure action SKIP has already skipped its one occurrence. */
  readonly skippedFor: RunId | null
  /** Occurrences that became runs. */
  readonly fires: number
}

export interface PendingRun {
  readonly id: RunId
  /** `parked` runs wait for a slot of the schedule. */
  readonly slot: 'held' | 'parked'
  /** The time it is for, or when it was created if a person asked for it. Left out: before every held occurrence. */
  readonly nominal?: Instant
  /** It makes up for a missed time and does not count against `queue_depth`. */
  readonly madeUp?: boolean
}

export interface LastEnding {
  readonly id: RunId
  readonly status: SpeakingEnding
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

/** The previous run, if there still is anything to decide about it. */
export const pendingPrevious = (history: ScheduleHistory): ScheduleHistory['previous'] =>
  history.previous !== null && isPending(history.previous.state) ? history.previous : null

/** Failed, timed out or cancelled: all three count as failures of the schedule. */
export const isFailure = (status: SpeakingEnding): boolean => status !== 'success'

/** The streak after a run of the schedule has ended. Superseded runs and those that never ran leave it as it is. */
export function nextFailureStreak(
  streak: number,
  ending: { readonly state: RunState; readonly superseded: boolean },
): number {
  if (ending.superseded) return streak
  if (ending.state === 'success') return 0
  return ending.state === 'failed' || ending.state === 'timeout' || ending.state === 'cancelled' ? streak + 1 : streak
}
