import { agentId } from '../domain/ids.ts'
import type { Flaw } from '../domain/input.ts'
import { formatInstant, later, readMoment, type Instant } from '../domain/instant.ts'
import { NO_RETRIES } from '../domain/run/retry.ts'
import { policyOf } from '../domain/run/retry-policy.ts'
import { facadeStateOf, type FacadeState } from '../domain/run/run-words.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import { fieldAt } from '../contract/schema-flaws.ts'
import type { TaskCancelled, TaskInput, TaskReceipt } from '../features/tasks/schema.ts'
import type { Caller } from './caller.ts'
import { agentOn } from './desk/runs.ts'
import { submissionFor, submit, type Submission, type Submitted } from './desk/submit.ts'
import type { Live } from './live-port.ts'
import { overDailyLimit } from './daily-limit.ts'
import { bound } from './idempotent.ts'
import { overBudget } from './over-budget.ts'
import type { Ports } from './ports.ts'
import { makingOf, refuseCommand, type Making } from './rails/making.ts'
import { railedTasks } from './rails/tasks.ts'
import { cancelRunById } from './run-actions.ts'
import { findTask } from '../features/tasks/view.ts'
import { taskAgentFor } from './turn/turn.ts'
import type { Work } from './turn-port.ts'

/** Who hands in tasks, and what this node knows of them. */
export interface TaskContext {
  readonly caller: Caller
  readonly live: Live
}

/** Hands in a task. Bad input stores nothing; a full queue refuses it, and the rejected task keeps the record. */
export async function submitTask(ports: Ports, ctx: TaskContext, input: TaskInput): Promise<TaskReceipt> {
  const { agentId: agent, callbackUrl } = input
  // Nearly every task has no callback, and there is nothing to wait for.
  const flaw =
    pastFlaw(input, { at: '', now: ports.clock.now() }) ??
    (callbackUrl === undefined ? null : await callbackFlaw(ports, callbackUrl, ''))
  if (flaw !== null) throw invalid([flaw])
  const work = railedTasks(taskWork(ports, ctx.caller, [input]), ctx.caller)
  const [submitted] = await ports.turns.take(bound(work, ctx.caller, isAccepted))
  if (submitted === undefined) throw new Error('a task was handed in and nothing came of it')
  const { answer, createdAt, queued } = submitted
  if (answer.kind === 'rejected')
    throw overBudget(answer) ?? overDailyLimit(answer) ?? queueFull(ports, { answer, agent, queued })
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

/** The flaw of a task whose time is over already; null: it has none. */
export const pastFlaw = (
  { deadline }: TaskInput,
  { at, now }: { readonly at: string; readonly now: Instant },
): Flaw | null =>
  deadline === undefined || readMoment(deadline) > now
    ? null
    : { field: fieldAt(at, 'deadline'), value: deadline, message: 'is in the past', allowed: 'a later time' }

/** What is wrong with the address a task wants to be called back at; null: nothing. */
export async function callbackFlaw(
  { outbound }: Pick<Ports, 'outbound'>,
  url: string | undefined,
  at: string,
): Promise<Flaw | null> {
  const message = url === undefined ? null : await outbound.check(url, 'callback')
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
export function taskWork(ports: Ports, caller: Caller, tasks: readonly TaskInput[]): Work<readonly SubmittedTask[]> {
  const { orgId, trace, railed } = caller
  const usualMs = ports.settings().tasks.defaultDeadlineSeconds * 1_000
  const making = railed === undefined ? null : makingOf(railed)
  const agents = [...new Set(tasks.map((task) => agentId(task.agentId)))]
  const asked = tasks.map((task) => submissionOf(task, { trace, ...making }))
  return {
    orgId,
    needs: { agents },
    apply: (desk) => {
      for (const agent of agents) {
        taskAgentFor({ desk }, agent)
        refuseCommand(caller, agentOn(desk, agent).executorKind)
      }
      return asked.map((task) => {
        const queued = desk.allQueuedTasks.size
        const deadline = task.deadline ?? later(desk.now, usualMs)
        return { answer: submit(desk, { ...task, deadline }), createdAt: desk.now, queued }
      })
    },
  }
}

/** A task as it is submitted; without a deadline it has yet to get the usual one. */
function submissionOf(
  { priority = 0, deadline, retry_policy: policy, ...content }: TaskInput,
  by: Partial<Making> & Pick<Submission, 'trace'>,
): Submission {
  const { callbackUrl } = content
  return submissionFor({
    ...{ trigger: 'task', agentId: agentId(content.agentId), sessionKey: null, content, priority },
    deadline: deadline === undefined ? null : readMoment(deadline),
    retryPolicy: policy === undefined ? null : policyOf(policy, NO_RETRIES),
    delivery: callbackUrl === undefined ? null : { callback: callbackUrl },
    ...by,
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
