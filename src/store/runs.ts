import type { OrgId } from '../domain/ids.ts'
import type { Why } from '../domain/reasons.ts'
import { ACCEPTED, COMPLETED, PICKED } from '../core/usual-why.ts'
import type { SqlValue, Transaction } from './database.ts'
import { type RunRow, storeRetryPolicy } from './run-row.ts'
import {
  jsonOrNull,
  plainArray,
  timestampOrNull,
  toTimestamp,
  writes,
  type Writes,
  type Written,
} from '../platform/db/table.ts'
import { isNextTurn, packEvents, type TurnRow, versionStep } from '../engine/transaction/history-store.ts'

/** Null is what the state alone says: picked while it runs, completed when it succeeded. */
export const whyOf = (why: Why | null): string | null => (why === PICKED || why === COMPLETED ? null : jsonOrNull(why))

export const idsOf = (runs: readonly RunRow[]): string => plainArray(runs.map((run) => run.id))

/**
 * Rows are found by their key in a subquery and written where they are. As a join it may be planned the other way round
 * while statistics still say that the table is empty; then every run of the org meets every id.
 */
export const placed = (table: 'run' | 'pending', columns: Writes<RunRow>, first: number): string =>
  `(select i.*, (select t.ctid from ${table} t where t.org_id = $1 and t.id = i.id) as place
      from unnest($2::text[], ${columns.arrays(first)}) as i (id, ${columns.names})) u`

/**
 * Writes rows and fails, and the transaction with it, unless every row was there: what is remembered is not what is on
 * record then, and nothing that was decided by it must be kept.
 */
export const each = (write: string, also = 'true'): string =>
  `${write} returning 1)
  select case when (select count(*) from written) = cardinality($2::text[]) and ${also} then 1
              else refuse_unknown_rows() end`

/** What nearly every run differs in. `org_id` and `created_at` are the same for all runs of a statement. */
const USUAL_COLUMNS: readonly Written<RunRow>[] = [
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

/** What most runs have as the table has it by default. */
const RARE: readonly (readonly [...Written<RunRow>, usual: SqlValue])[] = [
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

/** What only runs have that were made under guard rails; the others pay nothing for it. */
const RAILED: readonly Written<RunRow>[] = [
  ['owner', 'text', (run) => run.owner],
  ['lineage', 'json', (run) => jsonOrNull(run.lineage)],
]

/** What changes while it is pending. */
const LIVE = writes<RunRow>([
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
  ['why', 'json', (run) => whyOf(run.why)],
  ['reserves', 'json', (run) => (run.reserves.length === 0 ? null : jsonOrNull(run.reserves))],
])

const USUAL = writes(USUAL_COLUMNS)
const WHOLE_COLUMNS = [...USUAL_COLUMNS, ...RARE.map(([name, kind, value]): Written<RunRow> => [name, kind, value])]
const WHOLE = writes(WHOLE_COLUMNS)
const WITH_RAILS = writes([...WHOLE_COLUMNS, ...RAILED])

const insertOf = (columns: Writes<RunRow>): string => `insert into run (org_id, created_at, ${columns.names})
  select $1, $2, * from unnest(${columns.arrays(3)})`

const INSERT_USUAL = insertOf(USUAL)
const INSERT_WHOLE = insertOf(WHOLE)
const INSERT_RAILED = insertOf(WITH_RAILS)

const isRailed = ({ owner, lineage }: RunRow): boolean => owner !== null || lineage !== null
const isUsual = (run: RunRow): boolean => !isRailed(run) && RARE.every(([, , value, usual]) => value(run) === usual)

/** Puts new runs on record, all of one org and moment. Most need only half of the columns. */
export function insertRuns(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  const createdAt = runs[0]?.createdAt
  if (createdAt === undefined) return
  if (runs.some(isRailed)) {
    tx.send(INSERT_RAILED, [orgId, toTimestamp(createdAt), ...WITH_RAILS.lists(runs)])
    return
  }
  const usual = runs.every(isUsual)
  const lists = (usual ? USUAL : WHOLE).lists(runs)
  tx.send(usual ? INSERT_USUAL : INSERT_WHOLE, [orgId, toTimestamp(createdAt), ...lists])
}

const INSERT_PENDING = `insert into pending (org_id, id, ${LIVE.names})
  select $1, * from unnest($2::text[], ${LIVE.arrays(3)})`

/** Begins the pending life of new runs. */
export function insertPending(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(INSERT_PENDING, [orgId, idsOf(runs), ...LIVE.lists(runs)])
}

const PENDING_FIRST = 3 + USUAL.count
const TURN_FIRST = PENDING_FIRST + 1 + LIVE.count
const TURN = { org: '$1', no: `$${TURN_FIRST}`, at: '$2', node: `$${TURN_FIRST + 1}` }

/** Runs with their pending halves and the turn, out of lists of columns or, for a run alone, out of its values. */
const submittedOf = (facts: string, live: string): string => `${versionStep(TURN)},
  facts as (
    insert into run (org_id, created_at, ${USUAL.names}) ${facts}),
  history as (
    insert into turn (org_id, no, at, node_id, events)
    select $1, ${TURN.no}::bigint, $2::timestamptz, ${TURN.node}, $${TURN_FIRST + 2}::json where ${isNextTurn(TURN)})
  insert into pending (org_id, id, ${LIVE.names}) ${live}`

const INSERT_SUBMITTED = submittedOf(
  `select $1, $2, * from unnest(${USUAL.arrays(3)})`,
  `select $1, * from unnest($${PENDING_FIRST}::text[], ${LIVE.arrays(PENDING_FIRST + 1)})`,
)

/** A run alone is the most usual case, and two dozen lists of one element cost the server a third of the statement. */
const INSERT_ONE_SUBMITTED = submittedOf(
  `values ($1, $2, ${USUAL.params(3)})`,
  `values ($1, $${PENDING_FIRST}, ${LIVE.params(PENDING_FIRST + 1)})`,
)

/** Whether runs can be put on record by `insertSubmitted`. */
export const areUsual = (runs: readonly RunRow[]): boolean => runs.every(isUsual)

/** Puts runs of the usual kind on record, pending, with the turn that made them: one trip for a turn that only admits. */
export function insertSubmitted(
  tx: Transaction,
  orgId: OrgId,
  { runs, turn }: { readonly runs: readonly RunRow[]; readonly turn: TurnRow },
): void {
  const history = [turn.no, turn.nodeId, packEvents(turn.events)]
  const [run, ...others] = runs
  if (run !== undefined && others.length === 0) {
    const values = [...USUAL.values(run), run.id, ...LIVE.values(run)]
    tx.send(INSERT_ONE_SUBMITTED, [orgId, toTimestamp(turn.at), ...values, ...history])
    return
  }
  const values = [...USUAL.lists(runs), idsOf(runs), ...LIVE.lists(runs)]
  tx.send(INSERT_SUBMITTED, [orgId, toTimestamp(turn.at), ...values, ...history])
}

const SAVE_PENDING = each(
  `with written as (update pending p set ${LIVE.assignedFrom('u')} from ${placed('pending', LIVE, 3)} where p.ctid = u.place`,
)

/** Writes back what has changed about pending runs. */
export function savePending(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(SAVE_PENDING, [orgId, idsOf(runs), ...LIVE.lists(runs)])
}

/** What a start changes, beside what is the same for all starts of a turn. */
const START = writes<RunRow>([
  ['attempt_id', 'word', (run) => run.attemptId],
  ['ends_by', 'instant', (run) => timestampOrNull(run.endsBy)],
])

const START_RUNS = each(`with written as (
  update pending p set state = 'running', not_before = null, why = null, node_id = $3, started_at = $4, ${START.assignedFrom('u')}
    from ${placed('pending', START, 5)} where p.ctid = u.place`)

/** Writes that runs have started, and nothing else about them: all on one node, at one moment. */
export function startRuns(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  const [first] = runs
  if (first === undefined || first.startedAt === null) return
  tx.send(START_RUNS, [orgId, idsOf(runs), first.nodeId, toTimestamp(first.startedAt), ...START.lists(runs)])
}

const RELEASE = writes<RunRow>([
  ['held_decision', 'json', (run) => jsonOrNull(run.heldDecision)],
  ['decision', 'json', (run) => jsonOrNull(run.decision)],
  ['first_attempt', 'int', (run) => run.firstAttempt],
])
const PAYLOAD = writes<RunRow>([['payload', 'json', (run) => jsonOrNull(run.payload)]])

const saveOf = (columns: Writes<RunRow>): string =>
  `update run r set ${columns.assignedFrom('u')} from ${placed('run', columns, 3)} where r.ctid = u.place`

const SAVE_RELEASES = saveOf(RELEASE)
const SAVE_PAYLOADS = saveOf(PAYLOAD)

/** Writes what was decided about runs when they were released, beside why they were held. */
export function saveReleases(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(SAVE_RELEASES, [orgId, idsOf(runs), ...RELEASE.lists(runs)])
}

/** Writes the payload of runs that messages were merged into. */
export function savePayloads(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(SAVE_PAYLOADS, [orgId, idsOf(runs), ...PAYLOAD.lists(runs)])
}
