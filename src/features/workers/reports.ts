import type { ResultInput } from '../runs/schema.ts'
import type { WorkerAnswer } from './schema.ts'
import { Refusal } from '../../api/refusals.ts'
import { attemptId } from '../../domain/ids.ts'
import { later } from '../../domain/instant.ts'
import { hideAttemptKeys } from '../../domain/access/restrictions.ts'
import { outcomeOfResult } from '../../domain/run/outcome.ts'
import { holderStatus } from '../../domain/run/reports.ts'
import { readClock } from '../../platform/db/clock.ts'
import { type HeldRun, loadHeldRun, loadWorkerAttempt, renewWorkers, type WorkerAttemptRow } from './store.ts'
import type { Caller } from '../access/caller.ts'
import { probeOf } from '../../engine/commands/probes.ts'
import type { Ports } from '../../engine/ports.ts'
import { withProbeRecord, probeBeforeRun, isApplied, type ProbedAttempt } from '../probes/gate.ts'
import { readResult, type AttemptResult } from '../runs/result-input.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import { cutOutput, cutText } from '../runs/view.ts'
import { startAssigned } from '../../engine/commands/assign.ts'
import { reportCommand } from '../../engine/commands/engine-commands.ts'
import type { Command } from '../../engine/commands-port.ts'
import { type WorkerPort, workerLost } from './service.ts'

type ReportPorts = Pick<Ports, 'database'>

/** The attempt in a report, if it was handed to a worker of the org. */
async function loadReportedAttempt(
  { database }: ReportPorts,
  { orgId }: Caller,
  id: string,
): Promise<WorkerAttemptRow> {
  const found = await loadWorkerAttempt(database, { orgId, id: attemptId(id) })
  if (found === undefined) throw new Refusal('NOT_FOUND', `There is no worker attempt ${id}`)
  return found
}

/** The stored state of the run of an attempt. */
async function loadRunOfAttempt({ database }: ReportPorts, { orgId, runId }: WorkerAttemptRow): Promise<HeldRun> {
  const run = await loadHeldRun(database, { orgId, id: runId })
  if (run === undefined) throw new Refusal('NOT_FOUND', `Run ${runId} is no longer stored`)
  return run
}

const workerAnswerFor = (run: HeldRun, attempt: WorkerAttemptRow): WorkerAnswer => {
  const { isCurrent, cancel, reason } = holderStatus(run, attempt.id)
  return {
    ...{ status: run.state, ignored: !isCurrent, cancel, reason },
    ends_by: isCurrent && run.state !== 'assigned' ? formatInstantOrNull(run.endsBy) : null,
  }
}

/** Starts an attempt, and runs the probe of its schedule if it has one. If the probe answers no, the attempt ends. */
export async function startAttempt(ports: Ports, caller: Caller, id: string): Promise<WorkerAnswer> {
  const attempt = await loadReportedAttempt(ports, caller, id)
  const gated = await ports.commands.execute<ProbedAttempt | null>({
    orgId: caller.orgId,
    apply: (orgState) => {
      const run = orgState.runs.get(attempt.runId)
      if (run?.attemptId !== attempt.id || run.state !== 'assigned') return null
      startAssigned(orgState, run)
      const probe = probeOf(orgState, run)
      if (probe === null) return null
      const { orgId, id: runId, scheduleId, sessionKey: session } = run
      return { ...probe, orgId, runId, attemptId: attempt.id, scheduleId, session }
    },
  })
  if (gated !== null) await endUnlessTriggered(ports, gated)
  return workerAnswerFor(await loadRunOfAttempt(ports, attempt), attempt)
}

/** Runs the probe, and ends the attempt unless its agent should be triggered. */
async function endUnlessTriggered(ports: Ports, attempt: ProbedAttempt): Promise<void> {
  const ended = await probeBeforeRun(ports, attempt, new AbortController().signal)
  if (ended === null) return
  const { orgId, runId, attemptId: id } = attempt
  const { outcome, errorMessage, probe } = ended
  const command = reportCommand(orgId, runId, { attemptId: id, outcome, errorMessage })
  await ports.commands.execute(withProbeRecord(command, { runId, probe }, isApplied))
}

/** Renews the lease of the worker and returns whether it should continue. */
export async function renewAttempt(ports: Ports, caller: Caller, id: string): Promise<WorkerAnswer> {
  const attempt = await loadReportedAttempt(ports, caller, id)
  const { database } = ports
  const { leaseMs } = ports.settings().node
  const leaseUntil = later(await readClock(database), leaseMs)
  const held = await renewWorkers(database, { ids: [attempt.workerId], leaseUntil })
  const answer = workerAnswerFor(await loadRunOfAttempt(ports, attempt), attempt)
  // For a stale attempt the answer is enough: a lost worker learns of it with its next claim.
  if (held.length === 0 && !answer.ignored) throw workerLost(attempt.workerId)
  return answer
}

/** Publishes events of an attempt in progress. Events of a stale attempt are dropped. */
export async function publishEvents(
  { ports, workers }: { readonly ports: Ports; readonly workers: Pick<WorkerPort, 'publish'> },
  caller: Caller,
  report: { readonly id: string; readonly events: readonly unknown[] },
): Promise<WorkerAnswer> {
  const attempt = await loadReportedAttempt(ports, caller, report.id)
  const answer = workerAnswerFor(await loadRunOfAttempt(ports, attempt), attempt)
  const { orgId, runId } = attempt
  if (!answer.ignored)
    for (const event of hideAttemptKeys(report.events)) workers.publish({ orgId, runId, attemptId: attempt.id, event })
  return answer
}

/** Completes an attempt with a result, in the shape shared by answers, callbacks and workers. */
export async function completeAttempt(
  { ports, workers }: { readonly ports: Ports; readonly workers: Pick<WorkerPort, 'settle'> },
  caller: Caller,
  { id, result: input }: { readonly id: string; readonly result: ResultInput },
): Promise<WorkerAnswer> {
  const result = hideAttemptKeys(readResult(input))
  const attempt = await loadReportedAttempt(ports, caller, id)
  await workers.settle({ orgId: attempt.orgId, runId: attempt.runId, attemptId: attempt.id })
  const applied = await ports.commands.execute(
    completeAttemptCommand(attempt, result, ports.settings().retention.outputBytes),
  )
  const { state } = await loadRunOfAttempt(ports, attempt)
  if (applied) return { status: state, ignored: false, cancel: false, reason: null, ends_by: null }
  return { status: state, ignored: true, cancel: true, reason: 'stale_report', ends_by: null }
}

/** The command that completes an attempt. Returns whether the result was applied. */
function completeAttemptCommand(
  attempt: WorkerAttemptRow,
  result: AttemptResult,
  outputBytes: number,
): Command<boolean> {
  const { orgId, runId } = attempt
  const { usage } = result
  const inner = reportCommand(orgId, runId, {
    attemptId: attempt.id,
    outcome: outcomeOfResult(result),
    output: cutOutput(result.output, outputBytes),
    fullOutput: result.output,
    summary: cutOutput(result.summary, outputBytes),
    reported: result.reported,
    errorMessage: result.errorMessage === null ? undefined : cutText(result.errorMessage, outputBytes),
    usage,
    nextCheck: result.nextCheck,
  })
  return {
    orgId,
    apply: (orgState, prepared) => {
      const run = orgState.runs.get(runId)
      if (run?.attemptId !== attempt.id || namesAnotherAttempt(result, run.jobRunId, attempt.id)) return false
      // A worker may report the result without a start.
      if (run.state === 'assigned') startAssigned(orgState, run)
      const decision = inner.apply(orgState, prepared)
      return decision !== null && decision.kind !== 'stale_report'
    },
  }
}

/** Whether the result names another run or attempt. */
const namesAnotherAttempt = (result: AttemptResult, jobRunId: string, attempt: string): boolean =>
  (result.jobRunId !== null && result.jobRunId !== jobRunId) ||
  (result.attemptId !== null && result.attemptId !== attempt)
