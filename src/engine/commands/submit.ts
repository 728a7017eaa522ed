import type { Lineage } from '../../domain/access/restrictions.ts'
import { type AdmissionFacts, decideAdmission, type QueueLimits } from '../../domain/admission/admission.ts'
import type { RunDelivery } from '../../domain/delivery/delivery.ts'
import type { HeartbeatDelivery } from '../../domain/heartbeat/heartbeat-reply.ts'
import type { AgentId, LaneName, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { defaultLane } from '../../domain/queue/lanes.ts'
import { because, type Why } from '../../domain/reasons.ts'
import type { Cancellation } from '../../domain/run/cancellation.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import { isWaitingRun } from '../../domain/run/run.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import { mergeContent, type MessageContent } from '../../domain/session/debounce.ts'
import {
  droppedWhy,
  INTERRUPTED,
  runOfSession,
  type SessionFacts,
  sessionOfRun,
  type SessionRules,
} from '../../domain/session/session.ts'
import { closedBudget } from './budgets.ts'
import { applyCancellations, cancelInSession } from './cancel.ts'
import { runsOfDay } from './daily-runs.ts'
import { agentInState, createRun, applyEvent, retryPolicyFor } from './runs.ts'
import {
  behindIn,
  type LoadedAgent,
  type OrgState,
  pendingInSession,
  indexRun,
  rulesOf,
  unindexRun,
} from '../org-state/org-state.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { SessionRow } from '../../features/sessions/store.ts'

/** The pending run whose own session has this key; undefined: there is none, or it has joined the session. */
export function runToJoin({ runs }: OrgState, key: SessionKey): RunRow | undefined {
  const of = runOfSession(key)
  const run = of === null ? undefined : runs.get(of.runId)
  return run?.sessionKey === null && sessionOfRun(run) === key ? run : undefined
}

/**
 * Puts a run into its own session once that session exists: messages sent there wait for the run, and /stop finds it.
 * Its row has no session, because the key derives from the run.
 */
export function joinSession(state: OrgState, key: SessionKey): RunRow | undefined {
  const run = runToJoin(state, key)
  if (run === undefined) return undefined
  unindexRun(state, run)
  run.sessionKey = key
  indexRun(state, run)
  return run
}

/** A message or task to admit. All its fields are validated before. */
export interface Submission {
  readonly trigger: 'message' | 'task' | 'webhook' | 'heartbeat'
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  /** The payload: the content of a message, or any object of a task. */
  readonly content: MessageContent | Readonly<Record<string, unknown>>
  readonly sender: string | null
  /** When it was sent, by the channel's own clock if it has one. Null: when it is received. */
  readonly sentAt: Instant | null
  readonly lane: LaneName | null
  readonly priority: number
  readonly notBefore: Instant | null
  readonly deadline: Instant | null
  readonly retryPolicy: RetryPolicy | null
  readonly parentRunId: RunId | null
  /** Owner and lineage of a submission by a restricted key. */
  readonly owner?: string | null
  readonly lineage?: Lineage | null
  /** The destination of the result, if any. */
  readonly delivery?: RunDelivery | HeartbeatDelivery | null
  /** Why it was submitted, where that is more specific than that it was admitted. */
  readonly why?: Why | undefined
  /** The trace it belongs to. */
  readonly trace?: string | null | undefined
  /** Session rules of this message; `maxConcurrent` is stored in the session. */
  readonly rules: Partial<SessionRules>
}

type RequiredFields = Pick<Submission, 'trigger' | 'agentId' | 'sessionKey' | 'content'>

const NO_RULES: Submission['rules'] = {}

/**
 * A submission with defaults. Written field by field, because all submissions then have one object layout: spreading
 * defaults and input takes a tenth of the time of a submission.
 */
export const submissionFor = <Stated extends RequiredFields>(
  given: Stated & Partial<Submission>,
): Submission & Stated =>
  ({
    trigger: given.trigger,
    agentId: given.agentId,
    sessionKey: given.sessionKey,
    content: given.content,
    sender: given.sender ?? null,
    sentAt: given.sentAt ?? null,
    lane: given.lane ?? null,
    priority: given.priority ?? 0,
    notBefore: given.notBefore ?? null,
    deadline: given.deadline ?? null,
    retryPolicy: given.retryPolicy ?? null,
    parentRunId: given.parentRunId ?? null,
    owner: given.owner ?? null,
    lineage: given.lineage ?? null,
    delivery: given.delivery ?? null,
    why: given.why,
    trace: given.trace ?? null,
    rules: given.rules ?? NO_RULES,
  }) satisfies Submission as Submission & Stated

export type SubmitResult =
  | {
      readonly kind: 'accepted'
      readonly runId: RunId
      readonly state: 'queued' | 'waiting'
      readonly dropped: RunId | null
    }
  | { readonly kind: 'merged'; readonly runId: RunId }
  | { readonly kind: 'rejected'; readonly runId: RunId; readonly why: Why; readonly retryAfterMs: number | null }
  | { readonly kind: 'stale'; readonly runId: RunId; readonly why: Why }

/** Decides the admission of a submission, and records it as a run even when it is refused. */
export function submit(state: OrgState, submission: Submission): SubmitResult {
  const { trigger, sender, notBefore } = submission
  const closed = state.budgets === null ? null : closedBudget(state, spenderOf(submission))
  const facts = admissionFactsOf(state, submission, closed?.why ?? null)
  const verdict = decideAdmission({ trigger, sentAt: submission.sentAt ?? state.now, sender, notBefore }, facts)
  switch (verdict.kind) {
    case 'reject': {
      const run = createRun(state, { ...runFieldsOf(state, submission), state: 'rejected', decision: verdict.why })
      const retryAfterMs = refusalWaitMs(state, verdict.why.reason, closed) ?? verdict.retryAfterMs
      return { kind: 'rejected', runId: run.id, why: verdict.why, retryAfterMs }
    }
    case 'stale': {
      const run = createRun(state, { ...runFieldsOf(state, submission), state: 'cancelled', decision: verdict.why })
      return { kind: 'stale', runId: run.id, why: verdict.why }
    }
    case 'merge':
      return merge(state, submission, verdict)
    case 'enter':
      return admitSubmission(state, submission, verdict)
  }
}

/** The wait in ms until a budget or the day starts anew; null when unknown. */
function refusalWaitMs(
  state: OrgState,
  reason: string,
  budget: { readonly until: Instant | null } | null,
): number | null {
  if (reason === 'budget' && budget !== null) return budget.until === null ? null : budget.until - state.now
  return reason === 'runs_per_day' && state.daily !== null ? state.daily.end - state.now : null
}

function merge(
  state: OrgState,
  submission: Submission,
  verdict: { readonly into: RunId; readonly closesAt: Instant },
): SubmitResult {
  const into = state.runs.get(verdict.into)
  if (into === undefined) throw new Error(`run ${verdict.into} is not loaded`)
  // Only messages are ever merged.
  const content = submission.content as MessageContent
  into.payload = mergeContent(into.payload as MessageContent, content)
  into.notBefore = verdict.closesAt
  state.changes.changed.add(into)
  state.changes.merged.add(into)
  state.changes.events.push({ kind: 'message.merged', subject: into.id, data: { message_ids: content.messageIds } })
  return { kind: 'merged', runId: into.id }
}

type AdmittedVerdict = Extract<ReturnType<typeof decideAdmission>, { kind: 'enter' }>

function admitSubmission(state: OrgState, submission: Submission, verdict: AdmittedVerdict): SubmitResult {
  interruptSession(state, submission, verdict)
  const closes = verdict.closes === null ? undefined : state.runs.get(verdict.closes)
  if (closes !== undefined) applyEvent(state, closes, { event: 'due', why: because('accepted', 'session.debounce_ms') })
  const run = createRun(state, {
    ...runFieldsOf(state, submission),
    state: verdict.notBefore === null ? 'queued' : 'waiting',
    notBefore: verdict.notBefore,
    debouncing: verdict.debouncing,
    interrupts: verdict.interrupts,
    decision: submission.why ?? verdict.why,
  })
  const dropped = verdict.dropped === null ? undefined : state.runs.get(verdict.dropped)
  if (dropped !== undefined) {
    applyEvent(state, dropped, { event: 'drop', why: droppedWhy(run.id) })
    state.changes.events.push({
      kind: 'message.dropped',
      subject: dropped.id,
      data: { by: run.id, sender: dropped.sender },
    })
  }
  storeConcurrency(state, submission)
  return {
    kind: 'accepted',
    runId: run.id,
    state: verdict.notBefore === null ? 'queued' : 'waiting',
    dropped: verdict.dropped,
  }
}

/** Asks active runs to stop and cancels waiting ones, in pieces if there are many. */
function interruptSession(state: OrgState, { sessionKey }: Submission, verdict: AdmittedVerdict): void {
  const { interrupted, interrupts } = verdict
  if (sessionKey === null || !interrupts) return
  const waits = ({ runId }: Cancellation): boolean => {
    const run = state.runs.get(runId)
    return run !== undefined && isWaitingRun(run)
  }
  applyCancellations(
    state,
    interrupted.filter((one) => !waits(one)),
  )
  cancelInSession(state, { key: sessionKey }, { cancellations: interrupted.filter(waits), why: INTERRUPTED })
}

/** Stores a requested `maxConcurrent` in the session until it is changed. */
function storeConcurrency(state: OrgState, { sessionKey, rules }: Submission): void {
  const session = sessionKey === null ? undefined : state.sessions.get(sessionKey)
  if (session === undefined || rules.maxConcurrent === undefined) return
  if (rulesOf(state, session).maxConcurrent === rules.maxConcurrent) return
  session.own = { ...session.own, maxConcurrent: rules.maxConcurrent }
  state.changes.sessions.add(session)
}

const spenderOf = ({ agentId, content, owner = null }: Submission): Parameters<typeof closedBudget>[1] => ({
  agentId,
  owner,
  scheduleId: null,
  payload: content,
})

/** A cutoff further ahead was set before the clock was set back; it would refuse everything. */
const MAX_CUTOFF_AHEAD_MS = 60_000

const cutoffOf = ({ cutoff }: SessionRow, now: Instant): Instant | null =>
  cutoff !== null && cutoff - now > MAX_CUTOFF_AHEAD_MS ? null : cutoff

function admissionFactsOf(state: OrgState, submission: Submission, budget: Why | null): AdmissionFacts {
  const { sessionKey } = submission
  const session = sessionKey === null ? undefined : state.sessions.get(sessionKey)
  if (sessionKey !== null && session === undefined) throw new Error(`session ${sessionKey} is not loaded`)
  return {
    now: state.now,
    stopGraceMs: state.settings.node.stopGraceMs,
    budget,
    limits: {
      tasks: submission.trigger === 'task' ? taskLimits(state, submission.agentId) : null,
      runsPerDay: state.daily === null ? null : runsOfDay(state),
    },
    session: session === undefined ? null : sessionFacts(state, session, submission),
  }
}

function sessionFacts(
  state: OrgState,
  session: NonNullable<ReturnType<OrgState['sessions']['get']>>,
  submission: Submission,
): SessionFacts {
  // A held occurrence has no position in its session yet.
  const runs = pendingInSession(state, session).filter((run) => !isHeld(run))
  const open = runs.find((run) => run.debouncing && run.sender !== null && run.sender === submission.sender)
  return {
    rules: { ...rulesOf(state, session), ...submission.rules },
    runs,
    behind: behindIn(state, session),
    cutoff: cutoffOf(session, state.now),
    open:
      open === undefined || open.notBefore === null
        ? null
        : { runId: open.id, firstAt: open.createdAt, closesAt: open.notBefore, interrupts: open.interrupts },
  }
}

/** Queued tasks of all agents, in memory and in the backlog. */
export const countQueuedTasks = ({ allQueuedTasks, backlog }: OrgState): number => allQueuedTasks.size + backlog.tasks

function taskLimits(state: OrgState, agentId: AgentId): NonNullable<QueueLimits['tasks']> {
  const queuedForAgent = (state.queuedTasks.get(agentId)?.size ?? 0) + (state.backlog.tasksOf.get(agentId) ?? 0)
  const { maxQueue, maxPerAgent } = state.settings.tasks
  return { agent: agentId, queued: countQueuedTasks(state), queuedForAgent, maxQueue, maxPerAgent }
}

function runFieldsOf(
  state: OrgState,
  submission: Submission,
): Pick<RunRow, 'id' | 'agentId' | 'executorKey' | 'jobRunId' | 'trigger' | 'lane' | 'payload'> & Partial<RunRow> {
  const { trigger, agentId, sessionKey, parentRunId } = submission
  const agent = agentInState(state, agentId)
  const id = state.randomSource.newRunId(trigger === 'task' ? 'task' : 'run', state.now)
  return {
    id,
    agentId,
    executorKey: agent.executorKey,
    jobRunId: id,
    trigger,
    lane: submission.lane ?? defaultLane({ trigger, hasParent: parentRunId !== null }),
    payload: submission.content,
    sessionKey,
    generation: sessionKey === null ? 0 : (state.sessions.get(sessionKey)?.generation ?? 0),
    sender: submission.sender,
    priority: submission.priority,
    deadline: submission.deadline,
    parentRunId,
    owner: submission.owner ?? null,
    lineage: submission.lineage ?? null,
    trace: submission.trace ?? null,
    delivery: submission.delivery ?? null,
    timeoutSeconds: agent.timeoutSeconds,
    retryPolicy: submission.retryPolicy ?? submissionRetryPolicy(state, agent, trigger),
  }
}

/** An agent's retry policy applies to messages; a task is retried only when it has a policy of its own. */
const submissionRetryPolicy = (state: OrgState, agent: LoadedAgent, trigger: Submission['trigger']): RetryPolicy =>
  retryPolicyFor(state, trigger === 'task' ? [] : [agent], { trigger, executorKind: agent.executorKind })
