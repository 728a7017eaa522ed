import { invalid, Refusal } from '../contract/refusals.ts'
import type { TaskBatchItem } from '../contract/task.ts'
import type { Flaw } from '../core/input.ts'
import { instant } from '../core/instant.ts'
import { bound } from './idempotent.ts'
import type { Given } from '../core/input-fields.ts'
import type { Ports } from './ports.ts'
import { railedTasks } from './rails/tasks.ts'
import { readTask, type ReadTask } from './task-input.ts'
import { callbackFlaw, isAccepted, stateOf, taskWork, type SubmittedTask, type TaskContext } from './tasks.ts'

/** Most tasks of a batch. */
const MOST_IN_BATCH = 50

/** What the tasks of a batch have in common, as it was sent. */
export interface Shared {
  readonly agentId: unknown
  readonly callbackUrl?: unknown
}

/**
 * Hands in tasks, in their order. Each is decided by itself: what is wrong with one is told of it alone, and the others
 * go in. When there is something wrong with all of them, the batch is refused.
 */
export async function submitBatch(
  ports: Ports,
  ctx: TaskContext,
  batch: { readonly tasks: unknown; readonly shared: Shared | null },
): Promise<readonly TaskBatchItem[]> {
  const items = readItems(batch.tasks)
  const shared = batch.shared === null ? {} : await readShared(ports, batch.shared)
  const read = await Promise.all(items.map((item, index) => readItem(ports, { item, index, shared })))
  const tasks = read.filter(isRead)
  if (tasks.length === 0) throw invalid(read.flatMap((one) => (isRead(one) ? [] : one)))
  const work = bound(railedTasks(taskWork(ports, ctx.caller, tasks), ctx.caller, tasks.length), ctx.caller, isAccepted)
  const answers = [...(await ports.turns.take(work))]
  return read.map((one) => itemOf(ctx, isRead(one) ? answers.shift() : invalid(one).message))
}

type Read = ReadTask | readonly Flaw[]

const isRead = (read: Read): read is ReadTask => 'content' in read

function readItems(given: unknown): readonly unknown[] {
  const allowed = `1 to ${MOST_IN_BATCH} tasks`
  const flaw = (message: string, value?: unknown): Refusal => invalid([{ field: 'tasks', value, message, allowed }])
  if (given === undefined || given === null) throw flaw('is missing')
  if (!Array.isArray(given)) throw flaw('must be a list', given)
  if (given.length === 0) throw flaw('has no task in it')
  if (given.length <= MOST_IN_BATCH) return given
  const message = `A batch has at most ${MOST_IN_BATCH} tasks, and this one has ${given.length}`
  throw new Refusal('BATCH_TOO_LARGE', message, { details: { submitted: given.length, max: MOST_IN_BATCH } })
}

const ANY_TIME = instant(0)

/** The fields that all tasks have; what is wrong with one of these is wrong with the batch. */
async function readShared(ports: Pick<Ports, 'outbound'>, shared: Shared): Promise<Given> {
  const read = readTask({ ...shared, action: 'any' }, { at: '', now: ANY_TIME })
  if (!read.ok) throw invalid(read.flaws)
  const { agentId, callbackUrl } = read.value
  const flaw = await callbackFlaw(ports, callbackUrl, '')
  if (flaw !== null) throw invalid([flaw])
  return { agentId, ...(callbackUrl === null ? {} : { callbackUrl }) }
}

async function readItem(
  ports: Pick<Ports, 'clock' | 'outbound'>,
  { item, index, shared }: { readonly item: unknown; readonly index: number; readonly shared: Given },
): Promise<Read> {
  const at = `tasks.${index}`
  const task = readTask(merged(item, shared), { at, now: ports.clock.now() })
  if (!task.ok) return task.flaws
  const { callbackUrl } = task.value
  // The address that all share was judged with the batch.
  const flaw = callbackUrl === shared['callbackUrl'] ? null : await callbackFlaw(ports, callbackUrl, at)
  return flaw === null ? task.value : [flaw]
}

/** A batch is of one agent, and a task in it that names another is of that one all the same. */
function merged(item: unknown, shared: Given): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item
  const own = item as Given
  const callbackUrl = own['callbackUrl'] ?? shared['callbackUrl']
  return { ...own, ...shared, ...(callbackUrl === undefined ? {} : { callbackUrl }) }
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
