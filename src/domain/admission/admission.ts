import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import {
  admitToSession,
  type Arrival,
  enterAlone,
  type SessionAdmission,
  type SessionFacts,
} from '../session/session.ts'

/**
 * Whether a submission becomes a run. The gates stand in a fixed order, and the first that is closed decides:
 * budget → queue limits → session mode → session cap. Permission, validation, idempotency key and draining are checked
 * when the request arrives, before the org is locked: docs/architecture.md says where.
 */
export interface AdmissionFacts {
  readonly now: Instant
  readonly stopGraceMs: number
  /** Set when a budget with action `skip` or `pause` is exhausted. */
  readonly budget: Why | null
  readonly limits: QueueLimits
  /** Null for work outside any session. */
  readonly session: SessionFacts | null
}

export interface QueueLimits {
  /** Only for trigger `task`. Numbers are of this org. */
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

/** What a refused sender is told to wait before trying again when nobody can know better. */
const RETRY_AFTER_MS = 1_000

type Gate = (arrival: Arrival, facts: AdmissionFacts) => Admission | null

const BY_NAME = { budget, daily_runs: dailyRuns, task_queue: taskQueue }
const GATES: readonly Gate[] = Object.values(BY_NAME)

export type AdmissionGateName = keyof typeof BY_NAME | 'session'

/** The gates in the order in which they are asked; the session comes last and has questions of its own. */
export const ADMISSION_GATES: readonly AdmissionGateName[] = [
  ...(Object.keys(BY_NAME) as readonly (keyof typeof BY_NAME)[]),
  'session',
]

/** The decision about one submission. */
export function decideAdmission(arrival: Arrival, facts: AdmissionFacts): Admission {
  for (const gate of GATES) {
    const closed = gate(arrival, facts)
    if (closed !== null) return closed
  }
  return facts.session === null ? enterAlone(arrival, facts.now) : session(arrival, facts, facts.session)
}

function budget(_: Arrival, facts: AdmissionFacts): Admission | null {
  return facts.budget === null ? null : { kind: 'reject', gate: 'budget', why: facts.budget, retryAfterMs: null }
}

function dailyRuns(arrival: Arrival, facts: AdmissionFacts): Admission | null {
  const { runsPerDay } = facts.limits
  const over = runsPerDay === null ? null : overDailyRuns(runsPerDay)
  if (over === null) return null
  // A message that joins one already waiting makes no run, so the limit has nothing to say about it.
  if (facts.session !== null && session(arrival, facts, facts.session).kind === 'merge') return null
  return queueFull(over)
}

function taskQueue(arrival: Arrival, facts: AdmissionFacts): Admission | null {
  const { tasks } = facts.limits
  if (arrival.trigger !== 'task' || tasks === null) return null
  const { queued, maxQueue, queuedForAgent, maxPerAgent, agent } = tasks
  if (queued >= maxQueue)
    return queueFull(because('org_queue_full', 'tasks.max_queue', { queued, max_queue: maxQueue, agent }))
  if (queuedForAgent >= maxPerAgent)
    return queueFull(
      because('agent_queue_full', 'tasks.max_per_agent', { queued: queuedForAgent, max_per_agent: maxPerAgent, agent }),
    )
  return null
}

const queueFull = (why: Why): Admission => ({ kind: 'reject', gate: 'queue', why, retryAfterMs: RETRY_AFTER_MS })

function session(arrival: Arrival, facts: AdmissionFacts, of: SessionFacts): Admission {
  const verdict = admitToSession(arrival, of, { now: facts.now, stopGraceMs: facts.stopGraceMs })
  return verdict.kind === 'reject' ? { ...verdict, gate: 'session', retryAfterMs: RETRY_AFTER_MS } : verdict
}

/** How many runs an org has made today, and how many it may make. */
export interface DailyRuns {
  readonly made: number
  readonly limit: number
}

/** Why no further run may be made today; null while one may. */
export const overDailyRuns = ({ made, limit }: DailyRuns): Why | null =>
  made < limit ? null : because('runs_per_day', 'org.runs_per_day', { runs_today: made, runs_per_day: limit })
