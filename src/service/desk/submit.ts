import { decideAdmission, type AdmissionFacts, type QueueLimits } from '../../domain/admission/admission.ts'
import type { AgentId, LaneName, RunId, SessionKey } from '../../domain/ids.ts'
import type { RunDelivery } from '../../core/delivery/run-delivery.ts'
import type { HeartbeatDelivery } from '../../core/heartbeat/heartbeat-delivery.ts'
import type { Instant } from '../../domain/instant.ts'
import { defaultLane } from '../../domain/queue/lanes.ts'
import type { Lineage } from '../../core/rails/railed.ts'
import { because, type Why } from '../../domain/reasons.ts'
import type { Cancellation } from '../../domain/run/cancellation.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import { isWaitingWork } from '../../domain/run/run.ts'
import { isHeld } from '../../domain/schedule/held.ts'
import { mergeContent, type MessageContent } from '../../domain/session/debounce.ts'
import { droppedWhy, type SessionFacts } from '../../domain/session/session.ts'
import type { SessionRules } from '../../core/session/session-rules.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { SessionRow } from '../../store/sessions.ts'
import { closedBudget } from './budgets.ts'
import { applyCancellations, cancelInSession } from './cancel.ts'
import { dailyRuns } from './daily-runs.ts'
import { pendingInSession, rulesOf, type AgentOnDesk, type Desk } from './desk.ts'
import { agentOn, makeRun, move, retryPolicyFor } from './runs.ts'

/** A message or a task on its way in. Everything about it was checked before it comes here. */
export interface Submission {
  readonly trigger: 'message' | 'task' | 'webhook' | 'heartbeat'
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  /** What the run is given: the content of a message, or whatever a task carries. */
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
  /** Whose it is and what it comes from, of those who have guard rails. */
  readonly owner?: string | null
  readonly lineage?: Lineage | null
  /** Where the result goes, if anywhere. */
  readonly delivery?: RunDelivery | HeartbeatDelivery | null
  /** Why it was handed in, where that says more than that it was let in. */
  readonly why?: Why | undefined
  /** The trace it belongs to. */
  readonly trace?: string | null | undefined
  /** What this message wants for itself; `maxConcurrent` sticks to the session. */
  readonly rules: Partial<SessionRules>
}

type Given = Pick<Submission, 'trigger' | 'agentId' | 'sessionKey' | 'content'>

const NO_RULES: Submission['rules'] = {}

/**
 * A submission that asks for nothing but what is given. Field by field, because all submissions then have one layout:
 * spreading defaults and input into each other costs a tenth of the time of a submission.
 */
export const submissionFor = <Stated extends Given>(stated: Stated & Partial<Submission>): Submission & Stated =>
  ({
    trigger: stated.trigger,
    agentId: stated.agentId,
    sessionKey: stated.sessionKey,
    content: stated.content,
    sender: stated.sender ?? null,
    sentAt: stated.sentAt ?? null,
    lane: stated.lane ?? null,
    priority: stated.priority ?? 0,
    notBefore: stated.notBefore ?? null,
    deadline: stated.deadline ?? null,
    retryPolicy: stated.retryPolicy ?? null,
    parentRunId: stated.parentRunId ?? null,
    owner: stated.owner ?? null,
    lineage: stated.lineage ?? null,
    delivery: stated.delivery ?? null,
    why: stated.why,
    trace: stated.trace ?? null,
    rules: stated.rules ?? NO_RULES,
  }) satisfies Submission as Submission & Stated

export type Submitted =
  | {
      readonly kind: 'accepted'
      readonly runId: RunId
      readonly state: 'queued' | 'waiting'
      readonly dropped: RunId | null
    }
  | { readonly kind: 'merged'; readonly runId: RunId }
  | { readonly kind: 'rejected'; readonly runId: RunId; readonly why: Why; readonly retryAfterMs: number | null }
  | { readonly kind: 'stale'; readonly runId: RunId; readonly why: Why }

/** Lets a submission through the gates of admission, or keeps the record of why not. */
export function submit(desk: Desk, submission: Submission): Submitted {
  const { trigger, sender, notBefore } = submission
  const closed = desk.budgets === null ? null : closedBudget(desk, spenderOf(submission))
  const facts = factsFor(desk, submission, closed?.why ?? null)
  const verdict = decideAdmission({ trigger, stamp: submission.sentAt ?? desk.now, sender, notBefore }, facts)
  switch (verdict.kind) {
    case 'reject': {
      const run = makeRun(desk, { ...rowOf(desk, submission), state: 'rejected', decision: verdict.why })
      const retryAfterMs = waitFor(desk, verdict.why.reason, closed) ?? verdict.retryAfterMs
      return { kind: 'rejected', runId: run.id, why: verdict.why, retryAfterMs }
    }
    case 'stale': {
      const run = makeRun(desk, { ...rowOf(desk, submission), state: 'cancelled', decision: verdict.why })
      return { kind: 'stale', runId: run.id, why: verdict.why }
    }
    case 'merge':
      return merge(desk, submission, verdict)
    case 'enter':
      return enter(desk, submission, verdict)
  }
}

/** When a budget or the day begins anew; null when nobody knows. */
function waitFor(desk: Desk, reason: string, budget: { readonly until: Instant | null } | null): number | null {
  if (reason === 'budget' && budget !== null) return budget.until === null ? null : budget.until - desk.now
  return reason === 'runs_per_day' && desk.daily !== null ? desk.daily.end - desk.now : null
}

function merge(
  desk: Desk,
  submission: Submission,
  verdict: { readonly into: RunId; readonly closesAt: Instant },
): Submitted {
  const into = desk.runs.get(verdict.into)
  if (into === undefined) throw new Error(`run ${verdict.into} is not on the desk`)
  // Only messages are ever merged.
  const content = submission.content as MessageContent
  into.payload = mergeContent(into.payload as MessageContent, content)
  into.notBefore = verdict.closesAt
  desk.changes.changed.add(into)
  desk.changes.merged.add(into)
  desk.changes.events.push({ kind: 'message.merged', subject: into.id, data: { message_ids: content.messageIds } })
  return { kind: 'merged', runId: into.id }
}

type Entered = Extract<ReturnType<typeof decideAdmission>, { kind: 'enter' }>

function enter(desk: Desk, submission: Submission, verdict: Entered): Submitted {
  interruptSession(desk, submission, verdict.interrupted)
  const closes = verdict.closes === null ? undefined : desk.runs.get(verdict.closes)
  if (closes !== undefined) move(desk, closes, { event: 'due', why: because('accepted', 'session.debounce_ms') })
  const run = makeRun(desk, {
    ...rowOf(desk, submission),
    state: verdict.notBefore === null ? 'queued' : 'waiting',
    notBefore: verdict.notBefore,
    debouncing: verdict.debouncing,
    interrupts: verdict.interrupts,
    decision: submission.why ?? verdict.why,
  })
  const dropped = verdict.dropped === null ? undefined : desk.runs.get(verdict.dropped)
  if (dropped !== undefined) {
    move(desk, dropped, { event: 'drop', why: droppedWhy(run.id) })
    desk.changes.events.push({
      kind: 'message.dropped',
      subject: dropped.id,
      data: { by: run.id, sender: dropped.sender },
    })
  }
  stick(desk, submission)
  return {
    kind: 'accepted',
    runId: run.id,
    state: verdict.notBefore === null ? 'queued' : 'waiting',
    dropped: verdict.dropped,
  }
}

/** What is active is asked to stop; what waits is cancelled, in pieces if there is much of it. */
function interruptSession(desk: Desk, { sessionKey }: Submission, interrupted: readonly Cancellation[]): void {
  if (sessionKey === null || interrupted.length === 0) return
  const waits = ({ runId }: Cancellation): boolean => {
    const run = desk.runs.get(runId)
    return run !== undefined && isWaitingWork(run)
  }
  applyCancellations(
    desk,
    interrupted.filter((one) => !waits(one)),
  )
  cancelInSession(desk, { key: sessionKey }, interrupted.filter(waits))
}

/** A wish for more (or less) concurrency stays with the session until it is changed. */
function stick(desk: Desk, { sessionKey, rules }: Submission): void {
  const session = sessionKey === null ? undefined : desk.sessions.get(sessionKey)
  if (session === undefined || rules.maxConcurrent === undefined) return
  if (rulesOf(desk, session).maxConcurrent === rules.maxConcurrent) return
  session.own = { ...session.own, maxConcurrent: rules.maxConcurrent }
  desk.changes.sessions.add(session)
}

const spenderOf = ({ agentId, content, owner = null }: Submission): Parameters<typeof closedBudget>[1] => ({
  agentId,
  owner,
  scheduleId: null,
  payload: content,
})

/** A cutoff that lies so far ahead was set by a clock that has been set back since; it would refuse everything. */
const MAX_CUTOFF_AHEAD_MS = 60_000

const cutoffOf = ({ cutoff }: SessionRow, now: Instant): Instant | null =>
  cutoff !== null && cutoff - now > MAX_CUTOFF_AHEAD_MS ? null : cutoff

function factsFor(desk: Desk, submission: Submission, budget: Why | null): AdmissionFacts {
  const { sessionKey } = submission
  const session = sessionKey === null ? undefined : desk.sessions.get(sessionKey)
  if (sessionKey !== null && session === undefined) throw new Error(`session ${sessionKey} is not on the desk`)
  return {
    now: desk.now,
    stopGraceMs: desk.settings.node.stopGraceMs,
    budget,
    limits: {
      tasks: submission.trigger === 'task' ? taskLimits(desk, submission.agentId) : null,
      runsPerDay: desk.daily === null ? null : dailyRuns(desk),
    },
    session: session === undefined ? null : sessionFacts(desk, session, submission),
  }
}

function sessionFacts(
  desk: Desk,
  session: NonNullable<ReturnType<Desk['sessions']['get']>>,
  submission: Submission,
): SessionFacts {
  // A held occurrence has no place in its session yet.
  const runs = pendingInSession(desk, session).filter((run) => !isHeld(run))
  const open = runs.find((run) => run.debouncing && run.sender !== null && run.sender === submission.sender)
  return {
    rules: { ...rulesOf(desk, session), ...submission.rules },
    runs,
    cutoff: cutoffOf(session, desk.now),
    open:
      open === undefined || open.notBefore === null
        ? null
        : { runId: open.id, firstAt: open.createdAt, closesAt: open.notBefore, interrupts: open.interrupts },
  }
}

function taskLimits(desk: Desk, agentId: AgentId): NonNullable<QueueLimits['tasks']> {
  const queued = desk.allQueuedTasks.size
  const { maxQueue, maxPerAgent } = desk.settings.tasks
  return { agent: agentId, queued, queuedForAgent: desk.queuedTasks.get(agentId)?.size ?? 0, maxQueue, maxPerAgent }
}

function rowOf(
  desk: Desk,
  submission: Submission,
): Pick<RunRow, 'id' | 'agentId' | 'executorKey' | 'jobRunId' | 'trigger' | 'lane' | 'payload'> & Partial<RunRow> {
  const { trigger, agentId, sessionKey, parentRunId } = submission
  const agent = agentOn(desk, agentId)
  const id = desk.chance.newRunId(trigger === 'task' ? 'task' : 'run', desk.now)
  return {
    id,
    agentId,
    executorKey: agent.executorKey,
    jobRunId: id,
    trigger,
    lane: submission.lane ?? defaultLane({ trigger, hasParent: parentRunId !== null }),
    payload: submission.content,
    sessionKey,
    generation: sessionKey === null ? 0 : (desk.sessions.get(sessionKey)?.generation ?? 0),
    sender: submission.sender,
    priority: submission.priority,
    deadline: submission.deadline,
    parentRunId,
    owner: submission.owner ?? null,
    lineage: submission.lineage ?? null,
    trace: submission.trace ?? null,
    delivery: submission.delivery ?? null,
    timeoutSeconds: agent.timeoutSeconds,
    retryPolicy: submission.retryPolicy ?? retryPolicyOf(desk, agent, trigger),
  }
}

/** What an agent says about retries is meant for its own turns; a task is repeated only when it asks itself. */
const retryPolicyOf = (desk: Desk, agent: AgentOnDesk, trigger: Submission['trigger']): RetryPolicy =>
  retryPolicyFor(desk, trigger === 'task' ? [] : [agent], { trigger, executorKind: agent.executorKind })
