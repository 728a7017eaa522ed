import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { hideAttemptKeys } from '../../domain/access/restrictions.ts'
import { agentId, type OrgId, type RunId, runId, scheduleId, sessionKey } from '../../domain/ids.ts'
import { collectFlaws, textField, unknownFields } from '../../domain/input-fields.ts'
import { flawed, parsed, type Parsed, parseWord } from '../../domain/input.ts'
import { type Instant, parseTimeOrMs } from '../../domain/instant.ts'
import { addAll } from '../../domain/long-lists.ts'
import { because, toWhy } from '../../domain/reasons.ts'
import { outcomeOfResult } from '../../domain/run/outcome.ts'
import { decideCallback } from '../../domain/run/reports.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { parseRunStates } from '../../domain/run/run-words.ts'
import { TRIGGERS } from '../../domain/run/run.ts'
import type { Command } from '../../engine/commands-port.ts'
import { cancelRun } from '../../engine/commands/cancel.ts'
import { type RunNowResult, runNow } from '../../engine/commands/fire.ts'
import { agentInState } from '../../engine/commands/runs.ts'
import { endAttempt, applyReport, timeoutMessage } from '../../engine/commands/settle.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import type { LiveRuns } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import { ensureSession } from '../../engine/transaction/transaction.ts'
import type { Caller } from '../access/caller.ts'
import { hashSecret } from '../access/key-text.ts'
import { provenanceOf, ownRuns, restrictCommand, refuseCommandExecutor } from '../access/restrictions.ts'
import { acted, actorOf } from '../audit/entry.ts'
import { closedDayError } from '../budgets/limits.ts'
import { deliveriesOfRun } from '../deliveries/service.ts'
import { probeAnswerOfRun } from '../probes/view.ts'
import { type CallbackRow, loadAttempts, loadCallback, loadReportedSession, loadRunEdit } from './attempts-store.ts'
import { listRunPage, loadRun, type RunQuery } from './read-store.ts'
import type { RunRecord } from './record-store.ts'
import { readResult } from './result-input.ts'
import type { CallbackAnswer, ResultInput, RunDetail, RunFilter, RunView } from './schema.ts'
import { cutOutput, cutText, viewRun, viewRunDetail } from './view.ts'
import { checkRunNow, refusePendingApproval, manualRunAction } from '../schedules/restrictions.ts'
import type { RunNowAnswer } from '../schedules/schema.ts'
import { loadSchedules } from '../schedules/store.ts'
import { maskOfRun } from '../secrets/use.ts'
import { pageOfListed, parseCursor, parseLimit, writeCursor } from '../../platform/db/cursor.ts'

type RunReadPorts = Pick<Ports, 'database'>

/** The refusal for a run that does not exist in the org. */
export const runNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no run ${id}`)

/** Reads a run from the database. */
export async function readRun({ database }: RunReadPorts, orgId: OrgId, id: string): Promise<RunRecord> {
  // PostgreSQL rejects NUL in a text, and a JavaScript program may pass a value that is not a string.
  const run =
    typeof id !== 'string' || id.includes('\u0000') ? undefined : await loadRun(database, { orgId, id: runId(id) })
  if (run === undefined) throw runNotFound(id)
  return run
}

/** Returns a run. */
export const getRun = async (ports: RunReadPorts, orgId: OrgId, id: string): Promise<RunView> =>
  viewRun(await readRun(ports, orgId, id))

interface RunRef {
  readonly orgId: OrgId
  readonly id: string
}

/**
 * Returns a run with its attempts and timeline. Why a pending run waits is computed by the live engine; if `live` does
 * not know it, the stored reason is used.
 */
export async function getRunDetail(ports: RunReadPorts, request: RunRef, live?: LiveRuns): Promise<RunDetail> {
  const run = await readRun(ports, request.orgId, request.id)
  const attempts = await loadAttempts(ports.database, { orgId: request.orgId, runId: run.id })
  const deliveries = run.delivery === null ? [] : await deliveriesOfRun(ports.database, request.orgId, run.id)
  const wait = live?.explain(request.orgId, run.id) ?? null
  const probe = await probeAnswerOfRun(ports, run)
  const edits =
    run.retryOf === null ? undefined : await loadRunEdit(ports.database, { orgId: run.orgId, runId: run.id })
  return viewRunDetail(run, { attempts, deliveries, probe, edits }, wait === null ? null : toWhy(wait))
}

/** The org of the runs and the rights of the caller. */
interface RunAccess extends Pick<Caller, 'orgId' | 'restricted'> {
  /** True for callers that may read only the runs of schedules. */
  readonly onlyOfSchedules?: boolean
}

/** Lists a page of the org's runs, newest first. */
export async function findRuns(
  { database }: RunReadPorts,
  { orgId, restricted, onlyOfSchedules = false }: RunAccess,
  filter: RunFilter = {},
): Promise<Page<RunView>> {
  const { flaws, keep } = collectFlaws()
  const choice = keep(parseRunFilter(orgId, filter))
  const cursor = keep(parseCursor('cursor', filter.cursor))
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  if (choice === null || flaws.length > 0) throw invalid(flaws)
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: runId(cursor.key) }
  const owned = ownRuns(restricted) ?? null
  const listed = await listRunPage(database, { ...choice, owned, onlyOfSchedules, after, limit })
  return pageOfListed(listed, viewRun, ({ createdAt, id: key }) => writeCursor({ createdAt, key }))
}

/** Lists a page of a schedule's runs. Runs of a deleted schedule are still found. */
export async function findRunsOfSchedule(
  ports: RunReadPorts,
  request: RunAccess & { readonly id: string },
  filter: RunFilter = {},
): Promise<Page<RunView>> {
  const { orgId, id } = request
  const page = await findRuns(ports, request, { ...filter, schedule_id: id })
  if (page.items.length > 0) return page
  const [row] = await loadSchedules(ports.database, { orgId, ids: [scheduleId(id)] })
  if (row === undefined) throw new Refusal('NOT_FOUND', `There is no schedule ${id}`)
  return page
}

const FILTER_FIELDS = [
  ...['schedule_id', 'agent_id', 'session', 'status', 'trigger', 'from', 'to'],
  ...['agent_error_code', 'limit', 'cursor'],
]

/** Reads a filter of runs. */
function parseRunFilter(orgId: OrgId, filter: RunFilter): Parsed<RunQuery> {
  const { flaws, keep } = collectFlaws()
  addAll(flaws, unknownFields('', { ...filter }, FILTER_FIELDS))
  const text = (field: string, value: unknown): string | null =>
    value === undefined || value === null ? null : keep(textField({ min: 1, max: 512 })(field, value))
  const time = (field: string, value: unknown): Instant | null =>
    value === undefined || value === null ? null : keep(parseTimeOrMs(field, value))
  const [schedule, agent, session] = [
    text('schedule_id', filter.schedule_id),
    text('agent_id', filter.agent_id),
    text('session', filter.session),
  ]
  const choice: RunQuery = {
    orgId,
    scheduleId: schedule === null ? null : scheduleId(schedule),
    agentId: agent === null ? null : agentId(agent),
    sessionKey: session === null ? null : sessionKey(session),
    states: filter.status === undefined ? null : keep(parseStates(filter.status)),
    trigger: filter.trigger === undefined ? null : keep(parseWord('trigger', filter.trigger, TRIGGERS)),
    agentErrorCode: text('agent_error_code', filter.agent_error_code),
    from: time('from', filter.from),
    to: time('to', filter.to),
  }
  return flaws.length > 0 ? flawed(flaws) : parsed(choice)
}

/** Reads a list of states, or one text with commas. */
const parseStates = (status: string | readonly string[]): Parsed<readonly RunState[]> =>
  parseRunStates('status', typeof status === 'string' ? status : status.join(','))

/** Cancels a run. An ended run is refused; cancelling a stopping run again changes nothing. */
export async function cancelRunById(ports: Ports, caller: Caller, id: string): Promise<void> {
  const { orgId } = caller
  const decision = await ports.commands.execute({
    orgId,
    needs: { runs: [runId(id)] },
    apply: (state) => {
      const run = state.runs.get(runId(id))
      const before = { status: run?.state }
      const decided = cancelRun(state, runId(id), because('cancelled', 'request')) ?? null
      if (decided?.kind === 'cancel')
        state.changes.audits.push(
          acted(actorOf(caller), { kind: 'run', id }, { verb: 'cancel', before, after: { status: run?.state } }),
        )
      return decided
    },
  })
  if (decision !== null && decision.kind !== 'ended') return
  const existing = await loadRun(ports.database, { orgId, id: runId(id) })
  if (existing === undefined) throw runNotFound(id)
  throw new Refusal('ALREADY_ENDED', `Run ${id} has already ended: ${existing.state}`, { runId: id })
}

/** Runs a schedule now, independent of its timing. */
export async function runScheduleNow(
  ports: Ports,
  caller: Caller,
  request: { readonly id: string; readonly mode: 'force' | 'due' },
): Promise<RunNowAnswer> {
  const terms = {
    judge: checkRunNow(request.id),
    acts: ({ kind }: RunNowResult) => (kind === 'run' ? [manualRunAction(scheduleId(request.id))] : []),
  }
  const command = restrictCommand(runNowCommand(caller, request), caller, terms)
  const answer = await ports.commands.execute(bindToKey(command, caller, ({ kind }) => kind === 'run'))
  switch (answer.kind) {
    case 'run':
      return { ran: true, ...(answer.runId === undefined ? {} : { run_id: answer.runId }) }
    case 'over_day':
      throw closedDayError(answer)
    case 'not_due':
      return { ran: false, reason: 'not-due' }
    case 'refuse':
      throw new Refusal('CONCURRENCY_LIMIT', `Schedule ${request.id} is full and its policy is SKIP`, {
        details: answer.why.evidence,
      })
  }
}

function runNowCommand(
  caller: Caller,
  request: { readonly id: string; readonly mode: 'force' | 'due' },
): Command<RunNowResult> {
  const id = scheduleId(request.id)
  return {
    orgId: caller.orgId,
    needs: { schedules: [id] },
    apply: (state) => {
      const row = state.schedules.get(id)
      if (row === undefined) throw new Refusal('NOT_FOUND', `There is no schedule ${request.id}`)
      refusePendingApproval(row)
      refuseCommandExecutor(caller, agentInState(state, row.agentId).executorKind)
      if (row.sessionKey !== null) ensureSession({ state }, row.sessionKey)
      const { restricted, trace } = caller
      const ownership =
        restricted === undefined ? undefined : { ...provenanceOf(restricted), owner: row.owner ?? restricted.owner }
      const answer = runNow(state, id, { mode: request.mode, trace, overrides: ownership })
      if (answer.kind === 'run') {
        const after = { run_id: answer.runId, mode: request.mode }
        state.changes.audits.push(acted(actorOf(caller), { kind: 'schedule', id }, { verb: 'run_now', after }))
      }
      return answer
    },
  }
}

/** Settles a deferred attempt. Repeated reports and tokens of earlier attempts are answered and change nothing. */
export async function settleByToken(ports: Ports, token: string, input: ResultInput): Promise<CallbackAnswer> {
  const result = hideAttemptKeys(readResult(input))
  const callback = await loadCallback(ports.database, hashSecret(token))
  if (callback === undefined) throw new Refusal('NOT_FOUND', 'No attempt has this token')
  const { outputBytes } = ports.settings().retention
  const mask = await maskOfRun(ports, callback)
  const shown = mask === null ? result : (mask.value(result) as typeof result)
  const answer = await ports.commands.execute(callbackCommand(callback, shown, outputBytes))
  if (answer !== null) return answer
  const record = await loadRun(ports.database, { orgId: callback.orgId, id: callback.runId })
  if (record === undefined) throw new Refusal('NOT_FOUND', 'The run of this token has been deleted')
  return { status: record.state, ignored: true }
}

/** Whether a result names a run or an attempt other than that of its token: such a result is ignored. */
const namesAnotherRun = (
  { jobRunId, attemptId }: Pick<ReturnType<typeof readResult>, 'jobRunId' | 'attemptId'>,
  run: { readonly jobRunId: string; readonly attemptId: string | null },
): boolean => (jobRunId !== null && jobRunId !== run.jobRunId) || (attemptId !== null && attemptId !== run.attemptId)

function callbackCommand(
  callback: CallbackRow,
  result: ReturnType<typeof readResult>,
  outputBytes: number,
): Command<CallbackAnswer | null> {
  return {
    orgId: callback.orgId,
    apply: (state) => {
      const run = state.runs.get(callback.runId)
      if (run === undefined) return null
      const decision = decideCallback({ ...run, callbackUntil: run.endsBy }, callback, state.now)
      if (decision.kind === 'ignored' || namesAnotherRun(result, run)) return { status: run.state, ignored: true }
      if (decision.kind === 'too_late') {
        run.errorMessage = timeoutMessage(state, run, run.endsBy ?? state.now)
        endAttempt(state, run, { kind: 'timed_out', errorCode: 'callback_timeout' })
        return { status: run.state, ignored: true }
      }
      applyReport(state, run, {
        attemptId: callback.attemptId,
        outcome: outcomeOfResult(result),
        output: cutOutput(result.output, outputBytes),
        fullOutput: result.output,
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

/** The model that a retry was created with; null: that of its agent. */
export const modelOfRetry = async (
  { database }: Pick<Ports, 'database'>,
  run: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<string | null> => (await loadRunEdit(database, run))?.model ?? null

/** The session that the runtime of an agent reported last in a session; null: none. */
export const reportedSessionOf = (
  { database }: Pick<Ports, 'database'>,
  of: Parameters<typeof loadReportedSession>[1],
): Promise<string | null> => loadReportedSession(database, of)
