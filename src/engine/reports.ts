import type { OrgId } from '../domain/ids.ts'
import type { BackgroundWork } from '../features/runs/attempts-store.ts'
import { hashSecret } from '../features/access/key-text.ts'
import { cutOutput, cutText } from '../features/runs/view.ts'
import { withProbeRecord, isApplied } from '../features/probes/gate.ts'
import {
  deferCommand,
  deferToServiceCommand,
  offerTokenCommand,
  reportCommand,
  type AttemptOfRun,
} from './commands/engine-commands.ts'
import type { ReportedAttempt } from './executions.ts'
import type { NodeParts } from './node-parts.ts'
import type { OrgActor } from './org-actor.ts'

/** Records a report, however long that takes, because the attempt has been executed. */
export async function recordReport(
  parts: NodeParts,
  { orgId, runId, attemptId, report: attemptReport }: ReportedAttempt,
): Promise<void> {
  if (attemptReport.outcome.kind === 'accepted') {
    // The executor recorded the deferral, with its token, before; without a token it could never report.
    return
  }
  const printed = parts.progress.settle({ orgId, runId, attemptId })
  if (printed !== null) await printed
  const { outputBytes } = parts.ctx.settings().retention
  const usage =
    attemptReport.usage === undefined || Object.keys(attemptReport.usage).length === 0 ? null : attemptReport.usage
  try {
    const command = reportCommand(orgId, runId, {
      attemptId,
      outcome: attemptReport.outcome,
      output: cutOutput(attemptReport.output, outputBytes),
      fullOutput: attemptReport.output,
      summary: cutOutput(attemptReport.summary, outputBytes),
      reported: attemptReport.reported,
      errorMessage:
        attemptReport.errorMessage === undefined ? undefined : cutText(attemptReport.errorMessage, outputBytes),
      usage,
      nextCheck: attemptReport.nextCheck,
      quota: attemptReport.quota,
    })
    const { probe } = attemptReport
    const kept = probe === undefined ? command : withProbeRecord(command, { runId, probe }, isApplied)
    const decision = await parts.actorOf(orgId).execute(kept, true)
    if (decision === null || decision.kind === 'stale_report')
      parts.ctx.log({
        level: 'info',
        message: 'A late report was ignored',
        facts: { run: runId, attempt: attemptId },
      })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    parts.ctx.log({ level: 'error', message: 'A report could not be recorded', facts: { run: runId, error: message } })
  }
}

/**
 * Wakes the orgs that wait for slots. Several slots released in one tick cause one wake. An org that released all of
 * them itself is not woken: while no other org can take them, it would be woken forever.
 */
export function wakeWaiting(parts: NodeParts, leftBy: OrgId | null): void {
  const { freed } = parts.state
  freed.add(leftBy)
  if (parts.state.wakingWaiting) return
  parts.state.wakingWaiting = true
  const wake = (): void => {
    const [only] = freed.size === 1 ? freed : []
    freed.clear()
    parts.state.wakingWaiting = false
    for (const orgId of parts.lanes.waiting()) if (orgId !== only) parts.actors.get(orgId)?.wake()
  }
  // Where a test moves time by hand the wake is scheduled through it, so that the order is deterministic.
  if (parts.ctx.after === undefined) setImmediate(wake)
  else parts.ctx.after(0, wake)
}

/** Wakes every org that has a ready run for a lane with room, as a fallback for wakes that were missed. */
export function wakeReady(parts: NodeParts): void {
  const lanes = [...parts.capabilities.laneNames()]
  for (const orgId of parts.ready) {
    const actor = parts.actors.get(orgId)
    const readyQueue = actor?.loaded()?.readyQueue
    if (readyQueue === undefined) continue
    if (lanes.some((lane) => readyQueue.hasReady(lane) && parts.lanes.hasRoom(lane, orgId))) actor?.wake()
  }
}

/** Records whether the org has a ready run, after each of its transactions. */
export function updateReady(parts: NodeParts, { orgId, loaded: org }: Pick<OrgActor, 'orgId' | 'loaded'>): void {
  const readyQueue = org()?.readyQueue
  if (readyQueue !== undefined && [...parts.capabilities.laneNames()].some(readyQueue.hasReady)) parts.ready.add(orgId)
  else parts.ready.delete(orgId)
}

/** Records a token that may settle the attempt while it is current, and returns it. */
export async function offerToken(parts: NodeParts, about: AttemptOfRun): Promise<string> {
  const token = parts.ctx.newToken()
  await parts.actorOf(about.orgId).execute(offerTokenCommand(about, hashSecret(token)), true)
  return token
}

/** Records that the result comes later, and returns the token that settles it. */
export async function deferReport(parts: NodeParts, about: AttemptOfRun, offered?: string): Promise<string> {
  const token = offered ?? parts.ctx.newToken()
  const hash = offered === undefined ? hashSecret(token) : null
  const deferred = await parts.actorOf(about.orgId).execute(deferCommand(about, hash), true)
  if (!deferred) throw new Error('the attempt is no longer current and cannot be deferred')
  return token
}

/** Records that a service works in the background; from now on the result is fetched, on any node. */
export async function deferToService(parts: NodeParts, about: AttemptOfRun, work: BackgroundWork): Promise<void> {
  const tokenHash = hashSecret(parts.ctx.newToken())
  const deferred = await parts.actorOf(about.orgId).execute(deferToServiceCommand(about, tokenHash, work), true)
  if (!deferred) throw new Error('the attempt is no longer current and cannot be deferred')
  parts.background.wake()
}
