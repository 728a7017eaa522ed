import { readShape } from '../../api/read-input.ts'
import { invalid, orRefusal, Refusal } from '../../api/refusals.ts'
import { fieldAt } from '../../api/schema-flaws.ts'
import { agentId, type AgentId } from '../../domain/ids.ts'
import type { InputObject } from '../../domain/input-fields.ts'
import type { Flaw } from '../../domain/input.ts'
import { formatInstant, type Instant, later, storedInstant } from '../../domain/instant.ts'
import { completePolicy } from '../../domain/run/retry-policy.ts'
import { NO_RETRIES } from '../../domain/run/retry.ts'
import { type FacadeState, facadeStateOf } from '../../domain/run/run-words.ts'
import type { Command } from '../../engine/commands-port.ts'
import { agentInState } from '../../engine/commands/runs.ts'
import {
  countQueuedTasks,
  type Submission,
  submissionFor,
  submit,
  type SubmitResult,
} from '../../engine/commands/submit.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import { type LiveRuns, positionOf } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import { ensureTaskAgent } from '../../engine/transaction/transaction.ts'
import type { Caller } from '../access/caller.ts'
import { restrictTasks } from '../access/restricted-input.ts'
import { type Provenance, provenanceOf, refuseCommandExecutor } from '../access/restrictions.ts'
import { budgetError, dailyLimitError } from '../budgets/limits.ts'
import { cancelRunById } from '../runs/service.ts'
import {
  MAX_IN_BATCH,
  type TaskBatchInput,
  type TaskBatchItem,
  type TaskCancelled,
  type TaskInput,
  taskInput,
  type TaskReceipt,
  type TaskView,
} from './schema.ts'
import { loadVisibleTask } from './view.ts'

/** The caller, and the pending work in memory of this node. */
interface TaskContext {
  readonly caller: Caller
  readonly live: LiveRuns
}

/** Submits a task. Invalid input stores nothing; a full queue refuses the task and stores it as rejected. */
export async function submitTask(ports: Ports, ctx: TaskContext, input: TaskInput): Promise<TaskReceipt> {
  return receiptOf(ports, ctx, await acceptTask(ports, ctx, input))
}

/** Submits a task and, if it ends in time, returns its receipt with the task. */
export async function submitTaskAndWait(
  ports: Ports,
  ctx: TaskContext,
  { input, waitForTask }: { readonly input: TaskInput; readonly waitForTask: (id: string) => Promise<TaskView> },
): Promise<TaskReceipt> {
  const accepted = await acceptTask(ports, ctx, input)
  const task = await waitForTask(accepted.answer.runId)
  if (task.completedAt === null) return { ...(await receiptOf(ports, ctx, accepted)), state: task.state }
  // A task that has ended has no position.
  return { taskId: task.taskId, state: task.state, position: 0, createdAt: task.createdAt, task }
}

const receiptOf = async (
  ports: Ports,
  ctx: TaskContext,
  { answer, createdAt }: SubmittedTask,
): Promise<TaskReceipt> => ({
  taskId: answer.runId,
  state: submittedStateOf(ctx, answer),
  position: receiptPosition(await positionOf(portsOf(ports, ctx), ctx.caller.orgId, answer.runId)),
  createdAt: formatInstant(createdAt),
})

const portsOf = ({ database }: Ports, { live }: TaskContext): Parameters<typeof positionOf>[0] => ({ database, live })

/** A task that has started has position 0. */
const receiptPosition = (position: number | null | undefined): number | null =>
  position === undefined ? null : (position ?? 0)

async function acceptTask(ports: Ports, ctx: TaskContext, input: TaskInput): Promise<SubmittedTask> {
  const { agentId: agent, callbackUrl } = input
  // Most tasks have no callback and need no asynchronous check.
  const flaw =
    deadlineFlaw(input, { at: '', now: ports.clock.now() }) ??
    (callbackUrl === undefined ? null : await callbackFlaw(ports, callbackUrl, ''))
  if (flaw !== null) throw invalid([flaw])
  const command = restrictTasks(submitTasksCommand(ports, ctx.caller, [input]), ctx.caller)
  const [submitted] = await ports.commands.execute(bindToKey(command, ctx.caller, isAnyTaskAccepted))
  if (submitted === undefined || !('answer' in submitted))
    throw new Error('the command returned no result for the task')
  const { answer, queued } = submitted
  if (answer.kind === 'rejected')
    throw budgetError(answer) ?? dailyLimitError(answer) ?? queueFullRefusal(ports, { answer, agent, queued })
  return submitted
}

/** Cancels a task. Refuses if it has ended, or is already being cancelled. */
export async function cancelTask(ports: Ports, caller: Caller, id: string): Promise<TaskCancelled> {
  const run = await loadVisibleTask(ports, caller.orgId, id)
  if (run.state === 'stopping') throw alreadyEnded(id, facadeStateOf(run.state))
  try {
    await cancelRunById(ports, caller, id)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'ALREADY_ENDED')
      throw alreadyEnded(id, facadeStateOf(run.state), error)
    throw error
  }
  return { status: 'cancelled', taskId: id }
}

const alreadyEnded = (id: string, state: string, cause?: Refusal): Refusal =>
  new Refusal('CONFLICT', `Task ${id} has already ended: ${state}`, { cause })

/** The flaw of a deadline in the past. Null: none. */
const deadlineFlaw = (
  { deadline }: TaskInput,
  { at, now }: { readonly at: string; readonly now: Instant },
): Flaw | null =>
  deadline === undefined || storedInstant(deadline) > now
    ? null
    : { field: fieldAt(at, 'deadline'), value: deadline, message: 'is in the past', allowed: 'a later time' }

/** The flaw of a callback URL. Null: none. */
async function callbackFlaw(
  { outbound }: Pick<Ports, 'outbound'>,
  url: string | undefined,
  at: string,
): Promise<Flaw | null> {
  const message = url === undefined ? null : await outbound.check(url, 'callback')
  return message === null ? null : { field: fieldAt(at, 'callbackUrl'), value: url, message }
}

/** The outcome of a submitted task, and the number of tasks queued in the org before it. */
interface SubmittedTask {
  readonly answer: SubmitResult
  readonly createdAt: Instant
  readonly queued: number
}

type DecidedTask = SubmittedTask | { readonly refused: string }

/** Whether any task was accepted: only then is the answer stored for a repetition. */
const isAnyTaskAccepted = (tasks: readonly DecidedTask[]): boolean =>
  tasks.some((task) => 'answer' in task && task.answer.kind !== 'rejected')

/** The command that submits tasks in order; each is decided on its own. If all are refused, the command is refused. */
export function submitTasksCommand(
  ports: Ports,
  caller: Caller,
  tasks: readonly TaskInput[],
): Command<readonly DecidedTask[]> {
  const { orgId, trace, restricted } = caller
  const defaultDeadlineMs = ports.settings().tasks.defaultDeadlineSeconds * 1_000
  const provenance = restricted === undefined ? null : provenanceOf(restricted)
  const agents = [...new Set(tasks.map((task) => agentId(task.agentId)))]
  const submissions = tasks.map((task) => taskSubmissionOf(task, { trace, ...provenance }))
  return {
    orgId,
    needs: { agents },
    apply: (orgState, _prepared, between) => {
      const refusals = new Map<AgentId, Refusal>()
      for (const agent of agents) {
        ensureTaskAgent({ state: orgState }, agent)
        const refusal = orRefusal(() => {
          refuseCommandExecutor(caller, agentInState(orgState, agent).executorKind)
        })
        if (refusal instanceof Refusal) refusals.set(agent, refusal)
      }
      const [first] = refusals.values()
      if (first !== undefined && refusals.size === agents.length) throw first
      return submissions.map((task) => {
        between?.()
        const refusal = refusals.get(task.agentId)
        if (refusal !== undefined) return { refused: refusal.message }
        const queued = countQueuedTasks(orgState)
        const deadline = task.deadline ?? later(orgState.now, defaultDeadlineMs)
        return { answer: submit(orgState, { ...task, deadline }), createdAt: orgState.now, queued }
      })
    },
  }
}

/** The submission of a task. The default deadline is added when the command is applied. */
function taskSubmissionOf(
  { priority = 0, deadline, retry_policy: policy, ...content }: TaskInput,
  by: Partial<Provenance> & Pick<Submission, 'trace'>,
): Submission {
  const { callbackUrl } = content
  return submissionFor({
    ...{ trigger: 'task', agentId: agentId(content.agentId), sessionKey: null, content, priority },
    deadline: deadline === undefined ? null : storedInstant(deadline),
    retryPolicy: policy === undefined ? null : completePolicy(policy, NO_RETRIES),
    delivery: callbackUrl === undefined ? null : { callback: callbackUrl },
    ...by,
  })
}

type RejectedTask = Extract<SubmitResult, { kind: 'rejected' }>

function queueFullRefusal(
  ports: Pick<Ports, 'settings'>,
  { answer, agent, queued }: { readonly answer: RejectedTask; readonly agent: string; readonly queued: number },
): Refusal {
  const { maxQueue, maxPerAgent } = ports.settings().tasks
  const { runId: id, retryAfterMs } = answer
  return new Refusal('QUEUE_FULL', `${queueFullText(answer, agent)}; the rejected task is stored as ${id}`, {
    runId: id,
    retryAfterMs,
    details: { agentId: agent, queued, maxQueue, maxPerAgent, taskId: id },
  })
}

const queueFullText = ({ why }: RejectedTask, agent: string): string =>
  why.reason === 'agent_queue_full' ? `The queue of agent ${agent} is full` : 'The queue is full'

/** The state of a task that was just submitted. */
const submittedStateOf = ({ live, caller }: TaskContext, { runId: id }: SubmitResult): FacadeState =>
  facadeStateOf(live.stateOf(caller.orgId, id) ?? 'queued')

/** How many tasks a call may have. Positions are only computed in a small one, because each takes a walk. */
interface CallSize {
  readonly max: number
  readonly withPositions: boolean
}

/** Fields that apply to all tasks of a batch. */
type SharedTaskFields = Pick<TaskBatchInput, 'agentId' | 'callbackUrl'>

/**
 * Submits tasks in order. Each is decided on its own: an invalid task is reported in its outcome, and the others are
 * submitted. If all tasks are invalid, the batch is refused.
 */
export async function submitBatch(
  ports: Ports,
  ctx: TaskContext & Partial<CallSize>,
  { tasks: items, ...shared }: Partial<SharedTaskFields> & { readonly tasks: readonly unknown[] },
): Promise<readonly TaskBatchItem[]> {
  const { max = MAX_IN_BATCH, withPositions = true } = ctx
  if (items.length > max) throw batchTooLarge(items.length, max)
  const flaw = await callbackFlaw(ports, shared.callbackUrl, '')
  if (flaw !== null) throw invalid([flaw])
  const read = await Promise.all(items.map((item, index) => parseBatchItem(ports, { item, index, shared })))
  const tasks = read.filter(isParsed)
  if (tasks.length === 0) throw invalid(read.flatMap((one) => (isParsed(one) ? [] : one)))
  const command = bindToKey(
    restrictTasks(submitTasksCommand(ports, ctx.caller, tasks), ctx.caller, tasks.length),
    ctx.caller,
    isAnyTaskAccepted,
  )
  const decided = await ports.commands.execute(command)
  let next = 0
  return Promise.all(
    read.map((one) =>
      batchItemOf(
        ports,
        { ...ctx, withPositions },
        isParsed(one) ? decided[next++] : { refused: invalid(one).message },
      ),
    ),
  )
}

type ParsedBatchItem = TaskInput | readonly Flaw[]

const isParsed = (read: ParsedBatchItem): read is TaskInput => 'action' in read

const batchTooLarge = (submitted: number, max: number): Refusal =>
  new Refusal('BATCH_TOO_LARGE', `The batch has ${submitted} tasks; at most ${max} are allowed`, {
    details: { submitted, max },
  })

async function parseBatchItem(
  ports: Pick<Ports, 'clock' | 'outbound'>,
  {
    item,
    index,
    shared,
  }: { readonly item: unknown; readonly index: number; readonly shared: Partial<SharedTaskFields> },
): Promise<ParsedBatchItem> {
  const at = `tasks.${index}`
  const read = readShape(taskInput, withSharedFields(item, shared), at)
  if (!read.ok) return read.flaws
  const task = read.value
  // The shared callback URL was checked with the batch.
  const isShared = task.callbackUrl === shared.callbackUrl
  const flaw =
    deadlineFlaw(task, { at, now: ports.clock.now() }) ??
    (isShared ? null : await callbackFlaw(ports, task.callbackUrl, at))
  return flaw === null ? task : [flaw]
}

/** Applies the shared fields to a task. The agent of the batch overrides that of the task. */
function withSharedFields(item: unknown, shared: Partial<SharedTaskFields>): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  const ownFields = item as InputObject
  const { agentId = ownFields['agentId'], callbackUrl } = shared
  return { ...ownFields, agentId, callbackUrl: ownFields['callbackUrl'] ?? callbackUrl }
}

const REJECTION_TEXTS: Readonly<Record<string, string>> = {
  budget: 'over budget',
  runs_per_day: 'the daily run limit is reached',
  agent_queue_full: 'the queue of the agent is full',
}

/** The outcome of one task of a batch. A task that could not be read was not stored and has no id. */
async function batchItemOf(
  ports: Ports,
  ctx: TaskContext & Pick<CallSize, 'withPositions'>,
  outcome: DecidedTask | undefined,
): Promise<TaskBatchItem> {
  if (outcome === undefined) throw new Error('the command returned no result for a task of the batch')
  if ('refused' in outcome) return { taskId: '', state: 'rejected', error: outcome.refused }
  const { answer } = outcome
  if (answer.kind === 'rejected') {
    const error = REJECTION_TEXTS[answer.why.reason] ?? 'the queue is full'
    return { taskId: answer.runId, state: 'rejected', error }
  }
  const known = ctx.withPositions ? await positionOf(portsOf(ports, ctx), ctx.caller.orgId, answer.runId) : null
  const position = known ?? null
  return { taskId: answer.runId, state: submittedStateOf(ctx, answer), ...(position === null ? {} : { position }) }
}
