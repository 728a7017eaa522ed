import type { RunDelivery } from '../core/delivery/run-delivery.ts'
import type { HeartbeatDelivery } from '../core/heartbeat/heartbeat-delivery.ts'
import type { AgentId, AttemptId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Reserve } from '../domain/queue/gates.ts'
import type { Lineage } from '../core/rails/railed.ts'
import type { Why } from '../domain/reasons.ts'
import type { ErrorCode } from '../domain/run/error-codes.ts'
import type { Reported } from '../core/run/reported.ts'
import { NO_RETRIES } from '../domain/run/retry.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../domain/run/retry-policy.ts'
import type { Trigger } from '../domain/run/run.ts'
import type { RunState } from '../domain/run/run-machine.ts'

/**
 * A pending run, from its rows in `run` and `pending`, until it has ended and been written back: what never changes is
 * readonly.
 */
export interface RunRow {
  readonly id: RunId
  readonly orgId: OrgId
  readonly agentId: AgentId
  /** Who can execute it: `echo`, `in-process:<name>`, … A node claims only what it can execute. */
  readonly executorKey: string
  /** Of a schedule's run with a session of its own: null on record, and in memory until that session exists. */
  sessionKey: SessionKey | null
  /** The session's generation when it was made. */
  readonly generation: number
  readonly scheduleId: ScheduleId | null
  readonly nominal: Instant | null
  readonly jobRunId: string
  readonly trigger: Trigger
  readonly lane: LaneName
  readonly priority: number
  readonly createdAt: Instant
  readonly sender: string | null
  readonly interrupts: boolean
  readonly deadline: Instant | null
  readonly timeoutSeconds: number | null
  readonly retryPolicy: RetryPolicy
  readonly failureActionRetries: boolean
  /** Of a held occurrence it is decided at its release. */
  firstAttempt: number
  readonly retryOf: RunId | null
  readonly parentRunId: RunId | null
  /** The key or the agent under whose guard rails it was made; null for nearly every run. */
  readonly owner: string | null
  /** The runs above it, where they are known; null for nearly every run. */
  readonly lineage: Lineage | null
  /** Where its result goes; null for nearly every run. */
  readonly delivery: RunDelivery | HeartbeatDelivery | null
  /** The trace it belongs to, as `traceparent` has it; null for nearly every run. */
  readonly trace: string | null
  /** Why it was made, or was not to run; while it is held, why that is. */
  decision: Why
  /** Why it was held before `decision` was made; null for nearly every run. */
  heldDecision: Why | null
  state: RunState
  attempt: number
  /** Place in the session; null while it has none. */
  seq: number | null
  notBefore: Instant | null
  debouncing: boolean
  slot: 'held' | 'parked' | null
  superseded: boolean
  attemptId: AttemptId | null
  nodeId: string | null
  /** The start of the present or last attempt. */
  startedAt: Instant | null
  /** The start of the first attempt of a run that has been tried again; null: it is `startedAt`. */
  firstStartedAt: Instant | null
  /** When the attempt, or the wait for its callback, must be over. */
  endsBy: Instant | null
  graceUntil: Instant | null
  finishedAt: Instant | null
  /** Why it is where it is now. */
  why: Why | null
  errorCode: ErrorCode | null
  errorMessage: string | null
  /** What the runtime itself said about the result; null for nearly every run. */
  reported: Reported | null
  /** Undefined: on record, but not in memory. */
  payload: unknown
  output: unknown
  summary: unknown
  usage: unknown
  /** Whether it belongs to its session's present generation; others count in the session no more. */
  inGeneration: boolean
  /** What it has set aside in budgets. */
  reserves: readonly Reserve[]
  /** The last turn that has an event about it. Not on record, like what follows. */
  toldIn: number
  /** The node under which memory has it. */
  heldBy: string | null
}

/** The next moment at which something happens to the run by itself; null when nothing does. */
export function wakeAt(run: RunRow): Instant | null {
  switch (run.state) {
    case 'waiting':
      return earliest(run.notBefore, run.deadline)
    case 'queued':
      return run.deadline
    // A worker that has taken it must begin.
    case 'assigned':
      return earliest(run.endsBy, run.deadline)
    case 'running':
    case 'awaiting_callback':
      return run.endsBy
    case 'stopping':
      return run.graceUntil
    case 'success':
    case 'failed':
    case 'timeout':
    case 'cancelled':
    case 'skipped':
    case 'dropped':
    case 'rejected':
    case 'expired':
      return null
  }
}

function earliest(a: Instant | null, b: Instant | null): Instant | null {
  if (a === null) return b
  return b !== null && b < a ? b : a
}

/** Null in the table is the usual policy, which nearly every run has: none for tasks, the default for all others. */
export const storeRetryPolicy = (run: Pick<RunRow, 'retryPolicy' | 'trigger'>): string | null =>
  run.retryPolicy === usual(run.trigger) ? null : JSON.stringify(run.retryPolicy)

export const readRetryPolicy = (stored: RetryPolicy | null, trigger: RunRow['trigger']): RetryPolicy =>
  stored ?? usual(trigger)

const usual = (trigger: RunRow['trigger']): RetryPolicy => (trigger === 'task' ? NO_RETRIES : DEFAULT_RETRY_POLICY)

/** The start of the first attempt of a run that was tried again, as a column; nothing is read of the others. */
export const firstStart = (run: 'r' | 'p', attempt: string): string =>
  `case when ${attempt} > 1 then (select a.started_at from attempt a
     where a.org_id = ${run}.org_id and a.run_id = ${run}.id order by a.number limit 1) end`

/**
 * Whether a run is in the session of a schedule's run, by the session's key: sent there, or the run that it belongs to,
 * whose row names no session. For keys that `runOfSession` reads.
 */
export const inRunSession = (run: string, key: string): string =>
  `(${run}session_key = ${key} or (${run}session_key is null and ${run}id = split_part(${key}, ':run:', 2)
     and ${run}schedule_id = split_part(split_part(${key}, ':run:', 1), ':', -1)
     and (${run}agent_id = split_part(${key}, ':', 2) or starts_with(${key}, 'schedule:'))
     and ${run}state is distinct from 'skipped'))`
