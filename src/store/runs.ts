import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import { ACCEPTED, COMPLETED, PICKED } from '../core/usual-why.ts'
import { plainArray, textArray } from './arrays.ts'
import type { SqlValue, Transaction } from './database.ts'
import type { RunRow } from './run-row.ts'
import { toTimestamp } from './timestamp.ts'
import { isNextTurn, packEvents, versionStep, type TurnRow } from './turns.ts'
import { storeRetryPolicy } from './run-columns.ts'

const at = (moment: Instant | null): string | null => (moment === null ? null : toTimestamp(moment))
const json = (value: unknown): string | null => (value === null || value === undefined ? null : JSON.stringify(value))

/** Null is what the state alone says: picked while it runs, completed when it succeeded. */
const whyOf = (why: Why | null): string | null => (why === PICKED || why === COMPLETED ? null : json(why))

type Column = readonly [name: string, type: string, value: (run: RunRow) => SqlValue]

/** What nearly every run differs in. `org_id` and `created_at` are the same for all runs of a statement. */
const USUAL: readonly Column[] = [
  ['id', 'text', (run) => run.id],
  ['agent_id', 'text', (run) => run.agentId],
  ['executor_key', 'text', (run) => run.executorKey],
  ['session_key', 'text', (run) => run.sessionKey],
  ['generation', 'int', (run) => run.generation],
  ['trigger', 'text', (run) => run.trigger],
  ['lane', 'text', (run) => run.lane],
  ['priority', 'int', (run) => run.priority],
  ['sender', 'text', (run) => run.sender],
  ['deadline', 'timestamptz', (run) => at(run.deadline)],
  ['payload', 'jsonb', (run) => json(run.payload)],
]

/** What most runs have as the table has it by default. */
const RARE: readonly (readonly [...Column, usual: SqlValue])[] = [
  ['job_run_id', 'text', (run) => (run.jobRunId === run.id ? null : run.jobRunId), null],
  ['schedule_id', 'text', (run) => run.scheduleId, null],
  ['nominal_at', 'timestamptz', (run) => at(run.nominal), null],
  ['interrupts', 'boolean', (run) => run.interrupts, false],
  ['timeout_seconds', 'int', (run) => run.timeoutSeconds, null],
  ['retry_policy', 'jsonb', (run) => storeRetryPolicy(run), null],
  ['failure_action_retries', 'boolean', (run) => run.failureActionRetries, false],
  ['first_attempt', 'int', (run) => run.firstAttempt, 1],
  ['retry_of', 'text', (run) => run.retryOf, null],
  ['parent_run_id', 'text', (run) => run.parentRunId, null],
  ['decision', 'jsonb', (run) => (run.decision === ACCEPTED ? null : json(run.decision)), null],
  ['delivery', 'jsonb', (run) => json(run.delivery), null],
  ['trace', 'text', (run) => run.trace, null],
]

/** What only runs have that were made under guard rails; the others pay nothing for it. */
const RAILED: readonly Column[] = [
  ['owner', 'text', (run) => run.owner],
  ['lineage', 'jsonb', (run) => json(run.lineage)],
]

/** What changes while it is pending. */
const LIVE: readonly Column[] = [
  ['state', 'text', (run) => run.state],
  ['attempt', 'int', (run) => run.attempt],
  ['seq', 'bigint', (run) => run.seq],
  ['not_before', 'timestamptz', (run) => at(run.notBefore)],
  ['debouncing', 'boolean', (run) => run.debouncing],
  ['slot', 'text', (run) => run.slot],
  ['superseded', 'boolean', (run) => run.superseded],
  ['attempt_id', 'text', (run) => run.attemptId],
  ['node_id', 'text', (run) => run.nodeId],
  ['started_at', 'timestamptz', (run) => at(run.startedAt)],
  ['ends_by', 'timestamptz', (run) => at(run.endsBy)],
  ['grace_until', 'timestamptz', (run) => at(run.graceUntil)],
  ['why', 'jsonb', (run) => whyOf(run.why)],
  ['reserves', 'jsonb', (run) => (run.reserves.length === 0 ? null : json(run.reserves))],
]

/** How it ended. */
const ENDING: readonly Column[] = [
  ['state', 'text', (run) => run.state],
  ['attempt', 'int', (run) => run.attempt],
  ['attempt_id', 'text', (run) => run.attemptId],
  ['node_id', 'text', (run) => run.nodeId],
  ['started_at', 'timestamptz', (run) => at(run.startedAt)],
  ['finished_at', 'timestamptz', (run) => at(run.finishedAt)],
  ['superseded', 'boolean', (run) => run.superseded],
  ['why', 'jsonb', (run) => whyOf(run.why)],
  ['error_code', 'text', (run) => run.errorCode],
  ['error_message', 'text', (run) => run.errorMessage],
  ['output', 'jsonb', (run) => json(run.output)],
  ['summary', 'text', (run) => run.summary],
  ['usage', 'jsonb', (run) => json(run.usage)],
]

type Columns = readonly (readonly [name: string, type: string, value: (run: RunRow) => SqlValue, ...rest: unknown[]])[]

/** Columns that hold what somebody else wrote, so that it has to be quoted. */
const FREE: ReadonlySet<string> = new Set([
  'job_run_id',
  'agent_id',
  'executor_key',
  'session_key',
  'schedule_id',
  'lane',
  'sender',
  'payload',
  'retry_policy',
  'retry_of',
  'parent_run_id',
  'owner',
  'lineage',
  'decision',
  'delivery',
  'why',
  'reserves',
  'error_message',
  'output',
  'summary',
  'usage',
])

const names = (columns: Columns): string => columns.map(([name]) => name).join(', ')
const given = (columns: Columns, first: number): string =>
  columns.map(([, type], index) => `$${first + index}::${type}[]`).join(', ')
const single = (columns: Columns, first: number): string =>
  columns.map(([, type], index) => `$${first + index}::${type}`).join(', ')
const singleValuesOf = (columns: Columns, run: RunRow): readonly SqlValue[] => columns.map(([, , value]) => value(run))
const assigned = (columns: Columns): string => columns.map(([name]) => `${name} = u.${name}`).join(', ')
const valuesOf = (columns: Columns, runs: readonly RunRow[]): readonly SqlValue[] =>
  columns.map(([name, , value]) => {
    const values = runs.map((run) => value(run))
    return FREE.has(name) ? textArray(values as (string | null)[]) : plainArray(values as (string | number | null)[])
  })
const idsOf = (runs: readonly RunRow[]): string => plainArray(runs.map((run) => run.id))

const insertOf = (columns: Columns): string => `insert into run (org_id, created_at, ${names(columns)})
  select $1, $2, * from unnest(${given(columns, 3)})`

const EVERYTHING: Columns = [...USUAL, ...RARE]
const INSERT_USUAL = insertOf(USUAL)
const INSERT_RUNS = insertOf(EVERYTHING)
const WITH_RAILS: Columns = [...EVERYTHING, ...RAILED]
const INSERT_RAILED = insertOf(WITH_RAILS)

const isRailed = ({ owner, lineage }: RunRow): boolean => owner !== null || lineage !== null
const isUsual = (run: RunRow): boolean => !isRailed(run) && RARE.every(([, , value, usual]) => value(run) === usual)

/** Puts new runs on record, all of one org and moment. Most need only half of the columns. */
export function insertRuns(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  const createdAt = runs[0]?.createdAt
  if (createdAt === undefined) return
  if (runs.some(isRailed)) {
    tx.send(INSERT_RAILED, [orgId, toTimestamp(createdAt), ...valuesOf(WITH_RAILS, runs)])
    return
  }
  const usual = runs.every(isUsual)
  const values = valuesOf(usual ? USUAL : EVERYTHING, runs)
  tx.send(usual ? INSERT_USUAL : INSERT_RUNS, [orgId, toTimestamp(createdAt), ...values])
}

const INSERT_PENDING = `insert into pending (org_id, id, ${names(LIVE)})
  select $1, * from unnest($2::text[], ${given(LIVE, 3)})`

/** Begins the pending life of new runs. */
export function insertPending(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(INSERT_PENDING, [orgId, idsOf(runs), ...valuesOf(LIVE, runs)])
}

/**
 * Rows are found by their key in a subquery and written where they are. As a join it may be planned the other way round
 * while statistics still say that the table is empty; then every run of the org meets every id.
 */
const placed = (table: 'run' | 'pending', columns: Columns, first: number): string =>
  `(select i.*, (select t.ctid from ${table} t where t.org_id = $1 and t.id = i.id) as place
      from unnest($2::text[], ${given(columns, first)}) as i (id, ${names(columns)})) u`

const PENDING_FIRST = 3 + USUAL.length
const TURN_FIRST = PENDING_FIRST + 1 + LIVE.length
const TURN = { org: '$1', no: `$${TURN_FIRST}`, at: '$2', node: `$${TURN_FIRST + 1}` }

/** Runs with their pending halves and the turn, out of lists of columns or, for a run alone, out of its values. */
const submittedOf = (facts: string, live: string): string => `${versionStep(TURN)},
  facts as (
    insert into run (org_id, created_at, ${names(USUAL)}) ${facts}),
  history as (
    insert into turn (org_id, no, at, node_id, events)
    select $1, ${TURN.no}::bigint, $2::timestamptz, ${TURN.node}, $${TURN_FIRST + 2}::json where ${isNextTurn(TURN)})
  insert into pending (org_id, id, ${names(LIVE)}) ${live}`

const INSERT_SUBMITTED = submittedOf(
  `select $1, $2, * from unnest(${given(USUAL, 3)})`,
  `select $1, * from unnest($${PENDING_FIRST}::text[], ${given(LIVE, PENDING_FIRST + 1)})`,
)

/** A run alone is the most usual case, and two dozen lists of one element cost the server a third of the statement. */
const INSERT_ONE_SUBMITTED = submittedOf(
  `values ($1, $2, ${single(USUAL, 3)})`,
  `values ($1, $${PENDING_FIRST}, ${single(LIVE, PENDING_FIRST + 1)})`,
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
    const values = [...singleValuesOf(USUAL, run), run.id, ...singleValuesOf(LIVE, run)]
    tx.send(INSERT_ONE_SUBMITTED, [orgId, toTimestamp(turn.at), ...values, ...history])
    return
  }
  const values = [...valuesOf(USUAL, runs), idsOf(runs), ...valuesOf(LIVE, runs)]
  tx.send(INSERT_SUBMITTED, [orgId, toTimestamp(turn.at), ...values, ...history])
}

/**
 * Writes rows and fails, and the transaction with it, unless every row was there: what is remembered is not what is on
 * record then, and nothing that was decided by it must be kept. Dividing by zero is the cheapest way to say no.
 */
const each = (write: string, also = 'true'): string =>
  `${write} returning 1) select 1 / ((select count(*) from written) = cardinality($2::text[]) and ${also})::int`

const SAVE_PENDING = each(
  `with written as (update pending p set ${assigned(LIVE)} from ${placed('pending', LIVE, 3)} where p.ctid = u.place`,
)

/** Writes back what has changed about pending runs. */
export function savePending(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(SAVE_PENDING, [orgId, idsOf(runs), ...valuesOf(LIVE, runs)])
}

/** What a start changes, beside what is the same for all starts of a turn. */
const START: Columns = [
  ['attempt_id', 'text', (run) => run.attemptId],
  ['ends_by', 'timestamptz', (run) => at(run.endsBy)],
]

const START_RUNS = each(`with written as (
  update pending p set state = 'running', not_before = null, why = null, node_id = $3, started_at = $4, ${assigned(START)}
    from ${placed('pending', START, 5)} where p.ctid = u.place`)

/** Writes that runs have started, and nothing else about them: all on one node, at one moment. */
export function startRuns(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  const [first] = runs
  if (first === undefined || first.startedAt === null) return
  tx.send(START_RUNS, [orgId, idsOf(runs), first.nodeId, toTimestamp(first.startedAt), ...valuesOf(START, runs)])
}

const GONE = 'with gone as (delete from pending where org_id = $1 and id = any($2::text[]) returning 1)'

/** All of the runs were pending, or, as those that ended in the turn that made them, none. */
const wereGone = (parameter: number): string =>
  `(select count(*) from gone) = case when $${parameter}::boolean then cardinality($2::text[]) else 0 end`

const END_RUNS = each(
  `${GONE}, written as (
  update run r set ${assigned(ENDING)} from ${placed('run', ENDING, 3)} where r.ctid = u.place`,
  wereGone(3 + ENDING.length),
)

/** What differs between runs of one node that all succeeded at one moment with nothing more to say. */
const SUCCESS: Columns = ENDING.filter(([name]) => ['attempt', 'attempt_id', 'started_at'].includes(name))

const END_SUCCESSES = each(
  `${GONE}, written as (
  update run r set state = 'success', node_id = $3, finished_at = $4, superseded = false, ${assigned(SUCCESS)}
    from ${placed('run', SUCCESS, 5)} where r.ctid = u.place`,
  wereGone(5 + SUCCESS.length),
)

const END_SUCCESS = `with gone as (delete from pending where org_id = $1 and id = $2 returning 1), written as (
    update run set state = 'success', node_id = $3, finished_at = $4, superseded = false,
      ${SUCCESS.map(([name, type], index) => `${name} = $${5 + index}::${type}`).join(', ')}
    where org_id = $1 and id = $2 returning 1)
  select 1 / ((select count(*) from written) = 1
    and (select count(*) from gone) = $${5 + SUCCESS.length}::boolean::int)::int`

/** What a plain success leaves empty. */
const SAID: Columns = ENDING.filter(([name]) =>
  ['why', 'error_code', 'error_message', 'output', 'summary', 'usage'].includes(name),
)

const isPlainSuccess = (run: RunRow, like: RunRow): boolean =>
  run.state === 'success' &&
  !run.superseded &&
  run.nodeId === like.nodeId &&
  run.finishedAt === like.finishedAt &&
  SAID.every(([, , value]) => value(run) === null)

/**
 * Ends runs: they leave what is pending, and how they ended is written. Plain successes need a quarter of the columns.
 * `arePending`: false for runs that end in the turn that made them.
 */
export function endRuns(tx: Transaction, orgId: OrgId, runs: readonly RunRow[], arePending = true): void {
  const [first] = runs
  if (first === undefined) return
  if (!runs.every((run) => isPlainSuccess(run, first))) {
    tx.send(END_RUNS, [orgId, idsOf(runs), ...valuesOf(ENDING, runs), arePending])
    return
  }
  const same = [first.nodeId, at(first.finishedAt)]
  if (runs.length === 1) tx.send(END_SUCCESS, [orgId, first.id, ...same, ...singleValuesOf(SUCCESS, first), arePending])
  else tx.send(END_SUCCESSES, [orgId, idsOf(runs), ...same, ...valuesOf(SUCCESS, runs), arePending])
}

/** Writes the payload of runs that messages were merged into. */
export function savePayloads(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(
    `update run r set payload = u.payload
       from (select i.*, (select t.ctid from run t where t.org_id = $1 and t.id = i.id) as place
               from unnest($2::text[], $3::jsonb[]) as i (id, payload)) u
      where r.ctid = u.place`,
    [orgId, runs.map((run) => run.id), runs.map((run) => json(run.payload))],
  )
}
