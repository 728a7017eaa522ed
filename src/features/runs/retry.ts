import { invalid, Refusal } from '../../api/refusals.ts'
import { inlineKindOf } from '../../domain/agent.ts'
import { type OrgId, type RunId, runId } from '../../domain/ids.ts'
import { because } from '../../domain/reasons.ts'
import { decideManualRetry } from '../../domain/run/cancellation.ts'
import { EDITED_PARTS, withPrompt } from '../../domain/run/run.ts'
import { decideRunNow } from '../../domain/schedule/run-now.ts'
import type { Command } from '../../engine/commands-port.ts'
import { scheduleTerms } from '../../engine/commands/fire.ts'
import { agentInState, createRun, retryPolicyFor } from '../../engine/commands/runs.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import { historyOf } from '../../engine/org-state/history.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import { ensureSession, ensureTaskAgent } from '../../engine/transaction/transaction.ts'
import type { Caller } from '../access/caller.ts'
import { ownRuns, provenanceOf, refuseCommandExecutor, restrictCommand } from '../access/restrictions.ts'
import { acted, actorOf } from '../audit/entry.ts'
import { refuseOverDailyLimit } from '../budgets/limits.ts'
import { checkRetry, manualRunAction, refusePendingApproval } from '../schedules/restrictions.ts'
import { insertRunEdit, loadRunEdit, type RunEditRow } from './attempts-store.ts'
import { loadRun } from './read-store.ts'
import type { RunRecord } from './record-store.ts'
import type { DiffLine, RetryInput, RunComparison, RunView } from './schema.ts'
import { getRun, runNotFound } from './service.ts'
import type { RunRow } from './store.ts'

/** A retry of an ended run, and what it changes. */
interface RetryRequest extends Omit<RetryInput, 'force'> {
  readonly id: string
  readonly force: boolean
}

/** Creates a new run from an ended one, with its payload unless the request changes it. */
export async function retryRun(ports: Ports, caller: Caller, request: RetryRequest): Promise<RunId> {
  const { orgId } = caller
  const record = await loadRun(ports.database, { orgId, id: runId(request.id) })
  if (record === undefined) throw runNotFound(request.id)
  const decision = decideManualRetry(record.state, request.force)
  if (decision.kind === 'not_ended')
    throw new Refusal('NOT_RETRYABLE', `Run ${request.id} is ${decision.state}; only an ended run can be retried`)
  if (decision.kind === 'needs_force')
    throw new Refusal('NOT_RETRYABLE', `Run ${request.id} succeeded; set force to retry it`)
  const edited = editsOf(record, request)
  // A retry of a retry keeps the model of that one.
  const before = record.retryOf === null ? undefined : await loadRunEdit(ports.database, { orgId, runId: record.id })
  const model = edited.model ?? before?.model ?? null
  const terms = { judge: checkRetry(record, edited.parts), acts: () => [manualRunAction(record.scheduleId)] }
  const command = retryCommand(caller, record, { ...edited, model })
  return ports.commands.execute(bindToKey(restrictCommand(command, caller, terms), caller))
}

/** What a retry changes: the payload it runs with, the model, and the names of the changed parts. */
interface RunEdits extends Pick<RunEditRow, 'parts' | 'model'> {
  readonly payload: unknown
}

function editsOf(record: RunRecord, { payload, prompt, model }: RetryRequest): RunEdits {
  const parts = EDITED_PARTS.filter((part) => ({ payload, prompt, model })[part] !== undefined)
  if (payload !== undefined && prompt !== undefined)
    throw invalid([
      { field: 'prompt', value: prompt, message: 'cannot be combined with payload', allowed: 'one of them' },
    ])
  const prompted = prompt === undefined ? record.payload : withPrompt(record.payload, prompt)
  if (prompted === undefined)
    throw invalid([
      { field: 'prompt', value: prompt, message: 'the payload of this run has no prompt', allowed: 'payload instead' },
    ])
  return { parts, model: model ?? null, payload: payload === undefined ? prompted : payload }
}

function retryCommand(caller: Caller, record: RunRecord, edits: RunEdits): Command<RunId> {
  const { sessionKey, agentId } = record
  const { parts, model } = edits
  const isEdited = parts.length > 0 || model !== null
  return {
    orgId: caller.orgId,
    ...(isEdited ? recordEdits(caller.orgId, { parts, model }) : {}),
    needs: {
      agents: [agentId],
      sessions: sessionKey === null ? [] : [sessionKey],
      schedules: record.scheduleId === null ? [] : [record.scheduleId],
    },
    apply: (state) => {
      const schedule = record.scheduleId === null ? undefined : state.schedules.get(record.scheduleId)
      if (schedule !== undefined) refusePendingApproval(schedule)
      refuseOverDailyLimit(state)
      const slot = slotFor(state, record)
      if (inlineKindOf(agentId) === null) ensureTaskAgent({ state }, agentId)
      if (sessionKey !== null) ensureSession({ state }, sessionKey)
      const agent = agentInState(state, agentId)
      refuseCommandExecutor(caller, agent.executorKind)
      refuseModel(agent, edits)
      const id = state.randomSource.newRunId(record.trigger === 'task' ? 'task' : 'run', state.now)
      const trigger = record.trigger === 'retry' ? 'message' : record.trigger
      createRun(state, {
        id,
        jobRunId: id,
        agentId,
        executorKey: agent.executorKey,
        trigger: 'retry',
        lane: record.lane,
        priority: record.priority,
        payload: edits.payload,
        sessionKey,
        generation: sessionKey === null ? 0 : (state.sessions.get(sessionKey)?.generation ?? 0),
        scheduleId: record.scheduleId,
        slot,
        retryOf: record.id,
        ...retryOwnership(caller, record),
        delivery: record.delivery,
        trace: caller.trace ?? null,
        timeoutSeconds: agent.timeoutSeconds,
        retryPolicy: retryPolicyFor(state, [agent], { trigger, executorKind: agent.executorKind }),
        // The retry of a schedule's run uses the current settings of the schedule.
        ...(schedule === undefined ? {} : scheduleTerms(state, schedule)),
        state: 'queued',
        decision: because('retried', 'request', { of: record.id, ...(isEdited ? { edited: parts.join(', ') } : {}) }),
      })
      if (schedule !== undefined) {
        schedule.previousRunId = id
        schedule.lastRunAt = state.now
        state.changes.schedules.add(schedule)
      }
      const after = { run_id: id, ...(isEdited ? { edited: parts, model } : {}) }
      const action = { verb: 'retry', before: { status: record.state }, after } as const
      state.changes.audits.push(acted(actorOf(caller), { kind: 'run', id: record.id }, action))
      return id
    },
  }
}

/** Stores what the retry changes, in the transaction that creates it. */
const recordEdits = (
  orgId: OrgId,
  edits: Pick<RunEditRow, 'parts' | 'model'>,
): Pick<Required<Command<RunId>>, 'afterApply'> => ({
  afterApply: (tx, id) => {
    insertRunEdit(tx, { ...edits, orgId, runId: id })
    return Promise.resolve()
  },
})

/** Only a chat agent calls a model. */
function refuseModel(
  { id, executorKind }: { readonly id: string; readonly executorKind: string },
  { model }: RunEdits,
): void {
  if (model === null || executorKind === 'chat') return
  const message = `agent ${id} has executor kind ${executorKind} and no model`
  throw invalid([{ field: 'model', value: model, message, allowed: 'agents of kind chat' }])
}

/** The owner of a retried run: the owner of the original, else the caller if its key is restricted. */
function retryOwnership({ restricted }: Caller, { owner, lineage }: RunRecord): Partial<RunRow> {
  if (restricted === undefined) return { owner, lineage }
  return { ...provenanceOf(restricted), owner: owner ?? restricted.owner }
}

/** Decides the slot of a retried run: of the schedule's policies, only concurrency applies. */
function slotFor(state: OrgState, record: RunRecord): 'held' | 'parked' | null {
  const schedule = record.scheduleId === null ? undefined : state.schedules.get(record.scheduleId)
  if (schedule === undefined) return null
  const { rules, nextRunAt } = schedule
  const decision = decideRunNow({ rules, nextRunAt, history: historyOf(state, schedule) }, 'force', state.now)
  if (decision.kind === 'run') return decision.slot
  throw new Refusal('CONCURRENCY_LIMIT', `Schedule ${schedule.id} is full and its policy is SKIP`)
}

/** Compares two runs of the org. */
export async function compareRuns(
  ports: Pick<Ports, 'database'>,
  { orgId, restricted }: Pick<Caller, 'orgId' | 'restricted'>,
  { a: first, b: second }: { readonly a: string; readonly b: string },
): Promise<RunComparison> {
  const [a, b] = [await getRun(ports, orgId, first), await getRun(ports, orgId, second)]
  // Only the first run stands in the path that restricted callers are checked by.
  const own = ownRuns(restricted)
  if (own !== undefined && own !== null && b.owner !== own.owner && b.id !== own.alsoRun) throw runNotFound(second)
  const change = (of: (run: RunView) => number | null | undefined): number | null => {
    const [before, after] = [of(a) ?? null, of(b) ?? null]
    return before === null || after === null ? null : after - before
  }
  return {
    ...{ a, b },
    changes: {
      duration_ms: change((run) => run.duration_ms),
      input_tokens: change((run) => run.usage?.input_tokens),
      output_tokens: change((run) => run.usage?.output_tokens),
      cost: change((run) => run.usage?.cost),
      attempts: change((run) => run.attempt - run.first_attempt + 1),
    },
    payload: diffLines(linesOf(a.payload), linesOf(b.payload)),
    output: diffLines(linesOf(a.output), linesOf(b.output)),
  }
}

function linesOf(value: unknown): readonly string[] {
  if (value === null || value === undefined || value === '') return []
  return (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n')
}

/** Beyond this many pairs of lines, what differs is shown as a whole. */
const MAX_PAIRS = 4_000_000

/** The lines that only `a` or only `b` has, between the longest sequence that both have. */
export function diffLines(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  const same = (text: string): DiffLine => ({ change: 'same', text })
  const middle =
    left.length * right.length > MAX_PAIRS
      ? [...left.map(removed), ...right.map(added)]
      : walk(left, right, commonLengths(left, right))
  return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)]
}

const removed = (text: string): DiffLine => ({ change: 'removed', text })
const added = (text: string): DiffLine => ({ change: 'added', text })

/** For each pair of positions, the length of the longest common sequence behind them. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const [row, below] = [rows[i], rows[i + 1]]
    if (row === undefined || below === undefined) continue
    for (let j = b.length - 1; j >= 0; j -= 1)
      row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0)
  }
  return rows
}

function walk(a: readonly string[], b: readonly string[], lengths: readonly Uint32Array[]): readonly DiffLine[] {
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left !== undefined && left === right) {
      lines.push({ change: 'same', text: left })
      i += 1
      j += 1
    } else if (
      right === undefined ||
      (left !== undefined && (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0))
    ) {
      lines.push(removed(left ?? ''))
      i += 1
    } else {
      lines.push(added(right))
      j += 1
    }
  }
  return lines
}
