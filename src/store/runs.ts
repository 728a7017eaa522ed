import type { OrgId } from '../core/ids.ts'
import { ACCEPTED } from '../core/usual-why.ts'
import type { SqlValue, Transaction } from './database.ts'
import { storeRetryPolicy } from './run-columns.ts'
import type { RunRow } from './run-row.ts'
import {
  at,
  json,
  whyOf,
  names,
  given,
  single,
  singleValuesOf,
  assigned,
  valuesOf,
  idsOf,
  placed,
  each,
  type Column,
  type Columns,
} from './run-values.ts'
import { toTimestamp } from './timestamp.ts'
import { isNextTurn, packEvents, versionStep, type TurnRow } from './turns.ts'

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

/** Writes what was decided about runs when they were released, beside why they were held. */
export function saveReleases(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  tx.send(
    `update run r set held_decision = u.held_decision, decision = u.decision, first_attempt = u.first_attempt
       from (select i.*, (select t.ctid from run t where t.org_id = $1 and t.id = i.id) as place
               from unnest($2::text[], $3::jsonb[], $4::jsonb[], $5::int[])
                 as i (id, held_decision, decision, first_attempt)) u
      where r.ctid = u.place`,
    [
      orgId,
      runs.map((run) => run.id),
      runs.map((run) => json(run.heldDecision)),
      runs.map((run) => json(run.decision)),
      runs.map((run) => run.firstAttempt),
    ],
  )
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
