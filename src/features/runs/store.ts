import type { Lineage } from '../../domain/access/restrictions.ts'
import type { RunDelivery } from '../../domain/delivery/delivery.ts'
import type { HeartbeatDelivery } from '../../domain/heartbeat/heartbeat-reply.ts'
import type { AgentId, AttemptId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import { type Why } from '../../domain/reasons.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { RuntimeReport } from '../../domain/run/reports.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../../domain/run/retry-policy.ts'
import { NO_RETRIES } from '../../domain/run/retry.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import { type Trigger, ACCEPTED, COMPLETED, PICKED } from '../../domain/run/run.ts'
import {
  isNextTransaction,
  packEvents,
  type TransactionRow,
  versionStep,
} from '../../engine/transaction/history-store.ts'
import type { SqlValue, Transaction } from '../../platform/db/database.ts'
import {
  jsonOrNull,
  plainArray,
  timestampOrNull,
  toTimestamp,
  writes,
  type Writes,
  type WrittenColumn,
} from '../../platform/db/table.ts'

/** A pending run, from its rows in `run` and `pending`. Fields that never change after its creation are readonly. */
export interface RunRow {
  readonly id: RunId
  readonly orgId: OrgId
  readonly agentId: AgentId
  /** The executor it needs: `echo`, `in-process:<name>`, … A node claims only runs whose executor it has. */
  readonly executorKey: string
  /** For a schedule's run with its own session: null in the table, and in memory until that session exists. */
  sessionKey: SessionKey | null
  /** The generation of the session when the run was created. */
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
  /** The number of its first attempt; for a held occurrence, set at its release. */
  firstAttempt: number
  readonly retryOf: RunId | null
  readonly parentRunId: RunId | null
  /** The restricted key or the agent that created it; null for nearly every run. */
  readonly owner: string | null
  /** The known runs above it; null for nearly every run. */
  readonly lineage: Lineage | null
  /** Where its result is delivered; null for nearly every run. */
  readonly delivery: RunDelivery | HeartbeatDelivery | null
  /** Its trace in the format of `traceparent`; null for nearly every run. */
  readonly trace: string | null
  /** Why the run was created, skipped or held. */
  decision: Why
  /** Why it was held before `decision`; null for nearly every run. */
  heldDecision: Why | null
  state: RunState
  attempt: number
  /** Its position in the session; null while it has none. */
  seq: number | null
  notBefore: Instant | null
  debouncing: boolean
  slot: 'held' | 'parked' | null
  superseded: boolean
  attemptId: AttemptId | null
  nodeId: string | null
  /** The start of the current or last attempt. */
  startedAt: Instant | null
  /** The start of the first attempt of a retried run; null: it is `startedAt`. */
  firstStartedAt: Instant | null
  /** The deadline of the attempt, or of the wait for its callback. */
  endsBy: Instant | null
  graceUntil: Instant | null
  finishedAt: Instant | null
  /** Why it is in its current state. */
  why: Why | null
  errorCode: ErrorCode | null
  errorMessage: string | null
  /** Ids and codes that the runtime reported; null for nearly every run. */
  reported: RuntimeReport | null
  /** Undefined: in the table, but not loaded. */
  payload: unknown
  output: unknown
  summary: unknown
  usage: unknown
  /** Whether it belongs to the current generation of its session; other runs no longer count in the session. */
  inGeneration: boolean
  /** The amounts it has reserved in budgets. */
  reserves: readonly Reserve[]
  /** The number of the last transaction with an event about it. Not stored, like `heldBy`. */
  lastEventIn: number
  /** The node under which the org state indexes it. */
  heldBy: string | null
}

/** The next time at which a pending run changes without an event from outside; null: never. */
export function nextChangeAt(run: RunRow): Instant | null {
  switch (run.state) {
    case 'waiting':
      return earliest(run.notBefore, run.deadline)
    case 'queued':
      return run.deadline
    // The worker it is assigned to must start by then.
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

/** Nearly all runs have the usual retry policy, which is stored as null: no retries for tasks, else the default. */
const storeRetryPolicy = (run: Pick<RunRow, 'retryPolicy' | 'trigger'>): string | null =>
  run.retryPolicy === builtInRetryPolicy(run.trigger) ? null : JSON.stringify(run.retryPolicy)

export const readRetryPolicy = (stored: RetryPolicy | null, trigger: RunRow['trigger']): RetryPolicy =>
  stored ?? builtInRetryPolicy(trigger)

const builtInRetryPolicy = (trigger: RunRow['trigger']): RetryPolicy =>
  trigger === 'task' ? NO_RETRIES : DEFAULT_RETRY_POLICY

/** SQL for the start of the first attempt; reads the table only for retried runs. */
export const firstStartSql = (run: 'r' | 'p', attempt: string): string =>
  `case when ${attempt} > 1 then (select a.started_at from attempt a
     where a.org_id = ${run}.org_id and a.run_id = ${run}.id order by a.number limit 1) end`

/**
 * SQL for whether a run is in the session of a schedule's run, by the session key: runs sent to the session, and the
 * run that the session belongs to, whose row names no session. Only for keys that `runOfSession` accepts.
 */
export const inRunSessionSql = (run: string, key: string): string =>
  `(${run}session_key = ${key} or (${run}session_key is null and ${run}id = split_part(${key}, ':run:', 2)
     and ${run}schedule_id = split_part(split_part(${key}, ':run:', 1), ':', -1)
     and (${run}agent_id = split_part(${key}, ':', 2) or starts_with(${key}, 'schedule:'))
     and ${run}state is distinct from 'skipped'))`

/** Encodes a reason; null if it follows from the state: picked while running, completed after success. */
export const storedReason = (why: Why | null): string | null =>
  why === PICKED || why === COMPLETED ? null : jsonOrNull(why)

export const runIds = (runs: readonly RunRow[]): string => plainArray(runs.map((run) => run.id))

/**
 * Finds the rows to update by key in a subquery. A join could be planned as a scan of all runs of the org for each id,
 * while the statistics still show an empty table.
 */
export const rowsByKeySql = (table: 'run' | 'pending', columns: Writes<RunRow>, first: number): string =>
  `(select i.*, (select t.ctid from ${table} t where t.org_id = $1 and t.id = i.id) as place
      from unnest($2::text[], ${columns.arrays(first)}) as i (id, ${columns.names})) u`

/**
 * Wraps an update so that it fails, and the transaction with it, unless every row exists: otherwise the org state
 * differs from the database, and decisions based on it must not be committed.
 */
export const requireEveryRowSql = (write: string, also = 'true'): string =>
  `${write} returning 1)
  select case when (select count(*) from written) = cardinality($2::text[]) and ${also} then 1
              else refuse_unknown_rows() end`

/** Columns that differ for nearly every run. `org_id` and `created_at` are the same for all runs of a statement. */
const USUAL_COLUMNS: readonly WrittenColumn<RunRow>[] = [
  ['id', 'word', (run) => run.id],
  ['agent_id', 'text', (run) => run.agentId],
  ['executor_key', 'text', (run) => run.executorKey],
  ['session_key', 'text', (run) => run.sessionKey],
  ['generation', 'int', (run) => run.generation],
  ['trigger', 'word', (run) => run.trigger],
  ['lane', 'text', (run) => run.lane],
  ['priority', 'int', (run) => run.priority],
  ['sender', 'text', (run) => run.sender],
  ['deadline', 'instant', (run) => timestampOrNull(run.deadline)],
  ['payload', 'json', (run) => jsonOrNull(run.payload)],
]

/** Columns for which most runs have the default of the table. */
const RARE_COLUMNS: readonly (readonly [...WrittenColumn<RunRow>, usual: SqlValue])[] = [
  ['job_run_id', 'text', (run) => (run.jobRunId === run.id ? null : run.jobRunId), null],
  ['schedule_id', 'text', (run) => run.scheduleId, null],
  ['nominal_at', 'instant', (run) => timestampOrNull(run.nominal), null],
  ['interrupts', 'boolean', (run) => run.interrupts, false],
  ['timeout_seconds', 'int', (run) => run.timeoutSeconds, null],
  ['retry_policy', 'json', (run) => storeRetryPolicy(run), null],
  ['failure_action_retries', 'boolean', (run) => run.failureActionRetries, false],
  ['first_attempt', 'int', (run) => run.firstAttempt, 1],
  ['retry_of', 'text', (run) => run.retryOf, null],
  ['parent_run_id', 'text', (run) => run.parentRunId, null],
  ['decision', 'json', (run) => (run.decision === ACCEPTED ? null : jsonOrNull(run.decision)), null],
  ['delivery', 'json', (run) => jsonOrNull(run.delivery), null],
  ['trace', 'word', (run) => run.trace, null],
]

/** Columns only of runs created by restricted keys or agents; other inserts leave them out. */
const RESTRICTED_COLUMNS: readonly WrittenColumn<RunRow>[] = [
  ['owner', 'text', (run) => run.owner],
  ['lineage', 'json', (run) => jsonOrNull(run.lineage)],
]

/** Columns that change while a run is pending. */
const PENDING_WRITES = writes<RunRow>([
  ['state', 'word', (run) => run.state],
  ['attempt', 'int', (run) => run.attempt],
  ['seq', 'bigint', (run) => run.seq],
  ['not_before', 'instant', (run) => timestampOrNull(run.notBefore)],
  ['debouncing', 'boolean', (run) => run.debouncing],
  ['slot', 'word', (run) => run.slot],
  ['superseded', 'boolean', (run) => run.superseded],
  ['attempt_id', 'word', (run) => run.attemptId],
  ['node_id', 'word', (run) => run.nodeId],
  ['started_at', 'instant', (run) => timestampOrNull(run.startedAt)],
  ['ends_by', 'instant', (run) => timestampOrNull(run.endsBy)],
  ['grace_until', 'instant', (run) => timestampOrNull(run.graceUntil)],
  ['why', 'json', (run) => storedReason(run.why)],
  ['reserves', 'json', (run) => (run.reserves.length === 0 ? null : jsonOrNull(run.reserves))],
])

const USUAL_WRITES = writes(USUAL_COLUMNS)
const WHOLE_COLUMNS = [
  ...USUAL_COLUMNS,
  ...RARE_COLUMNS.map(([name, kind, value]): WrittenColumn<RunRow> => [name, kind, value]),
]
const WHOLE_WRITES = writes(WHOLE_COLUMNS)
const RESTRICTED_WRITES = writes([...WHOLE_COLUMNS, ...RESTRICTED_COLUMNS])

const insertRunsSql = (columns: Writes<RunRow>): string => `insert into run (org_id, created_at, ${columns.names})
  select $1, $2, * from unnest(${columns.arrays(3)})`

const INSERT_USUAL = insertRunsSql(USUAL_WRITES)
const INSERT_WHOLE = insertRunsSql(WHOLE_WRITES)
const INSERT_RESTRICTED = insertRunsSql(RESTRICTED_WRITES)

const isRestricted = ({ owner, lineage }: RunRow): boolean => owner !== null || lineage !== null
const isUsual = (run: RunRow): boolean =>
  !isRestricted(run) && RARE_COLUMNS.every(([, , value, usual]) => value(run) === usual)

/** Inserts new runs of one org, created at the same time. Most need only half of the columns. */
export function insertRuns(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  const createdAt = runs[0]?.createdAt
  if (createdAt === undefined) return
  if (runs.some(isRestricted)) {
    tx.send(INSERT_RESTRICTED, [orgId, toTimestamp(createdAt), ...RESTRICTED_WRITES.lists(runs)])
    return
  }
  const usual = runs.every(isUsual)
  const lists = (usual ? USUAL_WRITES : WHOLE_WRITES).lists(runs)
  tx.send(usual ? INSERT_USUAL : INSERT_WHOLE, [orgId, toTimestamp(createdAt), ...lists])
}

const INSERT_PENDING = `insert into pending (org_id, id, ${PENDING_WRITES.names})
  select $1, * from unnest($2::text[], ${PENDING_WRITES.arrays(3)})`

/** Inserts the pending rows of new runs. */
export function insertPending(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(INSERT_PENDING, [orgId, runIds(runs), ...PENDING_WRITES.lists(runs)])
}

const PENDING_FIRST = 3 + USUAL_WRITES.count
const HISTORY_FIRST = PENDING_FIRST + 1 + PENDING_WRITES.count
const HISTORY_ROW_PARAMETERS = { org: '$1', no: `$${HISTORY_FIRST}`, at: '$2', node: `$${HISTORY_FIRST + 1}` }

/** SQL that inserts runs, their pending rows and the history row, from arrays or, for a single run, from values. */
const insertSubmittedSql = (facts: string, live: string): string => `${versionStep(HISTORY_ROW_PARAMETERS)},
  facts as (
    insert into run (org_id, created_at, ${USUAL_WRITES.names}) ${facts}),
  history as (
    insert into turn (org_id, no, at, node_id, events)
    select $1, ${HISTORY_ROW_PARAMETERS.no}::bigint, $2::timestamptz, ${HISTORY_ROW_PARAMETERS.node}, $${HISTORY_FIRST + 2}::json where ${isNextTransaction(HISTORY_ROW_PARAMETERS)})
  insert into pending (org_id, id, ${PENDING_WRITES.names}) ${live}`

const INSERT_SUBMITTED = insertSubmittedSql(
  `select $1, $2, * from unnest(${USUAL_WRITES.arrays(3)})`,
  `select $1, * from unnest($${PENDING_FIRST}::text[], ${PENDING_WRITES.arrays(PENDING_FIRST + 1)})`,
)

/** A single run is the most common case, and arrays of one element cost the server a third of the statement. */
const INSERT_ONE_SUBMITTED = insertSubmittedSql(
  `values ($1, $2, ${USUAL_WRITES.params(3)})`,
  `values ($1, $${PENDING_FIRST}, ${PENDING_WRITES.params(PENDING_FIRST + 1)})`,
)

/** Whether runs can be inserted by `insertSubmitted`. */
export const areUsual = (runs: readonly RunRow[]): boolean => runs.every(isUsual)

/** Inserts usual runs as pending, with the history row: one round trip for a transaction that only admits runs. */
export function insertSubmitted(
  tx: Transaction,
  orgId: OrgId,
  { runs, turn }: { readonly runs: readonly RunRow[]; readonly turn: TransactionRow },
): void {
  const history = [turn.no, turn.nodeId, packEvents(turn.events)]
  const [run, ...others] = runs
  if (run !== undefined && others.length === 0) {
    const values = [...USUAL_WRITES.values(run), run.id, ...PENDING_WRITES.values(run)]
    tx.send(INSERT_ONE_SUBMITTED, [orgId, toTimestamp(turn.at), ...values, ...history])
    return
  }
  const values = [...USUAL_WRITES.lists(runs), runIds(runs), ...PENDING_WRITES.lists(runs)]
  tx.send(INSERT_SUBMITTED, [orgId, toTimestamp(turn.at), ...values, ...history])
}

const SAVE_PENDING = requireEveryRowSql(
  `with written as (update pending p set ${PENDING_WRITES.assignedFrom('u')} from ${rowsByKeySql('pending', PENDING_WRITES, 3)} where p.ctid = u.place`,
)

/** Writes the changes of pending runs. */
export function savePending(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(SAVE_PENDING, [orgId, runIds(runs), ...PENDING_WRITES.lists(runs)])
}

/** Columns written at a start that differ between the starts of a transaction. */
const START = writes<RunRow>([
  ['attempt_id', 'word', (run) => run.attemptId],
  ['ends_by', 'instant', (run) => timestampOrNull(run.endsBy)],
])

const START_RUNS = requireEveryRowSql(`with written as (
  update pending p set state = 'running', not_before = null, why = null, node_id = $3, started_at = $4, ${START.assignedFrom('u')}
    from ${rowsByKeySql('pending', START, 5)} where p.ctid = u.place`)

/** Writes the start of runs that started on the same node at the same time and have no other changes. */
export function startRuns(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  const [first] = runs
  if (first === undefined || first.startedAt === null) return
  tx.send(START_RUNS, [orgId, runIds(runs), first.nodeId, toTimestamp(first.startedAt), ...START.lists(runs)])
}

const RELEASE = writes<RunRow>([
  ['held_decision', 'json', (run) => jsonOrNull(run.heldDecision)],
  ['decision', 'json', (run) => jsonOrNull(run.decision)],
  ['first_attempt', 'int', (run) => run.firstAttempt],
])
const PAYLOAD = writes<RunRow>([['payload', 'json', (run) => jsonOrNull(run.payload)]])

const saveRunsSql = (columns: Writes<RunRow>): string =>
  `update run r set ${columns.assignedFrom('u')} from ${rowsByKeySql('run', columns, 3)} where r.ctid = u.place`

const SAVE_RELEASES = saveRunsSql(RELEASE)
const SAVE_PAYLOADS = saveRunsSql(PAYLOAD)

/** Writes the decision about released runs, and why they were held. */
export function saveReleases(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(SAVE_RELEASES, [orgId, runIds(runs), ...RELEASE.lists(runs)])
}

/** Writes the payloads of runs into which messages were merged. */
export function savePayloads(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(SAVE_PAYLOADS, [orgId, runIds(runs), ...PAYLOAD.lists(runs)])
}
