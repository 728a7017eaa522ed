import { agentId, type AgentId } from '../core/ids.ts'
import type { Flaw } from '../core/input.ts'
import { formatInstant, later, type Instant } from '../core/instant.ts'
import { facadeStateOf, type FacadeState } from '../core/run/run-words.ts'
import { invalid, Refusal } from '../contract/refusals.ts'
import type { TaskCancelled, TaskInput, TaskReceipt } from '../contract/task.ts'
import type { Caller } from './caller.ts'
import type { Desk } from './desk/desk.ts'
import { agentOn } from './desk/runs.ts'
import { submit, type Submitted } from './desk/submit.ts'
import { fieldAt, readTask, type ReadTask } from './task-input.ts'
import type { Live } from './live-port.ts'
import { overDailyLimit } from './daily-limit.ts'
import { bound } from './idempotent.ts'
import { overBudget } from './over-budget.ts'
import type { Ports } from './ports.ts'
import { makingOf, refuseCommand, type Making } from './rails/making.ts'
import { railedTasks } from './rails/tasks.ts'
import { cancelRunById } from './run-actions.ts'
import { findTask } from './tasks-view.ts'
import { taskAgentFor } from './turn/turn.ts'
import type { Work } from './turn-port.ts'

/** Who hands in tasks, and what this node knows of them. */
export interface TaskContext {
  readonly caller: Caller
  readonly live: Live
}

/** Hands in a task. Bad input stores nothing; a full queue refuses it, and the rejected task keeps the record. */
export async function submitTask(ports: Ports, ctx: TaskContext, input: TaskInput): Promise<TaskReceipt> {
  const read = readTask(input, { at: '', now: ports.clock.now() })
  if (!read.ok) throw invalid(read.flaws)
  // Nearly every task has none, and there is nothing to wait for.
  const flaw = read.value.callbackUrl === null ? null : await callbackFlaw(ports, read.value.callbackUrl, '')
  if (flaw !== null) throw invalid([flaw])
  const work = railedTasks(taskWork(ports, ctx.caller, [read.value]), ctx.caller)
  const [submitted] = await ports.turns.take(bound(work, ctx.caller, isAccepted))
  if (submitted === undefined) throw new Error('a task was handed in and nothing came of it')
  const { answer, createdAt, queued } = submitted
  if (answer.kind === 'rejected')
    throw (
      overBudget(answer) ?? overDailyLimit(answer) ?? queueFull(ports, { answer, agent: read.value.agentId, queued })
    )
  return {
    taskId: answer.runId,
    state: stateOf(ctx, answer),
    // What has started already waits behind nobody.
    position: ctx.live.positionOf(ctx.caller.orgId, answer.runId) ?? 0,
    createdAt: formatInstant(createdAt),
  }
}

/** Ends a task. What has ended, or is ending because somebody asked before, is refused. */
export async function cancelTask(ports: Ports, caller: Caller, id: string): Promise<TaskCancelled> {
  const run = await findTask(ports, caller.orgId, id)
  if (run.state === 'stopping') throw hasEnded(id, facadeStateOf(run.state))
  try {
    await cancelRunById(ports, caller, id)
  } catch (error) {
    if (error instanceof Refusal && error.code === 'ALREADY_ENDED') throw hasEnded(id, facadeStateOf(run.state), error)
    throw error
  }
  return { status: 'cancelled', taskId: id }
}

const hasEnded = (id: string, state: string, cause?: Refusal): Refusal =>
  new Refusal('CONFLICT', `Task ${id} has already ended: ${state}`, { cause })

/** What is wrong with the address a task wants to be called back at; null: nothing. */
export async function callbackFlaw(
  { outbound }: Pick<Ports, 'outbound'>,
  url: string | null,
  at: string,
): Promise<Flaw | null> {
  const message = url === null ? null : await outbound.check(url, 'callback')
  return message === null ? null : { field: fieldAt(at, 'callbackUrl'), value: url, message }
}

/** What became of a task, and how many were queued in the org when it was decided. */
export interface SubmittedTask {
  readonly answer: Submitted
  readonly createdAt: Instant
  readonly queued: number
}

/** Whether anything came of tasks, so that a repetition is answered as they were. */
export const isAccepted = (tasks: readonly SubmittedTask[]): boolean =>
  tasks.some(({ answer }) => answer.kind !== 'rejected')

/** Tasks as work of a turn, in their order; each is decided by itself. */
export function taskWork(ports: Ports, caller: Caller, tasks: readonly ReadTask[]): Work<readonly SubmittedTask[]> {
  const { orgId, trace, railed } = caller
  const usualMs = ports.settings().tasks.defaultDeadlineSeconds * 1_000
  const making = railed === undefined ? null : makingOf(railed)
  const agents = [...new Set(tasks.map((task) => agentId(task.agentId)))]
  return {
    orgId,
    needs: { agents },
    apply: (desk) => {
      for (const agent of agents) {
        taskAgentFor({ desk }, agent)
        refuseCommand(caller, agentOn(desk, agent).executorKind)
      }
      return tasks.map((task) => {
        const queued = desk.allQueuedTasks.size
        return { answer: submitOn(desk, task, { usualMs, trace, making }), createdAt: desk.now, queued }
      })
    },
  }
}

interface Submitting {
  readonly usualMs: number
  readonly trace: Caller['trace']
  /** Whose the task is; null: nobody's in particular. */
  readonly making: Making | null
}

function submitOn(desk: Desk, task: ReadTask, { usualMs, trace, making }: Submitting): Submitted {
  const agent: AgentId = agentId(task.agentId)
  return submit(desk, {
    ...{ trigger: 'task', agentId: agent, sessionKey: null, content: task.content, sender: null, sentAt: null },
    ...{ lane: null, priority: task.priority, notBefore: null, retryPolicy: task.retryPolicy, parentRunId: null },
    deadline: task.deadline ?? later(desk.now, usualMs),
    delivery: task.callbackUrl === null ? null : { callback: task.callbackUrl },
    rules: {},
    trace,
    ...making,
  })
}

type Rejected = Extract<Submitted, { kind: 'rejected' }>

function queueFull(
  ports: Pick<Ports, 'settings'>,
  { answer, agent, queued }: { readonly answer: Rejected; readonly agent: string; readonly queued: number },
): Refusal {
  const { maxQueue, maxPerAgent } = ports.settings().tasks
  const { runId: id, retryAfterMs } = answer
  return new Refusal('QUEUE_FULL', `${fullText(answer, agent)}; the task is kept as rejected ${id}`, {
    runId: id,
    retryAfterMs,
    details: { agentId: agent, queued, maxQueue, maxPerAgent, taskId: id },
  })
}

const fullText = ({ why }: Rejected, agent: string): string =>
  why.reason === 'agent_queue_full' ? `The queue of agent ${agent} is full` : 'The queue is full'

/** The state of a task that was just handed in, in the words of the façade. */
export const stateOf = ({ live, caller }: TaskContext, { runId: id }: Submitted): FacadeState =>
  facadeStateOf(live.stateOf(caller.orgId, id) ?? 'queued')
