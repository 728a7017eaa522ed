import { cancelAll, type Cancellation } from '../run/cancellation.ts'
import { type Instant } from '../instant.ts'
import { because } from '../reasons.ts'
import { isActive, isWaitingWork } from '../run/run.ts'
import { inSessionOrder, type SessionRun } from './session.ts'

export type SessionCommand = 'stop' | 'stopall'

const COMMAND = /^\/(stop|stopall)(?:@[\w-]+)?$/i

/** The command a message is, if its trimmed text is exactly one. Checked before anything else looks at the message. */
export function parseSessionCommand(text: string): SessionCommand | null {
  const name = COMMAND.exec(text.trim())?.[1]?.toLowerCase()
  return name === 'stop' || name === 'stopall' ? name : null
}

export interface StopPlan {
  /** Active runs that are cancelled. Their number is `stopped` in the answer. */
  readonly stopped: readonly Cancellation[]
  /** Waiting and debouncing runs that end without ever having run. Their number is `drained`. */
  readonly drained: readonly Cancellation[]
  /** Whatever is stamped strictly before it and surfaces later is stale. */
  readonly cutoff: Instant | null
}

interface Stop {
  readonly now: Instant
  readonly stopGraceMs: number
  /** The channel's own time of the command, if it has one with milliseconds. */
  readonly sentAt?: Instant | null
}

/** /stop: the oldest active run that is not stopping already is cancelled; the rest goes on. */
export function planStop(runs: readonly SessionRun[], stop: Stop): StopPlan {
  const oldest = runs.filter((run) => isActive(run) && run.state !== 'stopping').toSorted(inSessionOrder)[0]
  const stopped = oldest === undefined ? [] : cancelAll([oldest], { ...stop, why: because('stopped', '/stop') })
  return { stopped, drained: [], cutoff: null }
}

/** /stopall: everything active is cancelled, everything waiting is drained, and what was sent before it is stale. */
export function planStopAll(runs: readonly SessionRun[], stop: Stop): StopPlan {
  const cancel = { ...stop, why: because('stopped_all', '/stopall') }
  const ordered = runs.toSorted(inSessionOrder)
  return {
    stopped: cancelAll(ordered.filter(isActive), cancel),
    drained: cancelAll(ordered.filter(isWaitingWork), cancel),
    // Sent and received are told by the same clock, so a message sent after the command runs, however long both took.
    cutoff: stop.sentAt ?? stop.now,
  }
}

export interface ResetPlan {
  readonly generation: number
  readonly cancelled: readonly Cancellation[]
  readonly cleared: readonly Cancellation[]
}

/** A reset begins a new generation: what waited is cleared, what is active is cancelled, late reports are ignored. */
export function planReset(
  session: { readonly generation: number; readonly runs: readonly SessionRun[] },
  stop: Stop,
): ResetPlan {
  const cancel = { ...stop, why: because('lane_cleared', 'session.reset') }
  const ordered = session.runs.toSorted(inSessionOrder)
  return {
    generation: session.generation + 1,
    cancelled: cancelAll(ordered.filter(isActive), cancel),
    cleared: cancelAll(ordered.filter(isWaitingWork), cancel),
  }
}
