import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import {
  admitToSession,
  type Arrival,
  admitWithoutSession,
  type SessionAdmission,
  type SessionFacts,
} from '../session/session.ts'

/**
 * The input of the decision whether a submission becomes a run. The gates have a fixed order, and the first closed
 * one decides: budget → queue limits → session mode → session cap. Permission, validation, idempotency key and
 * draining are checked when the request arrives, before the org is locked; see docs/architecture.md.
 */
export interface AdmissionFacts {
  readonly now: Instant
  readonly stopGraceMs: number
  /** Set when a budget with action `skip` or `pause` is exhausted. */
  readonly budget: Why | null
  readonly limits: QueueLimits
  /** Null for work outside a session. */
  readonly session: SessionFacts | null
}

export interface QueueLimits {
  /** Only for trigger `task`; the counts are those of this org. */
  readonly tasks: {
    readonly agent: string
    readonly queued: number
    readonly maxQueue: number
    readonly queuedForAgent: number
    readonly maxPerAgent: number
  } | null
  readonly runsPerDay: DailyRuns | null
}

export type AdmissionGate = 'budget' | 'queue' | 'session'

export type Admission =
  /** Stored as `rejected`, or `skipped` when it is an occurrence. */
  | { readonly kind: 'reject'; readonly gate: AdmissionGate; readonly why: Why; readonly retryAfterMs: number | null }
  /** Stored as `cancelled`: it was sent before the session was stopped. */
  | { readonly kind: 'stale'; readonly why: Why }
  | Extract<SessionAdmission, { kind: 'merge' | 'enter' }>

/** The Retry-After of a refused submission when no better time is known. */
const RETRY_AFTER_MS = 1_000

type AdmissionCheck = (arrival: Arrival, facts: AdmissionFacts) => Admission | null

const CHECKS_BY_NAME = { budget: checkBudget, daily_runs: checkDailyRuns, task_queue: checkTaskQueue }
const ADMISSION_CHECKS: readonly AdmissionCheck[] = Object.values(CHECKS_BY_NAME)

export type AdmissionGateName = keyof typeof CHECKS_BY_NAME | 'session'

/**
 * The gates in the order in which they are checked; the session is last because it decides more than open or closed.
 */
export const ADMISSION_GATES: readonly AdmissionGateName[] = [
  ...(Object.keys(CHECKS_BY_NAME) as readonly (keyof typeof CHECKS_BY_NAME)[]),
  'session',
]

/** Decides about one submission. */
export function decideAdmission(arrival: Arrival, facts: AdmissionFacts): Admission {
  for (const gate of ADMISSION_CHECKS) {
    const closed = gate(arrival, facts)
    if (closed !== null) return closed
  }
  return facts.session === null ? admitWithoutSession(arrival, facts.now) : checkSession(arrival, facts, facts.session)
}

function checkBudget(_: Arrival, facts: AdmissionFacts): Admission | null {
  return facts.budget === null ? null : { kind: 'reject', gate: 'budget', why: facts.budget, retryAfterMs: null }
}

function checkDailyRuns(arrival: Arrival, facts: AdmissionFacts): Admission | null {
  const { runsPerDay } = facts.limits
  const over = runsPerDay === null ? null : overDailyRuns(runsPerDay)
  if (over === null) return null
  // A message that is merged into a waiting run creates no run, so the limit does not apply.
  if (facts.session !== null && checkSession(arrival, facts, facts.session).kind === 'merge') return null
  return rejectQueueFull(over)
}

function checkTaskQueue(arrival: Arrival, facts: AdmissionFacts): Admission | null {
  const { tasks } = facts.limits
  if (arrival.trigger !== 'task' || tasks === null) return null
  const { queued, maxQueue, queuedForAgent, maxPerAgent, agent } = tasks
  if (queued >= maxQueue)
    return rejectQueueFull(because('org_queue_full', 'tasks.max_queue', { queued, max_queue: maxQueue, agent }))
  if (queuedForAgent >= maxPerAgent)
    return rejectQueueFull(
      because('agent_queue_full', 'tasks.max_per_agent', { queued: queuedForAgent, max_per_agent: maxPerAgent, agent }),
    )
  return null
}

const rejectQueueFull = (why: Why): Admission => ({ kind: 'reject', gate: 'queue', why, retryAfterMs: RETRY_AFTER_MS })

function checkSession(arrival: Arrival, facts: AdmissionFacts, of: SessionFacts): Admission {
  const verdict = admitToSession(arrival, of, { now: facts.now, stopGraceMs: facts.stopGraceMs })
  return verdict.kind === 'reject' ? { ...verdict, gate: 'session', retryAfterMs: RETRY_AFTER_MS } : verdict
}

/** The number of runs an org has created today, and its daily limit. */
export interface DailyRuns {
  readonly created: number
  readonly limit: number
}

/** Why no further run may be created today; null while the limit is not reached. */
export const overDailyRuns = ({ created, limit }: DailyRuns): Why | null =>
  created < limit ? null : because('runs_per_day', 'org.runs_per_day', { runs_today: created, runs_per_day: limit })
