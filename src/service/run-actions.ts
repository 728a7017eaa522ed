import { runId, scheduleId, type RunId } from '../domain/ids.ts'
import { because } from '../domain/reasons.ts'
import { decideManualRetry } from '../domain/run/cancellation.ts'
import { inlineKindOf } from '../core/executor/inline-agent.ts'
import { hideAttemptKeys } from '../core/rails/attempt-key.ts'
import { outcomeOfResult } from '../domain/run/outcome.ts'
import { decideCallback } from '../domain/run/reports.ts'
import { cutOutput, cutText } from './stored-output.ts'
import type { CallbackAnswer, ResultInput } from '../features/runs/schema.ts'
import type { RunNowAnswer } from '../contract/schedule.ts'
import { Refusal } from '../api/refusals.ts'
import { loadCallback, type CallbackRow } from '../store/callbacks.ts'
import { loadRun } from '../store/run-reads.ts'
import type { RunRecord } from '../store/run-record.ts'
import type { RunRow } from '../store/run-row.ts'
import { acted, actorOf } from '../features/audit/entry.ts'
import type { Caller } from './caller.ts'
import { overDay, refuseOverDailyLimit } from './daily-limit.ts'
import { cancelRun } from './desk/cancel.ts'
import type { Desk } from './desk/desk.ts'
import { runNow, termsOf, type RanNow } from './desk/fire.ts'
import { historyOf } from './desk/history.ts'
import { endAttempt, takeReport, tellTimeout } from './desk/settle.ts'
import { agentOn, makeRun, retryPolicyFor } from './desk/runs.ts'
import { bound } from './idempotent.ts'
import { hashSecret } from '../features/access/key-text.ts'
import { readResult } from '../features/runs/result-input.ts'
import type { Ports } from './ports.ts'
import { makingOf, railedWork, refuseCommand } from './rails/making.ts'
import { judgeRetry, judgeRunNow, refusePending, wokenAct } from './rails/schedules.ts'
import { maskOfRun } from './secret/use.ts'
import { decideRunNow } from '../domain/schedule/run-now.ts'
import { sessionFor, taskAgentFor } from './turn/turn.ts'
import type { Work } from './turn-port.ts'

const noRun = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no run ${id}`)

/** Somebody wants the run to end. What has ended already is refused; asking twice changes nothing. */
export async function cancelRunById(ports: Ports, caller: Caller, id: string): Promise<void> {
  const { orgId } = caller
  const decision = await ports.turns.take({
    orgId,
    apply: (desk) => {
      const run = desk.runs.get(runId(id))
      const before = { status: run?.state }
      const decided = cancelRun(desk, runId(id), because('cancelled', 'request')) ?? null
      if (decided?.kind === 'cancel')
        desk.changes.audits.push(
          acted(actorOf(caller), { kind: 'run', id }, { verb: 'cancel', before, after: { status: run?.state } }),
        )
      return decided
    },
  })
  if (decision !== null && decision.kind !== 'ended') return
  const known = await loadRun(ports.database, { orgId, id: runId(id) })
  if (known === undefined) throw noRun(id)
  throw new Refusal('ALREADY_ENDED', `Run ${id} has already ended: ${known.state}`, { runId: id })
}

/** Makes a new run of one that has ended, with the same payload. */
export async function retryRun(
  ports: Ports,
  caller: Caller,
  asked: { readonly id: string; readonly force: boolean },
): Promise<RunId> {
  const { orgId } = caller
  const record = await loadRun(ports.database, { orgId, id: runId(asked.id) })
  if (record === undefined) throw noRun(asked.id)
  const decision = decideManualRetry(record.state, asked.force)
  if (decision.kind === 'not_ended')
    throw new Refusal('NOT_RETRYABLE', `Run ${asked.id} is ${decision.state}; only an ended run can be retried`)
  if (decision.kind === 'needs_force')
    throw new Refusal('NOT_RETRYABLE', `Run ${asked.id} succeeded; retry it with force if you mean it`)
  const terms = { judge: judgeRetry(record), acts: () => [wokenAct(record.scheduleId)] }
  return ports.turns.take(bound(railedWork(retryWork(caller, record), caller, terms), caller))
}

function retryWork(caller: Caller, record: RunRecord): Work<RunId> {
  const { sessionKey, agentId } = record
  return {
    orgId: caller.orgId,
    needs: {
      agents: [agentId],
      sessions: sessionKey === null ? [] : [sessionKey],
      schedules: record.scheduleId === null ? [] : [record.scheduleId],
    },
    apply: (desk) => {
      const schedule = record.scheduleId === null ? undefined : desk.schedules.get(record.scheduleId)
      if (schedule !== undefined) refusePending(schedule)
      refuseOverDailyLimit(desk)
      const slot = slotFor(desk, record)
      if (inlineKindOf(agentId) === null) taskAgentFor({ desk }, agentId)
      if (sessionKey !== null) sessionFor({ desk }, sessionKey)
      const agent = agentOn(desk, agentId)
      refuseCommand(caller, agent.executorKind)
      const id = desk.chance.newRunId(record.trigger === 'task' ? 'task' : 'run', desk.now)
      const trigger = record.trigger === 'retry' ? 'message' : record.trigger
      makeRun(desk, {
        id,
        jobRunId: id,
        agentId,
        executorKey: agent.executorKey,
        trigger: 'retry',
        lane: record.lane,
        priority: record.priority,
        payload: record.payload,
        sessionKey,
        generation: sessionKey === null ? 0 : (desk.sessions.get(sessionKey)?.generation ?? 0),
        scheduleId: record.scheduleId,
        slot,
        retryOf: record.id,
        ...repeatedMaking(caller, record),
        delivery: record.delivery,
        trace: caller.trace ?? null,
        timeoutSeconds: agent.timeoutSeconds,
        retryPolicy: retryPolicyFor(desk, [agent], { trigger, executorKind: agent.executorKind }),
        // A run of a schedule is repeated under what the schedule says today.
        ...(schedule === undefined ? {} : termsOf(desk, schedule)),
        state: 'queued',
        decision: because('retried', 'request', { of: record.id }),
      })
      if (schedule !== undefined) {
        schedule.previousRunId = id
        schedule.lastRunAt = desk.now
        desk.changes.schedules.add(schedule)
      }
      const how = { verb: 'retry', before: { status: record.state }, after: { run_id: id } } as const
      desk.changes.audits.push(acted(actorOf(caller), { kind: 'run', id: record.id }, how))
      return id
    },
  }
}

/** Whose a repeated run is: whose it was, or of whoever repeats it. */
function repeatedMaking({ railed }: Caller, { owner, lineage }: RunRecord): Partial<RunRow> {
  if (railed === undefined) return { owner, lineage }
  return { ...makingOf(railed), owner: owner ?? railed.owner }
}

/** A repeated run of a schedule is one of its runs: of the policies, concurrency applies. */
function slotFor(desk: Desk, record: RunRecord): 'held' | 'parked' | null {
  const schedule = record.scheduleId === null ? undefined : desk.schedules.get(record.scheduleId)
  if (schedule === undefined) return null
  const { rules, nextRunAt } = schedule
  const decision = decideRunNow({ rules, nextRunAt, history: historyOf(desk, schedule) }, 'force', desk.now)
  if (decision.kind === 'run') return decision.slot
  throw new Refusal('CONCURRENCY_LIMIT', `Schedule ${schedule.id} is full and its policy is SKIP`)
}

/** A run of the schedule now, whatever its plan says. */
export async function runScheduleNow(
  ports: Ports,
  caller: Caller,
  asked: { readonly id: string; readonly mode: 'force' | 'due' },
): Promise<RunNowAnswer> {
  const terms = {
    judge: judgeRunNow(asked.id),
    acts: ({ kind }: RanNow) => (kind === 'run' ? [wokenAct(scheduleId(asked.id))] : []),
  }
  const work = railedWork(runNowWork(caller, asked), caller, terms)
  const answer = await ports.turns.take(bound(work, caller, ({ kind }) => kind === 'run'))
  switch (answer.kind) {
    case 'run':
      return { ran: true, ...(answer.runId === undefined ? {} : { run_id: answer.runId }) }
    case 'over_day':
      throw overDay(answer)
    case 'not_due':
      return { ran: false, reason: 'not-due' }
    case 'refuse':
      throw new Refusal('CONCURRENCY_LIMIT', `Schedule ${asked.id} is full and its policy is SKIP`, {
        details: answer.why.evidence,
      })
  }
}

function runNowWork(caller: Caller, asked: { readonly id: string; readonly mode: 'force' | 'due' }): Work<RanNow> {
  const id = scheduleId(asked.id)
  return {
    orgId: caller.orgId,
    needs: { schedules: [id] },
    apply: (desk) => {
      const row = desk.schedules.get(id)
      if (row === undefined) throw new Refusal('NOT_FOUND', `There is no schedule ${asked.id}`)
      refusePending(row)
      refuseCommand(caller, agentOn(desk, row.agentId).executorKind)
      if (row.sessionKey !== null) sessionFor({ desk }, row.sessionKey)
      const { railed, trace } = caller
      const making = railed === undefined ? undefined : { ...makingOf(railed), owner: row.owner ?? railed.owner }
      const answer = runNow(desk, id, { mode: asked.mode, trace, making })
      if (answer.kind === 'run') {
        const after = { run_id: answer.runId, mode: asked.mode }
        desk.changes.audits.push(acted(actorOf(caller), { kind: 'schedule', id }, { verb: 'run_now', after }))
      }
      return answer
    },
  }
}

/** Settles an attempt that was deferred. Repeats, and tokens of earlier attempts, are answered and change nothing. */
export async function settleByToken(ports: Ports, token: string, input: ResultInput): Promise<CallbackAnswer> {
  const result = hideAttemptKeys(readResult(input))
  const callback = await loadCallback(ports.database, hashSecret(token))
  if (callback === undefined) throw new Refusal('NOT_FOUND', 'No attempt has this token')
  const { outputBytes } = ports.settings().retention
  const mask = await maskOfRun(ports, callback)
  const shown = mask === null ? result : (mask.value(result) as typeof result)
  const answer = await ports.turns.take(callbackWork(callback, shown, outputBytes))
  if (answer !== null) return answer
  const record = await loadRun(ports.database, { orgId: callback.orgId, id: callback.runId })
  if (record === undefined) throw new Refusal('NOT_FOUND', 'The run of this token is not kept any more')
  return { status: record.state, ignored: true }
}

/** A result that names a run or an attempt speaks for that one alone, whatever token came with it. */
const isAboutAnother = (
  { jobRunId, attemptId }: Pick<ReturnType<typeof readResult>, 'jobRunId' | 'attemptId'>,
  run: { readonly jobRunId: string; readonly attemptId: string | null },
): boolean => (jobRunId !== null && jobRunId !== run.jobRunId) || (attemptId !== null && attemptId !== run.attemptId)

function callbackWork(
  callback: CallbackRow,
  result: ReturnType<typeof readResult>,
  outputBytes: number,
): Work<CallbackAnswer | null> {
  return {
    orgId: callback.orgId,
    apply: (desk) => {
      const run = desk.runs.get(callback.runId)
      if (run === undefined) return null
      const decision = decideCallback({ ...run, callbackUntil: run.endsBy }, callback, desk.now)
      if (decision.kind === 'ignored' || isAboutAnother(result, run)) return { status: run.state, ignored: true }
      if (decision.kind === 'too_late') {
        run.errorMessage = tellTimeout(desk, run, run.endsBy ?? desk.now)
        endAttempt(desk, run, { kind: 'timed_out', errorCode: 'callback_timeout' })
        return { status: run.state, ignored: true }
      }
      takeReport(desk, run, {
        attemptId: callback.attemptId,
        outcome: outcomeOfResult(result),
        output: cutOutput(result.output, outputBytes),
        uncut: result.output,
        summary: cutOutput(result.summary, outputBytes),
        reported: result.reported,
        errorMessage: result.errorMessage === null ? undefined : cutText(result.errorMessage, outputBytes),
        usage: result.usage,
        nextCheck: result.nextCheck,
      })
      return { status: run.state, ignored: false }
    },
  }
}
