import { invalid, Refusal } from '../api/refusals.ts'
import { readShape } from '../contract/read-shape.ts'
import {
  MAX_IN_BATCH,
  taskInput,
  type TaskBatchInput,
  type TaskBatchItem,
  type TaskInput,
} from '../features/tasks/schema.ts'
import type { Flaw } from '../domain/input.ts'
import { bound } from './idempotent.ts'
import type { Given } from '../domain/input-fields.ts'
import type { Ports } from './ports.ts'
import { railedTasks } from './rails/tasks.ts'
import { callbackFlaw, isAccepted, pastFlaw, stateOf, taskWork, type SubmittedTask, type TaskContext } from './tasks.ts'

/** What the tasks of a batch have in common. */
type Shared = Pick<TaskBatchInput, 'agentId' | 'callbackUrl'>

/**
 * Hands in tasks, in their order. Each is decided by itself: what is wrong with one is told of it alone, and the others
 * go in. When there is something wrong with all of them, the batch is refused.
 */
export async function submitBatch(
  ports: Ports,
  ctx: TaskContext,
  { tasks: items, ...shared }: Partial<Shared> & { readonly tasks: readonly unknown[] },
): Promise<readonly TaskBatchItem[]> {
  if (items.length > MAX_IN_BATCH) throw tooLarge(items.length)
  const flaw = await callbackFlaw(ports, shared.callbackUrl, '')
  if (flaw !== null) throw invalid([flaw])
  const read = await Promise.all(items.map((item, index) => readItem(ports, { item, index, shared })))
  const tasks = read.filter(isRead)
  if (tasks.length === 0) throw invalid(read.flatMap((one) => (isRead(one) ? [] : one)))
  const work = bound(railedTasks(taskWork(ports, ctx.caller, tasks), ctx.caller, tasks.length), ctx.caller, isAccepted)
  const answers = [...(await ports.turns.take(work))]
  return read.map((one) => itemOf(ctx, isRead(one) ? answers.shift() : invalid(one).message))
}

type Read = TaskInput | readonly Flaw[]

const isRead = (read: Read): read is TaskInput => 'action' in read

const tooLarge = (submitted: number): Refusal =>
  new Refusal('BATCH_TOO_LARGE', `A batch has at most ${MAX_IN_BATCH} tasks, and this one has ${submitted}`, {
    details: { submitted, max: MAX_IN_BATCH },
  })

async function readItem(
  ports: Pick<Ports, 'clock' | 'outbound'>,
  { item, index, shared }: { readonly item: unknown; readonly index: number; readonly shared: Partial<Shared> },
): Promise<Read> {
  const at = `tasks.${index}`
  const read = readShape(taskInput, merged(item, shared), at)
  if (!read.ok) return read.flaws
  const task = read.value
  // The address that all share was judged with the batch.
  const isShared = task.callbackUrl === shared.callbackUrl
  const flaw =
    pastFlaw(task, { at, now: ports.clock.now() }) ??
    (isShared ? null : await callbackFlaw(ports, task.callbackUrl, at))
  return flaw === null ? task : [flaw]
}

/** A batch is of one agent, and a task in it that names another is of that one all the same. */
function merged(item: unknown, shared: Partial<Shared>): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  const own = item as Given
  const { agentId = own['agentId'], callbackUrl } = shared
  return { ...own, agentId, callbackUrl: own['callbackUrl'] ?? callbackUrl }
}

const REJECTIONS: Readonly<Record<string, string>> = {
  budget: 'over budget',
  runs_per_day: 'no more runs today',
  agent_queue_full: 'the queue of the agent is full',
}

/** What is told of one task. Nothing was stored of what could not be read, so that has no id. */
function itemOf(ctx: TaskContext, became: SubmittedTask | string | undefined): TaskBatchItem {
  if (became === undefined) throw new Error('a task was handed in and nothing came of it')
  if (typeof became === 'string') return { taskId: '', state: 'rejected', error: became }
  const { answer } = became
  if (answer.kind === 'rejected') {
    const error = REJECTIONS[answer.why.reason] ?? 'the queue is full'
    return { taskId: answer.runId, state: 'rejected', error }
  }
  const position = ctx.live.positionOf(ctx.caller.orgId, answer.runId)
  return { taskId: answer.runId, state: stateOf(ctx, answer), ...(position === null ? {} : { position }) }
}
