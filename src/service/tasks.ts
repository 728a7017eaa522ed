import { agentId, type OrgId } from '../core/ids.ts'
import { integerField, parseFields, type Parsed } from '../core/input.ts'
import { formatInstant, later, parseInstant, type Instant } from '../core/instant.ts'
import { facadeStateOf } from '../core/run/run-words.ts'
import { NO_RETRIES } from '../core/run/retry.ts'
import { parseRetryPolicy } from '../core/run/retry-policy.ts'
import { invalid, Refusal } from '../contract/refusals.ts'
import type { TaskInput, TaskReceipt } from '../contract/task.ts'
import { submit, type Submission, type Submitted } from './desk/submit.ts'
import { parseJson, parseObject, textField } from './input-fields.ts'
import type { Live } from './live-port.ts'
import { overDailyLimit } from './daily-limit.ts'
import { once } from './idempotent.ts'
import { onceOf, read, refusePast } from './messages.ts'
import { overBudget } from './over-budget.ts'
import type { Ports } from './ports.ts'
import { taskAgentFor } from './turn/turn.ts'
import type { Work } from './turn-port.ts'

const optionalText = textField({ min: 0, max: 10_000 })

const FIELDS = {
  agentId: textField({ min: 1, max: 512 }),
  action: textField({ min: 1, max: 512 }),
  tabId: optionalText,
  selector: optionalText,
  ref: optionalText,
  params: parseParams,
  priority: integerField({ min: -2_147_483_648, max: 2_147_483_647 }),
  deadline: parseInstant,
  callbackUrl: optionalText,
  retry_policy: (field: string, value: unknown) => parseRetryPolicy(field, value, NO_RETRIES),
}

function parseParams(field: string, value: unknown): Parsed<unknown> {
  const object = parseObject(field, value)
  return object.ok ? parseJson(field, object.value) : object
}

export interface TaskContext {
  readonly orgId: OrgId
  readonly live: Live
}

/** Hands in a task. A full queue refuses it, and the rejected task keeps the record. */
export async function submitTask(
  ports: Ports,
  ctx: TaskContext & { readonly once?: string | undefined },
  input: TaskInput,
): Promise<TaskReceipt> {
  const work = taskWork(ports, ctx.orgId, input)
  const bound = ctx.once === undefined ? null : onceOf('task', { key: ctx.once, body: input })
  const { submitted, createdAt } = await ports.turns.take(
    bound === null ? work : once(work, bound, (answer) => answer.submitted.kind !== 'rejected'),
  )
  if (submitted.kind === 'rejected')
    throw overBudget(submitted) ?? overDailyLimit(submitted) ?? queueFull(input.agentId, submitted)
  return receiptOf(ctx, submitted, createdAt)
}

/** A batch keeps its order; each task is decided by itself. */
export async function submitTasks(
  ports: Ports,
  ctx: TaskContext,
  inputs: readonly TaskInput[],
): Promise<readonly { readonly taskId: string; readonly state: string; readonly error?: string }[]> {
  if (inputs.length < 1 || inputs.length > 50)
    throw invalid([{ field: 'tasks', value: inputs.length, message: 'must be 1 to 50 tasks', allowed: '1 to 50' }])
  // All are read before the first is handed in: bad input changes nothing.
  const works = inputs.map((input) => taskWork(ports, ctx.orgId, input))
  const answers = await Promise.all(works.map((work) => ports.turns.take(work)))
  return answers.map(({ submitted }) =>
    submitted.kind === 'rejected'
      ? {
          taskId: submitted.runId,
          state: 'rejected',
          error: REJECTIONS[submitted.why.reason] ?? 'queue full',
        }
      : { taskId: submitted.runId, state: stateOf(ctx, submitted) },
  )
}

const REJECTIONS: Readonly<Record<string, string>> = {
  budget: 'over budget',
  runs_per_day: 'no more runs today',
}

interface SubmittedTask {
  readonly submitted: Submitted
  readonly createdAt: Instant
}

function taskWork(ports: Ports, orgId: OrgId, input: TaskInput): Work<SubmittedTask> {
  const known = Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(FIELDS, name)))
  const fields = read(parseFields('', known, FIELDS))
  const missing = (['agentId', 'action'] as const).filter((name) => fields[name] === undefined)
  if (missing.length > 0) throw invalid(missing.map((field) => ({ field, value: undefined, message: 'is missing' })))
  refusePast(fields.deadline, ports.clock.now())
  const { agentId: agent = '', deadline, retry_policy: retryPolicy, priority, ...content } = fields
  const submission: Submission = {
    trigger: 'task',
    agentId: agentId(agent),
    sessionKey: null,
    content: { agentId: agent, ...content },
    sender: null,
    sentAt: null,
    lane: null,
    priority: priority ?? 0,
    notBefore: null,
    deadline: deadline ?? null,
    retryPolicy: retryPolicy ?? null,
    parentRunId: null,
    rules: {},
  }
  const usualMs = ports.settings().tasks.defaultDeadlineSeconds * 1_000
  return {
    orgId,
    needs: { agents: [submission.agentId] },
    apply: (desk) => {
      taskAgentFor({ desk }, submission.agentId)
      const submitted = submit(desk, { ...submission, deadline: submission.deadline ?? later(desk.now, usualMs) })
      return { submitted, createdAt: desk.now }
    },
  }
}

function queueFull(agent: string, { runId, why, retryAfterMs }: Extract<Submitted, { kind: 'rejected' }>): Refusal {
  return new Refusal('QUEUE_FULL', `The queue is full for agent ${agent}; the task is kept as rejected ${runId}`, {
    runId,
    retryAfterMs,
    details: { agentId: agent, ...why.evidence, taskId: runId },
  })
}

function receiptOf(ctx: TaskContext, submitted: Submitted, createdAt: Instant): TaskReceipt {
  return {
    taskId: submitted.runId,
    state: stateOf(ctx, submitted),
    position: ctx.live.positionOf(ctx.orgId, submitted.runId),
    createdAt: formatInstant(createdAt),
  }
}

const stateOf = (ctx: TaskContext, { runId }: Submitted): string =>
  facadeStateOf(ctx.live.stateOf(ctx.orgId, runId) ?? 'queued')
