import type { RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { decideCancel, type Cancellation, type CancelDecision } from '../../domain/run/cancellation.ts'
import { planReset, planStop, planStopAll } from '../../domain/session/stop.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { SessionRow } from '../../store/sessions.ts'
import { clearingOf } from './cleared.ts'
import { cancelWaiting } from './clearing.ts'
import { pendingInSession, type Desk } from './desk.ts'
import { move } from './runs.ts'

/** Ends runs, or asks for it. Each tells its chat once, with nothing, so that indicators are cleared. */
export function applyCancellations(desk: Desk, cancellations: readonly Cancellation[]): void {
  for (const { runId, graceUntil, why } of cancellations) {
    const run = desk.runs.get(runId)
    if (run === undefined) throw new Error(`run ${runId} is not on the desk`)
    run.graceUntil = graceUntil
    if (move(desk, run, { event: 'cancel', why }))
      desk.changes.events.push({ kind: 'outbound', subject: runId, data: { empty: true, session: run.sessionKey } })
  }
}

/** Somebody cancels one run. Undefined when there is no such run on the desk. */
export function cancelRun(desk: Desk, id: RunId, why: Why): CancelDecision | undefined {
  const run = desk.runs.get(id)
  if (run === undefined) return undefined
  const decision = decideCancel(run, { now: desk.now, stopGraceMs: desk.settings.node.stopGraceMs, why })
  if (decision.kind === 'cancel') applyCancellations(desk, [decision.cancellation])
  return decision
}

/** The answer to /stop, /stopall and reset. */
export interface Stopped {
  readonly stopped: number
  readonly drained: number
}

/** /stop, /stopall and reset of a session on the desk. `sentAt` is the channel's own time of the command. */
export function stopSession(
  desk: Desk,
  key: SessionKey,
  command: { readonly how: 'stop' | 'stopall' | 'reset'; readonly sentAt?: Instant | null },
): Stopped {
  const { how, sentAt = null } = command
  const session = desk.sessions.get(key)
  if (session === undefined) return { stopped: 0, drained: 0 }
  const runs = pendingInSession(desk, session)
  const clock = { now: desk.now, stopGraceMs: desk.settings.node.stopGraceMs, sentAt }
  if (how === 'reset') return reset(desk, session, runs)
  const plan = how === 'stop' ? planStop(runs, clock) : planStopAll(runs, clock)
  applyCancellations(desk, plan.stopped)
  cancelInSession(desk, session, plan.drained)
  if (plan.cutoff !== null) {
    session.cutoff = plan.cutoff
    desk.changes.sessions.add(session)
  }
  return { stopped: plan.stopped.length, drained: plan.drained.length }
}

/** Ends waiting runs of a session that are all cancelled for one reason. */
export function cancelInSession(
  desk: Desk,
  { key }: Pick<SessionRow, 'key'>,
  cancellations: readonly Cancellation[],
): void {
  const [first] = cancellations
  if (first === undefined) return
  const runs = cancellations.flatMap(({ runId }) => desk.runs.get(runId) ?? [])
  cancelWaiting(desk, runs, { subject: 'session', key, why: first.why })
}

function reset(desk: Desk, session: SessionRow, runs: readonly RunRow[]): Stopped {
  const clock = { now: desk.now, stopGraceMs: desk.settings.node.stopGraceMs }
  const plan = planReset({ generation: session.generation, runs }, clock)
  cancelInSession(desk, session, plan.cleared)
  applyCancellations(desk, plan.cancelled)
  session.generation = plan.generation
  // A conversation that begins anew has used nothing of its window.
  session.context = null
  desk.changes.sessions.add(session)
  for (const run of runs) {
    if (clearingOf(desk.clearings, run) !== undefined) continue
    run.inGeneration = false
    desk.changes.changed.add(run)
  }
  return { stopped: plan.cancelled.length, drained: plan.cleared.length }
}
