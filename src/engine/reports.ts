import type { OrgId } from '../domain/ids.ts'
import { hashSecret } from '../features/access/key-text.ts'
import { cutOutput, cutText } from '../service/stored-output.ts'
import { alsoRecording, isApplied } from '../service/probe/gate.ts'
import { deferWork, offerWork, reportWork, type AttemptOfRun } from '../service/turn/works.ts'
import type { ReportedAttempt } from './executions.ts'
import type { NodeParts } from './node-parts.ts'
import type { Office } from './office-context.ts'

/** What an executor said is written however long that takes: the work was done. */
export async function report(
  parts: NodeParts,
  { orgId, runId, attemptId, report: said }: ReportedAttempt,
): Promise<void> {
  if (said.outcome.kind === 'accepted') {
    // Whoever defers has said so before, with a token. Without one nobody could ever report.
    return
  }
  parts.progress.flush(orgId)
  const { outputBytes } = parts.ctx.settings().retention
  const usage = said.usage === undefined || Object.keys(said.usage).length === 0 ? null : said.usage
  try {
    const work = reportWork(orgId, runId, {
      attemptId,
      outcome: said.outcome,
      output: cutOutput(said.output, outputBytes),
      uncut: said.output,
      summary: cutOutput(said.summary, outputBytes),
      reported: said.reported,
      errorMessage: said.errorMessage === undefined ? undefined : cutText(said.errorMessage, outputBytes),
      usage,
      nextCheck: said.nextCheck,
    })
    const { probe } = said
    const kept = probe === undefined ? work : alsoRecording(work, { runId, probe }, isApplied)
    const decision = await parts.officeOf(orgId).take(kept, true)
    if (decision === null || decision.kind === 'stale_report')
      parts.ctx.log({
        level: 'info',
        message: 'A late report changed nothing',
        facts: { run: runId, attempt: attemptId },
      })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    parts.ctx.log({ level: 'error', message: 'A report could not be written', facts: { run: runId, error: message } })
  }
}

/**
 * Slots are free that orgs wait for. Many that come free in one breath are looked at once. An org that has left all of
 * them is not asked again: while another cannot come for them, it would be asked for ever.
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
    for (const orgId of parts.lanes.waiting()) if (orgId !== only) parts.offices.get(orgId)?.wake()
  }
  // Where time is moved by hand, this waits for it, too: otherwise the order of things would be left to chance.
  if (parts.ctx.after === undefined) setImmediate(wake)
  else parts.ctx.after(0, wake)
}

/** Wakes every org that has something ready for a lane with room: whatever was not woken in time is woken here. */
export function wakeReady(parts: NodeParts): void {
  const lanes = [...parts.facts.laneNames()]
  for (const orgId of parts.ready) {
    const office = parts.offices.get(orgId)
    const lineUp = office?.memory()?.lineUp
    if (lineUp === undefined) continue
    if (lanes.some((lane) => lineUp.hasReady(lane) && parts.lanes.hasRoom(lane, orgId))) office?.wake()
  }
}

/** Notes whether the org has something ready, after each of its turns. */
export function noteReady(parts: NodeParts, { orgId, memory }: Pick<Office, 'orgId' | 'memory'>): void {
  const lineUp = memory()?.lineUp
  if (lineUp !== undefined && [...parts.facts.laneNames()].some(lineUp.hasReady)) parts.ready.add(orgId)
  else parts.ready.delete(orgId)
}

/** Puts a token on record that may settle the attempt while it is the current one, and answers with it. */
export async function offer(parts: NodeParts, about: AttemptOfRun): Promise<string> {
  const token = parts.ctx.newToken()
  await parts.officeOf(about.orgId).take(offerWork(about, hashSecret(token)), true)
  return token
}

/** Puts on record that the result comes later, and answers with the token that settles it. */
export async function defer(parts: NodeParts, about: AttemptOfRun, offered?: string): Promise<string> {
  const token = offered ?? parts.ctx.newToken()
  const hash = offered === undefined ? hashSecret(token) : null
  const deferred = await parts.officeOf(about.orgId).take(deferWork(about, hash), true)
  if (!deferred) throw new Error('the attempt is not current any more and cannot be deferred')
  return token
}
