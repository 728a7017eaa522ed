import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { cancelAll, type Cancellation } from '../run/cancellation.ts'
import { isActive, isWaitingRun } from '../run/run.ts'
import { inSessionOrder, type SessionRun } from './session.ts'

/** The meaning of a termination signal; null: already handled. */
type StopRequest = 'drain' | 'now' | null

/** A group kill delivers the signal to the server twice: directly and through its parent process. */
const SAME_REQUEST_MS = 1_000

/**
 * The first signal drains, the second ends at once. The same signal within 1 s counts as one. Times are milliseconds
 * of a monotonic clock.
 */
export function createStopRequests(): (signal: string, atMs: number) => StopRequest {
  let first: { readonly signal: string; readonly atMs: number } | null = null
  let isEnding = false
  return (signal, atMs) => {
    if (first === null) {
      first = { signal, atMs }
      return 'drain'
    }
    if (isEnding || (signal === first.signal && atMs - first.atMs < SAME_REQUEST_MS)) return null
    isEnding = true
    return 'now'
  }
}

export type SessionCommand = 'stop' | 'stopall'

const STOP_COMMAND = /^\/(stop|stopall)(?:@[\w-]+)?$/i

/** The command in a message whose trimmed text is exactly one. Checked before anything else reads the message. */
export function parseSessionCommand(text: string): SessionCommand | null {
  const name = STOP_COMMAND.exec(text.trim())?.[1]?.toLowerCase()
  return name === 'stop' || name === 'stopall' ? name : null
}

export interface StopPlan {
  /** Active runs that are cancelled; their number is `stopped` in the response. */
  readonly stopped: readonly Cancellation[]
  /** Waiting and debouncing runs that end without having run; their number is `drained`. */
  readonly drained: readonly Cancellation[]
  /** Why these are cancelled. */
  readonly why: Why
  /** Messages sent strictly before it that arrive later are stale. */
  readonly cutoff: Instant | null
}

interface StopContext {
  readonly now: Instant
  readonly stopGraceMs: number
  /** The channel's own time of the command, if it has milliseconds. */
  readonly sentAt?: Instant | null
}

/** /stop: cancels the oldest active run that is not stopping already; the rest continues. */
export function planStop(runs: readonly SessionRun[], stop: StopContext): StopPlan {
  const oldest = runs.filter((run) => isActive(run) && run.state !== 'stopping').toSorted(inSessionOrder)[0]
  const why = because('stopped', '/stop')
  const stopped = oldest === undefined ? [] : cancelAll([oldest], { ...stop, why })
  return { stopped, drained: [], why, cutoff: null }
}

/** /stopall: cancels all active runs, drains all waiting ones, and makes messages sent before it stale. */
export function planStopAll(runs: readonly SessionRun[], stop: StopContext): StopPlan {
  const cancel = { ...stop, why: because('stopped_all', '/stopall') }
  const ordered = runs.toSorted(inSessionOrder)
  return {
    stopped: cancelAll(ordered.filter(isActive), cancel),
    drained: cancelAll(ordered.filter(isWaitingRun), cancel),
    why: cancel.why,
    // Send times of both come from the same clock, so a message sent after the command runs, whatever the delays.
    cutoff: stop.sentAt ?? stop.now,
  }
}

export interface ResetPlan {
  readonly generation: number
  readonly cancelled: readonly Cancellation[]
  readonly cleared: readonly Cancellation[]
  /** Why all of them are cancelled. */
  readonly why: Why
}

/** A reset starts a new generation: waiting runs are cleared, active ones cancelled, late reports ignored. */
export function planReset(
  session: { readonly generation: number; readonly runs: readonly SessionRun[] },
  stop: StopContext,
): ResetPlan {
  const cancel = { ...stop, why: because('lane_cleared', 'session.reset') }
  const ordered = session.runs.toSorted(inSessionOrder)
  return {
    generation: session.generation + 1,
    cancelled: cancelAll(ordered.filter(isActive), cancel),
    cleared: cancelAll(ordered.filter(isWaitingRun), cancel),
    why: cancel.why,
  }
}
