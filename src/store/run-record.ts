import type { RunDelivery } from '../core/delivery/run-delivery.ts'
import type { HeartbeatDelivery } from '../core/heartbeat/heartbeat-delivery.ts'
import type { AgentId, AttemptId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { DEFAULT_LANES } from '../domain/queue/lanes.ts'
import type { Lineage } from '../core/rails/railed.ts'
import type { Why } from '../domain/reasons.ts'
import type { ErrorCode } from '../domain/run/error-codes.ts'
import type { Reported } from '../core/run/reported.ts'
import type { Trigger } from '../domain/run/run.ts'
import type { RunState } from '../domain/run/run-machine.ts'
import { ACCEPTED, COMPLETED, PICKED } from '../core/usual-why.ts'
import { bytesOf, isLargePayload, listedPayload } from '../platform/db/page.ts'
import { firstStart } from './run-row.ts'
import { amended, column, columns, type RowOf } from '../platform/db/table.ts'

const BUILT_IN_LANES = Object.keys(DEFAULT_LANES)
  .map((name) => `'${name}'`)
  .join(', ')

/** Where a run is executed: nobody serves a lane that no node has, so its runs are served as those of `main`. */
const LANE = `case when r.lane in (${BUILT_IN_LANES}) then r.lane when r.lane = 'delegate' then 'team'
    when exists (select from lane l where l.name = r.lane) or exists (select from node n where n.lanes ? r.lane)
    then r.lane else 'main' end`

const IS_REPORTED_SESSION = `case when r.reported is not null then exists (
    select from session s where s.org_id = r.org_id and s.key = r.reported ->> 'session_id') end`

/** A run, from `run r left join pending p`: from `run` alone when it has ended, else with what `pending` says about it. */
export const runs = columns({
  orgId: column.text<OrgId>('r.org_id'),
  id: column.text<RunId>('r.id'),
  jobRunId: column.text<string | null>('r.job_run_id'),
  agentId: column.text<AgentId>('r.agent_id'),
  sessionKey: column.text<SessionKey | null>('r.session_key'),
  scheduleId: column.text<ScheduleId | null>('r.schedule_id'),
  nominal: column.instant<Instant | null>('r.nominal_at'),
  trigger: column.text<Trigger>('r.trigger'),
  lane: column.text<LaneName>(LANE),
  priority: column.int('r.priority'),
  createdAt: column.instant('r.created_at'),
  deadline: column.instant<Instant | null>('r.deadline'),
  firstAttempt: column.int('r.first_attempt'),
  retryOf: column.text<RunId | null>('r.retry_of'),
  parentRunId: column.text<RunId | null>('r.parent_run_id'),
  owner: column.text<string | null>('r.owner'),
  lineage: column.json<Lineage | null>('r.lineage'),
  sender: column.text<string | null>('r.sender'),
  /** Null with `payloadBytes`: it is left out of a list because it is so large. */
  payload: column.json('r.payload'),
  decision: column.json<Why | null>('r.decision'),
  /** Why it was held before `decision` was made. */
  heldDecision: column.json<Why | null>('r.held_decision'),
  delivery: column.json<RunDelivery | HeartbeatDelivery | null>('r.delivery'),
  trace: column.text<string | null>('r.trace'),
  state: column.text<RunState>('coalesce(r.state, p.state)'),
  attempt: column.int('coalesce(r.attempt, p.attempt, r.first_attempt)'),
  attemptId: column.text<AttemptId | null>('coalesce(r.attempt_id, p.attempt_id)'),
  nodeId: column.text<string | null>('coalesce(r.node_id, p.node_id)'),
  notBefore: column.instant<Instant | null>('p.not_before'),
  /** The start of the present or last attempt. */
  startedAt: column.instant<Instant | null>('coalesce(r.started_at, p.started_at)'),
  /** The start of the first attempt of a run that was tried again. */
  firstStartedAt: column.instant<Instant | null>(firstStart('r', 'coalesce(r.attempt, p.attempt, 1)')),
  finishedAt: column.instant<Instant | null>('r.finished_at'),
  superseded: column.boolean('coalesce(r.superseded, p.superseded, false)'),
  why: column.json<Why | null>('coalesce(r.why, p.why)'),
  errorCode: column.text<ErrorCode | null>('r.error_code'),
  errorMessage: column.text<string | null>('r.error_message'),
  output: column.json('r.output'),
  summary: column.text<string | null>('r.summary'),
  usage: column.json('coalesce(r.usage, p.usage)'),
  reported: column.json<Readonly<Record<string, unknown>> | null>('r.reported'),
  isReportedSession: column.boolean<boolean | null>(IS_REPORTED_SESSION),
})

const IS_LARGE = isLargePayload(bytesOf('r.payload'))

/** The same for a list, from which large payloads are left out. */
export const listedRuns = columns({
  ...runs.definitions,
  ...listedPayload('r.payload', { bytes: bytesOf('r.payload'), isLeftOut: IS_LARGE }),
  /** Of a payload that is left out, the first of its messages. */
  firstMessageId: column.text<string | null>(`case when ${IS_LARGE} then r.payload #>> '{messageIds,0}' end`),
})

type Stored = RowOf<typeof runs>
type Amended = 'jobRunId' | 'decision' | 'why' | 'summary' | 'reported' | 'isReportedSession'

/** A run as it is read. */
export interface RunRecord
  extends Omit<Stored, Amended>, Partial<Pick<RowOf<typeof listedRuns>, 'payloadBytes' | 'firstMessageId'>> {
  readonly jobRunId: string
  readonly decision: Why
  readonly why: Why | null
  readonly summary: unknown
  readonly reported: Reported | null
  /** Whether the session that the runtime named is one of the org. */
  readonly isReportedSession: boolean
}

/** A run of a row. */
export const recordOf = (row: Stored): RunRecord =>
  amended(row, {
    jobRunId: row.jobRunId ?? row.id,
    decision: row.decision ?? ACCEPTED,
    why: row.why ?? usualWhy(row.state),
    summary: row.summary ?? summaryIn(row.reported),
    reported: reportedOf(row.reported),
    isReportedSession: row.isReportedSession === true,
  })

/** A summary that is not a text. */
const summaryIn = (said: Stored['reported']): unknown => {
  const { summary = null } = said ?? {}
  return summary
}

/** What the runtime said itself, from how it is on record. */
function reportedOf(said: Stored['reported']): Reported | null {
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
