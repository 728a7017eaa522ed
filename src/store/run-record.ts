import {
  agentId,
  attemptId,
  laneName,
  orgId,
  runId,
  scheduleId,
  sessionKey,
  type AgentId,
  type AttemptId,
  type LaneName,
  type OrgId,
  type RunId,
  type ScheduleId,
  type SessionKey,
} from '../core/ids.ts'
import type { RunDelivery } from '../core/delivery/run-delivery.ts'
import type { HeartbeatDelivery } from '../core/heartbeat/heartbeat-delivery.ts'
import type { Instant } from '../core/instant.ts'
import type { Lineage } from '../core/rails/railed.ts'
import type { Why } from '../core/reasons.ts'
import { ACCEPTED, COMPLETED, PICKED } from '../core/usual-why.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import type { Reported } from '../core/run/reported.ts'
import type { Trigger } from '../core/run/run.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Row } from './database.ts'
import { payloadBytesOf } from './page.ts'
import { brandOrNull } from './rows.ts'

/** A run as it is read: from `run` alone when it has ended, else with what `pending` says about it. */
export interface RunRecord {
  readonly orgId: OrgId
  readonly id: RunId
  readonly jobRunId: string
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  readonly nominal: Instant | null
  readonly trigger: Trigger
  readonly lane: LaneName
  readonly priority: number
  readonly createdAt: Instant
  readonly deadline: Instant | null
  readonly firstAttempt: number
  readonly retryOf: RunId | null
  readonly parentRunId: RunId | null
  readonly owner: string | null
  readonly lineage: Lineage | null
  readonly sender: string | null
  /** Null with `payloadBytes`: it is left out of a list because it is so large. */
  readonly payload: unknown
  readonly payloadBytes?: number
  /** Of a payload that is left out, the first of its messages. */
  readonly firstMessageId?: string | null
  readonly decision: Why
  /** Why it was held before `decision` was made. */
  readonly heldDecision: Why | null
  readonly delivery: RunDelivery | HeartbeatDelivery | null
  readonly trace: string | null
  readonly state: RunState
  readonly attempt: number
  readonly attemptId: AttemptId | null
  readonly nodeId: string | null
  readonly notBefore: Instant | null
  /** The start of the present or last attempt. */
  readonly startedAt: Instant | null
  /** The start of the first attempt of a run that was tried again. */
  readonly firstStartedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly superseded: boolean
  readonly why: Why | null
  readonly errorCode: ErrorCode | null
  readonly errorMessage: string | null
  readonly output: unknown
  readonly summary: unknown
  readonly reported: Reported | null
  /** Whether the session that the runtime named is one of the org. */
  readonly isReportedSession: boolean
  readonly usage: unknown
}

/** A run of a row. */
export function recordOf(row: Row): RunRecord {
  return {
    orgId: orgId(row['org_id'] as string),
    id: runId(row['id'] as string),
    jobRunId: (row['job_run_id'] as string | null) ?? (row['id'] as string),
    agentId: agentId(row['agent_id'] as string),
    sessionKey: brandOrNull(row['session_key'], sessionKey),
    scheduleId: brandOrNull(row['schedule_id'], scheduleId),
    nominal: row['nominal_at'] as Instant | null,
    trigger: row['trigger'] as Trigger,
    lane: laneName(row['lane'] as string),
    priority: row['priority'] as number,
    createdAt: row['created_at'] as Instant,
    deadline: row['deadline'] as Instant | null,
    firstAttempt: row['first_attempt'] as number,
    retryOf: brandOrNull(row['retry_of'], runId),
    parentRunId: brandOrNull(row['parent_run_id'], runId),
    owner: row['owner'] as string | null,
    lineage: row['lineage'] as Lineage | null,
    sender: row['sender'] as string | null,
    payload: row['payload'],
    ...payloadBytesOf(row),
    ...('first_message_id' in row ? { firstMessageId: row['first_message_id'] as string | null } : {}),
    decision: (row['decision'] as Why | null) ?? ACCEPTED,
    heldDecision: (row['held_decision'] as Why | null | undefined) ?? null,
    delivery: row['delivery'] as RunRecord['delivery'],
    trace: row['trace'] as string | null,
    state: row['state'] as RunState,
    attempt: row['attempt'] as number,
    attemptId: brandOrNull(row['attempt_id'], attemptId),
    nodeId: row['node_id'] as string | null,
    notBefore: row['not_before'] as Instant | null,
    startedAt: row['started_at'] as Instant | null,
    firstStartedAt: row['first_started_at'] as Instant | null,
    finishedAt: row['finished_at'] as Instant | null,
    superseded: row['superseded'] as boolean,
    why: (row['why'] as Why | null) ?? usualWhy(row['state'] as RunState),
    errorCode: row['error_code'] as ErrorCode | null,
    errorMessage: row['error_message'] as string | null,
    output: row['output'],
    summary: row['summary'] ?? saidIn(row)?.['summary'] ?? null,
    reported: reportedOf(saidIn(row)),
    isReportedSession: row['is_reported_session'] === true,
    usage: row['usage'],
  }
}

const saidIn = (row: Row): Readonly<Record<string, unknown>> | null =>
  row['reported'] as Readonly<Record<string, unknown>> | null

/** What the runtime said itself, from how it is on record. */
function reportedOf(said: Readonly<Record<string, unknown>> | null): Reported | null {
  if (said === null) return null
  const { session_id: sessionId, message_id: messageId, error_code: errorCode } = said
  return {
    ...(typeof sessionId === 'string' ? { sessionId } : {}),
    ...(typeof messageId === 'string' ? { messageId } : {}),
    ...(typeof errorCode === 'string' ? { errorCode } : {}),
  }
}

/** What most runs are told is not written: the state alone says it. */
function usualWhy(state: RunState): Why | null {
  if (state === 'success') return COMPLETED
  return state === 'running' ? PICKED : null
}
