import type { ResultInput } from '../../features/runs/schema.ts'
import type { WorkerAnswer } from '../../features/workers/schema.ts'
import { Refusal } from '../../api/refusals.ts'
import { attemptId } from '../../domain/ids.ts'
import { later } from '../../domain/instant.ts'
import { hideAttemptKeys } from '../../core/rails/attempt-key.ts'
import { outcomeOfResult } from '../../domain/run/outcome.ts'
import { standingOfHolder } from '../../domain/run/reports.ts'
import { readClock } from '../../platform/db/clock.ts'
import { loadHeldRun, loadWorkerAttempt, type HeldRun, type WorkerAttemptRow } from '../../store/worker-attempts.ts'
import { renewWorkers } from '../../store/workers.ts'
import type { Caller } from '../caller.ts'
import { probeOf } from '../../engine/commands/probes.ts'
import type { Ports } from '../ports.ts'
import { alsoRecording, gate, isApplied, type GatedAttempt } from '../probe/gate.ts'
import { readResult, type ReadResult } from '../../features/runs/result-input.ts'
import { momentOrNull } from '../schedule-view.ts'
import { cutOutput, cutText } from '../stored-output.ts'
import { beginAssigned } from '../turn/assign.ts'
import { reportWork } from '../turn/works.ts'
import type { Work } from '../turn-port.ts'
import { workerLost } from '../../features/workers/service.ts'
import type { WorkerPort } from '../../features/workers/port.ts'

type Reading = Pick<Ports, 'database'>

/** The attempt that somebody of the org speaks about. */
async function attemptAsked({ database }: Reading, { orgId }: Caller, id: string): Promise<WorkerAttemptRow> {
  const found = await loadWorkerAttempt(database, { orgId, id: attemptId(id) })
  if (found === undefined) throw new Refusal('NOT_FOUND', `No worker was given an attempt ${id}`)
  return found
}

/** How the run of an attempt stands on record. */
async function runOf({ database }: Reading, { orgId, runId }: WorkerAttemptRow): Promise<HeldRun> {
  const run = await loadHeldRun(database, { orgId, id: runId })
  if (run === undefined) throw new Refusal('NOT_FOUND', `Run ${runId} is not kept any more`)
  return run
}

const answerAbout = (run: HeldRun, attempt: WorkerAttemptRow): WorkerAnswer => {
  const { isCurrent, cancel, reason } = standingOfHolder(run, attempt.id)
  return {
    ...{ status: run.state, ignored: !isCurrent, cancel, reason },
    ends_by: isCurrent && run.state !== 'assigned' ? momentOrNull(run.endsBy) : null,
  }
}

/** The worker has begun. What is asked before its agent is woken is asked here: on a no there is nothing left to do. */
export async function startAttempt(ports: Ports, caller: Caller, id: string): Promise<WorkerAnswer> {
  const attempt = await attemptAsked(ports, caller, id)
  const gated = await ports.turns.take<GatedAttempt | null>({
    orgId: caller.orgId,
    apply: (desk) => {
      const run = desk.runs.get(attempt.runId)
      if (run?.attemptId !== attempt.id || run.state !== 'assigned') return null
      beginAssigned(desk, run)
      const probe = probeOf(desk, run)
      if (probe === null) return null
      const { orgId, id: runId, scheduleId, sessionKey: session } = run
      return { ...probe, orgId, runId, attemptId: attempt.id, scheduleId, session }
    },
  })
  if (gated !== null) await endUnlessWoken(ports, gated)
  return answerAbout(await runOf(ports, attempt), attempt)
}

/** Asks first, and ends the attempt of a worker that nobody has to perform. */
async function endUnlessWoken(ports: Ports, attempt: GatedAttempt): Promise<void> {
  const ended = await gate(ports, attempt, new AbortController().signal)
  if (ended === null) return
  const { orgId, runId, attemptId: id } = attempt
  const { outcome, errorMessage, probe } = ended
  const work = reportWork(orgId, runId, { attemptId: id, outcome, errorMessage })
  await ports.turns.take(alsoRecording(work, { runId, probe }, isApplied))
}

/** The worker is there and wants to know whether to go on. */
export async function renewAttempt(ports: Ports, caller: Caller, id: string): Promise<WorkerAnswer> {
  const attempt = await attemptAsked(ports, caller, id)
  const { database } = ports
  const { leaseMs } = ports.settings().node
  const leaseUntil = later(await readClock(database), leaseMs)
  const held = await renewWorkers(database, { ids: [attempt.workerId], leaseUntil })
  const answer = answerAbout(await runOf(ports, attempt), attempt)
  // What is not its own any more it hears first: there is nothing to begin anew for.
  if (held.length === 0 && !answer.ignored) throw workerLost(attempt.workerId)
  return answer
}

/** What an attempt says on its way. What is said about an attempt that is over is dropped. */
export async function tellEvents(
  { ports, workers }: { readonly ports: Ports; readonly workers: Pick<WorkerPort, 'say'> },
  caller: Caller,
  told: { readonly id: string; readonly events: readonly unknown[] },
): Promise<WorkerAnswer> {
  const attempt = await attemptAsked(ports, caller, told.id)
  const answer = answerAbout(await runOf(ports, attempt), attempt)
  const { orgId, runId } = attempt
  if (!answer.ignored)
    for (const event of hideAttemptKeys(told.events)) workers.say({ orgId, runId, attemptId: attempt.id, event })
  return answer
}

/** How the attempt ended, in the one shape for answers, callbacks and workers. */
export async function completeAttempt(
  ports: Ports,
  caller: Caller,
  { id, result: input }: { readonly id: string; readonly result: ResultInput },
): Promise<WorkerAnswer> {
  const result = hideAttemptKeys(readResult(input))
  const attempt = await attemptAsked(ports, caller, id)
  const applied = await ports.turns.take(completeWork(attempt, result, ports.settings().retention.outputBytes))
  const { state } = await runOf(ports, attempt)
  if (applied) return { status: state, ignored: false, cancel: false, reason: null, ends_by: null }
  return { status: state, ignored: true, cancel: true, reason: 'stale_report', ends_by: null }
}

/** Answers with whether it counted. */
function completeWork(attempt: WorkerAttemptRow, result: ReadResult, outputBytes: number): Work<boolean> {
  const { orgId, runId } = attempt
  const { usage } = result
  const inner = reportWork(orgId, runId, {
    attemptId: attempt.id,
    outcome: outcomeOfResult(result),
    output: cutOutput(result.output, outputBytes),
    uncut: result.output,
    summary: cutOutput(result.summary, outputBytes),
    reported: result.reported,
    errorMessage: result.errorMessage === null ? undefined : cutText(result.errorMessage, outputBytes),
    usage,
    nextCheck: result.nextCheck,
  })
  return {
    orgId,
    apply: (desk, prepared) => {
      const run = desk.runs.get(runId)
      if (run?.attemptId !== attempt.id || isAboutAnother(result, run.jobRunId, attempt.id)) return false
      // Whoever is so quick that it never said it had begun has begun.
      if (run.state === 'assigned') beginAssigned(desk, run)
      const decision = inner.apply(desk, prepared)
      return decision !== null && decision.kind !== 'stale_report'
    },
  }
}

/** A result that names a run or an attempt speaks for that one alone. */
const isAboutAnother = (result: ReadResult, jobRunId: string, attempt: string): boolean =>
  (result.jobRunId !== null && result.jobRunId !== jobRunId) ||
  (result.attemptId !== null && result.attemptId !== attempt)
