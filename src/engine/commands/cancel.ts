import type { RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import { type CancelDecision, type Cancellation, decideCancel } from '../../domain/run/cancellation.ts'
import { planReset, planStop, planStopAll } from '../../domain/session/stop.ts'
import { clearingName, clearingOf, isCoveredBy, type Clearing, type ClearingSubject } from './cancel-waiting-store.ts'
import { applyEvent } from './runs.ts'
import { behindIn, type OrgState, pendingInSession } from '../org-state/org-state.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { SessionRow } from '../../features/sessions/store.ts'

/**
 * Cancels waiting runs by the thousand. One transaction cancels a bounded number; for the rest it records a clearing,
 * and from then on none of them starts. Later transactions cancel them in pieces.
 */

/** Cancels a waiting run, with an empty outbound event that clears indicators in its chat. */
function cancelOne(state: OrgState, run: RunRow, { why, superseded }: Pick<Clearing, 'why' | 'superseded'>): void {
  if (superseded) {
    run.superseded = true
    run.slot = null
  }
  if (applyEvent(state, run, { event: 'cancel', why }))
    state.changes.events.push({ kind: 'outbound', subject: run.id, data: { empty: true, session: run.sessionKey } })
}

/**
 * Cancels waiting runs of a session or schedule: all at once, or the maximum of one transaction now and the rest soon.
 */
export function cancelWaiting(
  state: OrgState,
  runs: readonly RunRow[],
  cancel: ClearingSubject & { readonly why: Why; readonly superseded?: boolean },
): void {
  const { subject, key, why, superseded = false } = cancel
  const session = subject === 'session' ? state.sessions.get(key as SessionKey) : undefined
  const isInBacklog = session !== undefined && session.behind > 0
  const isAtOnce = runs.length <= state.maxChanges
  // Runs created at this very time cannot be told from those created next, so they are cancelled at once.
  for (const run of runs) if (isAtOnce || run.createdAt >= state.now) cancelOne(state, run, { why, superseded })
  if (isAtOnce && !isInBacklog) return
  // Until the clearing is done, new runs of the session do not wait behind those in the backlog.
  if (isInBacklog) state.changes.sessions.add(session)
  const clearing: Clearing = { subject, key, before: state.now, superseded, why }
  state.clearings.set(clearingName(clearing), clearing)
  state.changes.clearings.add(clearing)
}

/** Cancels a run that a clearing covers instead of starting it. */
export function cancelCleared(state: OrgState, run: RunRow, clearing: Clearing): void {
  cancelOne(state, run, clearing)
}

/** Cancels at most `max` runs of the clearings and returns them; a clearing without any left is deleted. */
export function cancelSomeCleared(state: OrgState, max: number): readonly RunRow[] {
  const cancelled: RunRow[] = []
  for (const clearing of [...state.clearings.values()]) {
    for (const run of runsOfClearing(state, clearing)) {
      if (cancelled.length >= max) return cancelled
      if (!isCoveredBy(clearing, run)) continue
      cancelOne(state, run, clearing)
      cancelled.push(run)
    }
    if (clearing.subject === 'session' && (state.sessions.get(clearing.key as SessionKey)?.behind ?? 0) > 0) continue
    state.clearings.delete(clearingName(clearing))
    state.changes.clearings.delete(clearing)
    state.changes.cleared.push(clearing)
  }
  return cancelled
}

function runsOfClearing({ bySession, bySchedule }: OrgState, { subject, key }: Clearing): Iterable<RunRow> {
  const runs: ReadonlyMap<string, ReadonlySet<RunRow>> = subject === 'session' ? bySession : bySchedule
  return runs.get(key) ?? []
}

/** Cancels runs or asks them to stop, each with one empty outbound event that clears indicators in its chat. */
export function applyCancellations(state: OrgState, cancellations: readonly Cancellation[]): void {
  for (const { runId, graceUntil, why } of cancellations) {
    const run = state.runs.get(runId)
    if (run === undefined) throw new Error(`run ${runId} is not loaded`)
    run.graceUntil = graceUntil
    if (applyEvent(state, run, { event: 'cancel', why }))
      state.changes.events.push({ kind: 'outbound', subject: runId, data: { empty: true, session: run.sessionKey } })
  }
}

/** Cancels one run. Undefined when the run is not pending. */
export function cancelRun(state: OrgState, id: RunId, why: Why): CancelDecision | undefined {
  const run = state.runs.get(id)
  if (run === undefined) return undefined
  const decision = decideCancel(run, { now: state.now, stopGraceMs: state.settings.node.stopGraceMs, why })
  if (decision.kind === 'cancel') applyCancellations(state, [decision.cancellation])
  return decision
}

/** The result of /stop, /stopall and reset. */
export interface StopResult {
  readonly stopped: number
  readonly drained: number
}

/** Applies /stop, /stopall or reset to a loaded session. `sentAt` is the channel's own time of the message. */
export function stopSession(
  state: OrgState,
  key: SessionKey,
  request: { readonly how: 'stop' | 'stopall' | 'reset'; readonly sentAt?: Instant | null },
): StopResult {
  const { how, sentAt = null } = request
  const session = state.sessions.get(key)
  if (session === undefined) return { stopped: 0, drained: 0 }
  const runs = pendingInSession(state, session)
  const clock = { now: state.now, stopGraceMs: state.settings.node.stopGraceMs, sentAt }
  if (how === 'reset') return resetSession(state, session, runs)
  const plan = how === 'stop' ? planStop(runs, clock) : planStopAll(runs, clock)
  applyCancellations(state, plan.stopped)
  const behind = how === 'stop' ? 0 : behindIn(state, session)
  if (how === 'stopall') cancelInSession(state, session, { cancellations: plan.drained, why: plan.why })
  if (plan.cutoff !== null) {
    session.cutoff = plan.cutoff
    state.changes.sessions.add(session)
  }
  return { stopped: plan.stopped.length, drained: plan.drained.length + behind }
}

/** Cancels waiting runs of a session, in memory and in the backlog, all for the same reason. */
export function cancelInSession(
  state: OrgState,
  { key }: Pick<SessionRow, 'key'>,
  { cancellations, why }: { readonly cancellations: readonly Cancellation[]; readonly why: Why },
): void {
  const runs = cancellations.flatMap(({ runId }) => state.runs.get(runId) ?? [])
  cancelWaiting(state, runs, { subject: 'session', key, why })
}

function resetSession(state: OrgState, session: SessionRow, runs: readonly RunRow[]): StopResult {
  const clock = { now: state.now, stopGraceMs: state.settings.node.stopGraceMs }
  const plan = planReset({ generation: session.generation, runs }, clock)
  const behind = behindIn(state, session)
  cancelInSession(state, session, { cancellations: plan.cleared, why: plan.why })
  applyCancellations(state, plan.cancelled)
  session.generation = plan.generation
  // A conversation that starts over has used nothing of its context window.
  session.context = null
  state.changes.sessions.add(session)
  for (const run of runs) {
    if (clearingOf(state.clearings, run) !== undefined) continue
    run.inGeneration = false
    state.changes.changed.add(run)
  }
  return { stopped: plan.cancelled.length, drained: plan.cleared.length + behind }
}
