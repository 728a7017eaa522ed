import type { Lineage } from '../../domain/access/restrictions.ts'
import type { RunDelivery } from '../../domain/delivery/delivery.ts'
import type { HeartbeatDelivery } from '../../domain/heartbeat/heartbeat-reply.ts'
import type { AgentId, AttemptId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { DEFAULT_LANES } from '../../domain/queue/lanes.ts'
import { type Why } from '../../domain/reasons.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { RuntimeReport } from '../../domain/run/reports.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { type Trigger, ACCEPTED, COMPLETED, PICKED } from '../../domain/run/run.ts'
import { requireEveryRowSql, firstStartSql, runIds, rowsByKeySql, type RunRow, storedReason } from './store.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { bytesOf, isLargePayload, listedPayload } from '../../platform/db/page.ts'
import {
  withValues,
  column,
  columns,
  jsonOrNull,
  type RowOf,
  timestampOrNull,
  writes,
  type WrittenColumn,
} from '../../platform/db/table.ts'

const BUILT_IN_LANES = Object.keys(DEFAULT_LANES)
  .map((name) => `'${name}'`)
  .join(', ')

/** The lane in which a run is executed: runs in a lane that no node has are executed in `main`. */
const LANE_SQL = `case when r.lane in (${BUILT_IN_LANES}) then r.lane when r.lane = 'delegate' then 'team'
    when exists (select from lane l where l.name = r.lane) or exists (select from node n where n.lanes ? r.lane)
    then r.lane else 'main' end`

const IS_REPORTED_SESSION_SQL = `case when r.reported is not null then exists (
    select from session s where s.org_id = r.org_id and s.key = r.reported ->> 'session_id') end`

/**
 * The state of a run, from `run r left join pending p`. A run with neither an ending nor a row in `pending` is in the
 * backlog, where all are queued.
 */
export const RUN_STATE_SQL = "coalesce(r.state, p.state, 'queued')"

/** The columns of a run, from `run r left join pending p`. An ended run has no row in `pending`. */
export const runRecordColumns = columns({
  orgId: column.text<OrgId>('r.org_id'),
  id: column.text<RunId>('r.id'),
  jobRunId: column.text<string | null>('r.job_run_id'),
  agentId: column.text<AgentId>('r.agent_id'),
  sessionKey: column.text<SessionKey | null>('r.session_key'),
  scheduleId: column.text<ScheduleId | null>('r.schedule_id'),
  nominal: column.instant<Instant | null>('r.nominal_at'),
  trigger: column.text<Trigger>('r.trigger'),
  lane: column.text<LaneName>(LANE_SQL),
  priority: column.int('r.priority'),
  createdAt: column.instant('r.created_at'),
  deadline: column.instant<Instant | null>('r.deadline'),
  firstAttempt: column.int('r.first_attempt'),
  retryOf: column.text<RunId | null>('r.retry_of'),
  parentRunId: column.text<RunId | null>('r.parent_run_id'),
  owner: column.text<string | null>('r.owner'),
  lineage: column.json<Lineage | null>('r.lineage'),
  sender: column.text<string | null>('r.sender'),
  /** Null with `payloadBytes`: omitted from a list because of its size. */
  payload: column.json('r.payload'),
  decision: column.json<Why | null>('r.decision'),
  /** Why it was held before `decision`. */
  heldDecision: column.json<Why | null>('r.held_decision'),
  delivery: column.json<RunDelivery | HeartbeatDelivery | null>('r.delivery'),
  trace: column.text<string | null>('r.trace'),
  state: column.text<RunState>(RUN_STATE_SQL),
  attempt: column.int('coalesce(r.attempt, p.attempt, r.first_attempt)'),
  attemptId: column.text<AttemptId | null>('coalesce(r.attempt_id, p.attempt_id)'),
  nodeId: column.text<string | null>('coalesce(r.node_id, p.node_id)'),
  notBefore: column.instant<Instant | null>('p.not_before'),
  /** The start of the current or last attempt. */
  startedAt: column.instant<Instant | null>('coalesce(r.started_at, p.started_at)'),
  /** The start of the first attempt of a retried run. */
  firstStartedAt: column.instant<Instant | null>(firstStartSql('r', 'coalesce(r.attempt, p.attempt, 1)')),
  finishedAt: column.instant<Instant | null>('r.finished_at'),
  superseded: column.boolean('coalesce(r.superseded, p.superseded, false)'),
  why: column.json<Why | null>('coalesce(r.why, p.why)'),
  errorCode: column.text<ErrorCode | null>('r.error_code'),
  errorMessage: column.text<string | null>('r.error_message'),
  output: column.json('r.output'),
  summary: column.text<string | null>('r.summary'),
  usage: column.json('coalesce(r.usage, p.usage)'),
  reported: column.json<Readonly<Record<string, unknown>> | null>('r.reported'),
  isReportedSession: column.boolean<boolean | null>(IS_REPORTED_SESSION_SQL),
})

const IS_LARGE_SQL = isLargePayload(bytesOf('r.payload'))

/** The columns for a list, from which large payloads are omitted. */
export const listedRunColumns = columns({
  ...runRecordColumns.definitions,
  ...listedPayload('r.payload', { bytes: bytesOf('r.payload'), isLeftOut: IS_LARGE_SQL }),
  /** The first message of an omitted payload. */
  firstMessageId: column.text<string | null>(`case when ${IS_LARGE_SQL} then r.payload #>> '{messageIds,0}' end`),
})

type StoredRun = RowOf<typeof runRecordColumns>
type AmendedField = 'jobRunId' | 'decision' | 'why' | 'summary' | 'reported' | 'isReportedSession'

/** A run as it is read from the database. */
export interface RunRecord
  extends
    Omit<StoredRun, AmendedField>,
    Partial<Pick<RowOf<typeof listedRunColumns>, 'payloadBytes' | 'firstMessageId'>> {
  readonly jobRunId: string
  readonly decision: Why
  readonly why: Why | null
  readonly summary: unknown
  readonly reported: RuntimeReport | null
  /** Whether the session reported by the runtime exists in the org. */
  readonly isReportedSession: boolean
}

/** Converts a row to a run. */
export const runRecordOf = (row: StoredRun): RunRecord =>
  withValues(row, {
    jobRunId: row.jobRunId ?? row.id,
    decision: row.decision ?? ACCEPTED,
    why: row.why ?? impliedReason(row.state),
    summary: row.summary ?? reportedSummary(row.reported),
    reported: reportedOf(row.reported),
    isReportedSession: row.isReportedSession === true,
  })

/** A summary that is JSON and not a text is stored in `reported`. */
const reportedSummary = (value: StoredRun['reported']): unknown => {
  const { summary = null } = value ?? {}
  return summary
}

/** Reads the names that the runtime reported. */
function reportedOf(value: StoredRun['reported']): RuntimeReport | null {
  if (value === null) return null
  const { session_id: sessionId, message_id: messageId, error_code: errorCode } = value
  return {
    ...(typeof sessionId === 'string' ? { sessionId } : {}),
    ...(typeof messageId === 'string' ? { messageId } : {}),
    ...(typeof errorCode === 'string' ? { errorCode } : {}),
  }
}

/** The reason of most runs is not stored, because it follows from the state. */
function impliedReason(state: RunState): Why | null {
  if (state === 'success') return COMPLETED
  return state === 'running' ? PICKED : null
}

/** Encodes the names that the runtime reported, with a summary that is JSON and not a text. */
function reportedColumn({ reported, summary }: RunRow): string | null {
  const isPlain = summary === null || typeof summary === 'string'
  if (reported === null) return isPlain ? null : JSON.stringify({ summary })
  const { sessionId, messageId, errorCode } = reported
  const value = { session_id: sessionId, message_id: messageId, error_code: errorCode }
  return JSON.stringify(isPlain ? value : { ...value, summary })
}

/** The columns written when a run ends. */
const ENDING_COLUMNS: readonly WrittenColumn<RunRow>[] = [
  ['state', 'word', (run) => run.state],
  ['attempt', 'int', (run) => run.attempt],
  ['attempt_id', 'word', (run) => run.attemptId],
  ['node_id', 'word', (run) => run.nodeId],
  ['started_at', 'instant', (run) => timestampOrNull(run.startedAt)],
  ['finished_at', 'instant', (run) => timestampOrNull(run.finishedAt)],
  ['superseded', 'boolean', (run) => run.superseded],
  ['why', 'json', (run) => storedReason(run.why)],
  ['error_code', 'word', (run) => run.errorCode],
  ['error_message', 'text', (run) => run.errorMessage],
  ['output', 'json', (run) => jsonOrNull(run.output)],
  ['summary', 'text', (run) => (typeof run.summary === 'string' ? run.summary : null)],
  ['usage', 'json', (run) => jsonOrNull(run.usage)],
  ['reported', 'json', reportedColumn],
]

const endingColumns = (...names: readonly string[]): readonly WrittenColumn<RunRow>[] =>
  ENDING_COLUMNS.filter(([name]) => names.includes(name))

const ENDING_WRITES = writes(ENDING_COLUMNS)

const DELETE_PENDING = 'with gone as (delete from pending where org_id = $1 and id = any($2::text[]) returning 1)'

/** Checks that all of the runs were pending, or none if they end in the transaction that created them. */
const pendingMatchesSql = (parameter: number): string =>
  `(select count(*) from gone) = case when $${parameter}::boolean then cardinality($2::text[]) else 0 end`

const END_RUNS = requireEveryRowSql(
  `${DELETE_PENDING}, written as (
  update run r set ${ENDING_WRITES.assignedFrom('u')} from ${rowsByKeySql('run', ENDING_WRITES, 3)} where r.ctid = u.place`,
  pendingMatchesSql(3 + ENDING_WRITES.count),
)

/** The columns that differ between plain successes of one node at one time. */
const SUCCESS = writes(endingColumns('attempt', 'attempt_id', 'started_at'))

const END_SUCCESSES = requireEveryRowSql(
  `${DELETE_PENDING}, written as (
  update run r set state = 'success', node_id = $3, finished_at = $4, superseded = false, ${SUCCESS.assignedFrom('u')}
    from ${rowsByKeySql('run', SUCCESS, 5)} where r.ctid = u.place`,
  pendingMatchesSql(5 + SUCCESS.count),
)

const END_SUCCESS = `with gone as (delete from pending where org_id = $1 and id = $2 returning 1), written as (
    update run set state = 'success', node_id = $3, finished_at = $4, superseded = false,
      ${SUCCESS.assigned(5)}
    where org_id = $1 and id = $2 returning 1)
  select case when (select count(*) from written) = 1
                and (select count(*) from gone) = $${5 + SUCCESS.count}::boolean::int then 1
              else refuse_unknown_rows() end`

/** The columns that are null for a plain success. */
const REPORTED_COLUMNS = endingColumns('why', 'error_code', 'error_message', 'output', 'summary', 'usage', 'reported')

const isPlainSuccess = (run: RunRow, like: RunRow): boolean =>
  run.state === 'success' &&
  !run.superseded &&
  run.nodeId === like.nodeId &&
  run.finishedAt === like.finishedAt &&
  REPORTED_COLUMNS.every(([, , value]) => value(run) === null)

/** The org of the ending runs, and whether they were pending. */
interface EndingRuns {
  readonly orgId: OrgId
  /** False for runs that end in the transaction that created them. */
  readonly arePending: boolean
}

/** Ends runs: deletes them from `pending` and writes their outcome. Plain successes need a quarter of the columns. */
export function endRuns(tx: Transaction, { orgId, arePending }: EndingRuns, runs: readonly RunRow[]): void {
  const [first] = runs
  if (first === undefined) return
  if (!runs.every((run) => isPlainSuccess(run, first))) {
    tx.send(END_RUNS, [orgId, runIds(runs), ...ENDING_WRITES.lists(runs), arePending])
    return
  }
  const same = [first.nodeId, timestampOrNull(first.finishedAt)]
  if (runs.length === 1) tx.send(END_SUCCESS, [orgId, first.id, ...same, ...SUCCESS.values(first), arePending])
  else tx.send(END_SUCCESSES, [orgId, runIds(runs), ...same, ...SUCCESS.lists(runs), arePending])
}
