import type { AlertKind } from '../../domain/alerts.ts'
import type { AgentId, LaneName, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { CountsByKey, EndedCounts } from '../../domain/run/ended-counts.ts'
import type { PendingState } from '../../domain/run/run-machine.ts'
import type { ScheduleState } from '../../domain/schedule/lifecycle.ts'
import type { Connection } from '../../platform/db/database.ts'
import { column, columns, counted, type RowOf, toTimestamp, writes } from '../../platform/db/table.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import type { QueuedRun } from '../../domain/queue/queued-run.ts'
import { queueKindOf } from '../../domain/queue/ready-lines.ts'
import type { Trigger } from '../../domain/run/run.ts'
import { RUNS_WITH_PENDING } from '../runs/read-store.ts'
import { RUN_STATE_SQL } from '../runs/record-store.ts'

/** The counting positions (0 or 1) and transactions that a counting statement has found. */
export const countPassColumns = columns({
  places: column.bigint('(select count(*) from place)'),
  turns: column.bigint('(select count(*) from fresh)'),
})

/**
 * Counts how runs ended in the next transactions that are not counted yet. The statement locks the counting position of
 * the org, so that each transaction is counted once across all nodes; nothing else waits for this lock. Returns the
 * number of transactions. Null: the org has no position yet.
 */
export async function addUpTransactions(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly limit: number },
): Promise<number | null> {
  const rows = await connection.query(
    `with place as (select no from run_count_place where org_id = $1 for update),
     fresh as (select t.no, t.at, t.ended from turn t, place p
                where t.org_id = $1 and t.no > p.no order by t.no limit $2),
     added as (
       insert into run_count (org_id, hour, kind, key, count)
       select $1, date_trunc('hour', f.at, 'UTC'), k.kind, c.key, sum(c.count::bigint)
         from fresh f
         cross join lateral jsonb_each(f.ended) as k (kind, counts)
         cross join lateral jsonb_each_text(k.counts) as c (key, count)
        group by 2, 3, 4
       on conflict (org_id, hour, kind, key) do update set count = run_count.count + excluded.count),
     moved as (
       update run_count_place set no = (select max(no) from fresh)
        where org_id = $1 and exists (select 1 from fresh))
     select ${countPassColumns.list}`,
    [query.orgId, query.limit],
  )
  const { places: positions, turns: transactions } = countPassColumns.only(rows)
  return positions === 0 ? null : transactions
}

/** Inserts the counting position of an org, at the start of its history, if it has none. */
export async function insertCountPosition(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query('insert into run_count_place (org_id, no) values ($1, 0) on conflict (org_id) do nothing', [
    orgId,
  ])
}

const countSumColumns = columns({
  kind: column.text<keyof EndedCounts>(),
  key: column.text(),
  count: column.bigint('sum(count)::bigint'),
})
type CountSum = RowOf<typeof countSumColumns>

/** The counts of the hours from `from` (inclusive) to `to` (exclusive). */
export async function loadCounts(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly from: Instant; readonly to: Instant },
): Promise<EndedCounts> {
  const rows = await connection.query(
    `select ${countSumColumns.list} from run_count
      where org_id = $1 and hour >= $2::timestamptz and hour < $3::timestamptz group by kind, key`,
    [query.orgId, toTimestamp(query.from), toTimestamp(query.to)],
  )
  return endedCountsFromRows(countSumColumns.read(rows))
}

function endedCountsFromRows(rows: readonly CountSum[]): Required<EndedCounts> {
  const of = (kind: keyof EndedCounts): CountsByKey =>
    Object.fromEntries(rows.filter((row) => row.kind === kind).map(({ key, count }) => [key, count]))
  return {
    ...{ status: of('status'), duration: of('duration'), lateness: of('lateness'), usage: of('usage') },
    probe: of('probe'),
  }
}

const stepSumColumns = columns({ at: column.instant("date_trunc($4, hour, 'UTC')"), ...countSumColumns.definitions })

/** The counts from `from` (inclusive) to `to` (exclusive) by UTC hour or day; empty steps are omitted. */
export async function loadCountSteps(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly from: Instant; readonly to: Instant; readonly step: 'hour' | 'day' },
): Promise<ReadonlyMap<Instant, EndedCounts>> {
  const rows = await connection.query(
    `select ${stepSumColumns.list} from run_count
      where org_id = $1 and hour >= $2::timestamptz and hour < $3::timestamptz group by 1, 2, 3`,
    [query.orgId, toTimestamp(query.from), toTimestamp(query.to), query.step],
  )
  const steps = new Map<Instant, CountSum[]>()
  for (const row of stepSumColumns.read(rows)) {
    const step = steps.get(row.at)
    if (step === undefined) steps.set(row.at, [row])
    else step.push(row)
  }
  return new Map([...steps].map(([at, found]) => [at, endedCountsFromRows(found)]))
}

const pendingCountColumns = columns({
  agentId: column.text<AgentId>('r.agent_id'),
  lane: column.text<LaneName>('r.lane'),
  state: column.text<PendingState>('p.state'),
  ...counted.definitions,
})

/** The number of pending runs of an agent in a lane and state. */
export type PendingCount = RowOf<typeof pendingCountColumns>

/** Counts the pending runs of an org, one by one outside of the backlog: only for nodes that have not loaded the org. */
export async function countPendingOfOrg(connection: Connection, orgId: OrgId): Promise<readonly PendingCount[]> {
  const rows = await connection.query(
    `select ${pendingCountColumns.list}
       from pending p join run r on r.org_id = p.org_id and r.id = p.id
      where p.org_id = $1 group by 1, 2, 3
     union all select agent_id, lane, 'queued', sum(count) from backlog_line where org_id = $1 group by 1, 2`,
    [orgId],
  )
  return pendingCountColumns.read(rows)
}

const scheduleStateColumns = columns({ state: column.text<ScheduleState>(), ...counted.definitions })

/** Number of schedules of an org by state. */
export async function countSchedulesByState(
  connection: Connection,
  orgId: OrgId,
): Promise<Readonly<Partial<Record<ScheduleState, number>>>> {
  const rows = await connection.query(
    `select ${scheduleStateColumns.list} from schedule where org_id = $1 group by state order by state`,
    [orgId],
  )
  return Object.fromEntries(scheduleStateColumns.read(rows).map(({ state, count }) => [state, count]))
}

const allScheduleColumns = columns({ state: column.text<ScheduleState>(), ...counted.definitions })
const allPendingColumns = columns({ state: column.text<PendingState>(), count: column.bigint('sum(count)::bigint') })
const openAlertColumns = columns({ kind: column.text<AlertKind>(), ...counted.definitions })

/** Number of schedules of all orgs by state. Scans all of them, so do not call it for every request. */
export async function countAllSchedules(
  connection: Connection,
): Promise<Readonly<Partial<Record<ScheduleState, number>>>> {
  const rows = await connection.query(`select ${allScheduleColumns.list} from schedule group by state`, [])
  return Object.fromEntries(allScheduleColumns.read(rows).map(({ state, count }) => [state, count]))
}

/**
 * Number of pending runs of all orgs by state. Scans all that are not in the backlog, so do not call it for every
 * request.
 */
export async function countAllPending(
  connection: Connection,
): Promise<Readonly<Partial<Record<PendingState, number>>>> {
  const rows = await connection.query(
    `select ${allPendingColumns.list}
       from (select state, count(*) as count from pending group by state
             union all select 'queued', sum(count) from backlog_line having count(*) > 0) counted
      group by state`,
    [],
  )
  return Object.fromEntries(allPendingColumns.read(rows).map(({ state, count }) => [state, count]))
}

/** Number of open alerts of all orgs by kind. */
export async function countOpenAlerts(connection: Connection): Promise<Readonly<Partial<Record<AlertKind, number>>>> {
  const rows = await connection.query(
    `select ${openAlertColumns.list} from alert where cleared_at is null group by kind`,
    [],
  )
  return Object.fromEntries(openAlertColumns.read(rows).map(({ kind, count }) => [kind, count]))
}

/** Whether there is more than one org. */
export async function hasManyOrgs(connection: Connection): Promise<boolean> {
  const rows = await connection.query('select 1 from org where deleted_at is null limit 2', [])
  return rows.length > 1
}

/** How many runs before one in the backlog are counted. Beyond, a run has no position. */
const MAX_COUNTED = 10_000

/** The same for a page of runs: as many for all agents of the page together. */
const MAX_COUNTED_OF_PAGE = 2_000

/** Each agent of a page is counted at least so far. */
const MIN_COUNTED_OF_PAGE = 20

/** The position of a run that is too far back to be counted, as texts have it. */
export const UNCOUNTED = '10,000+'

const keyColumns = columns({
  id: column.text<RunId>('r.id'),
  agentId: column.text<AgentId>('r.agent_id'),
  priority: column.int('r.priority'),
  createdAt: column.instant('r.created_at'),
})

/** What orders the queued runs of an agent. */
export type QueuedKey = RowOf<typeof keyColumns>

/** The keys of those of the runs that are queued. */
export async function loadQueuedKeys(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly QueuedKey[]> {
  const rows = await connection.query(
    `select ${keyColumns.list} from ${RUNS_WITH_PENDING}
      where r.org_id = $1 and r.id = any($2::text[]) and ${RUN_STATE_SQL} = 'queued'`,
    [query.orgId, query.ids],
  )
  return keyColumns.read(rows)
}

const backlogColumns = columns({
  ...keyColumns.definitions,
  executorKey: column.text('b.executor_key'),
  sessionKey: column.text<SessionKey | null>('b.session_key'),
  trigger: column.text<Trigger>('r.trigger'),
  lane: column.text<LaneName>('b.lane'),
  seq: column.bigint('b.seq'),
  attempt: column.int('r.first_attempt'),
  reserves: column.json<readonly Reserve[] | null>('b.reserves'),
  ahead: column.text<RunId | null>(`case when b.session_key is not null then (
    select nullif(h.id, b.id) from backlog h where h.org_id = b.org_id and h.session_key = b.session_key
     order by h.seq, h.id limit 1) end`),
})

/** A run in the backlog, and the first of its session there; null: it has no session, or is the first. */
export interface BacklogFacts {
  readonly run: QueuedRun
  readonly ahead: RunId | null
}

/** Loads a run that is in the backlog; null: it is not there. */
export async function loadFromBacklog(
  connection: Connection,
  run: Pick<QueuedRun, 'orgId' | 'id' | 'trigger' | 'createdAt'>,
): Promise<BacklogFacts | null> {
  const { orgId } = run
  const rows = await connection.query(
    `select ${backlogColumns.list} from backlog b join run r on r.org_id = b.org_id and r.id = b.id
      where b.org_id = $1 and b.kind = $2 and b.created_at = $3::timestamptz and b.id = $4`,
    [orgId, queueKindOf(run), toTimestamp(run.createdAt), run.id],
  )
  const found = backlogColumns.first(rows)
  if (found === undefined) return null
  const { ahead, reserves, ...facts } = found
  const queued = { state: 'queued', slot: null, interrupts: false, inGeneration: true, notBefore: null } as const
  return { ahead, run: { ...facts, ...queued, orgId, firstAttempt: facts.attempt, reserves: reserves ?? [] } }
}

interface Wanted {
  readonly orgId: OrgId
  readonly runs: readonly QueuedKey[]
}

const KEYS = writes<QueuedKey>([
  ['id', 'word', ({ id }) => id],
  ['agent_id', 'text', ({ agentId }) => agentId],
  ['priority', 'int', ({ priority }) => priority],
  ['created_at', 'instant', ({ createdAt }) => toTimestamp(createdAt)],
])
const WANTED = `select agent_id, priority, created_at, id, false as is_cut, true as is_wanted
  from unnest(${KEYS.arrays(2)}) as i (${KEYS.names})`

const beforeColumns = columns({ id: column.text<RunId>(), before: column.bigint() })

/** Ranks wanted runs among the others of their agents; `is_cut`: the others end here, more may follow. */
const rankSql = (others: string): string => `select ${beforeColumns.list} from (
    select id, is_wanted, count(*) filter (where not is_wanted) over places as before, bool_or(is_cut) over places as is_cut
      from (${others} union all ${WANTED}) ranked
    window places as (partition by agent_id order by priority, created_at, id, is_wanted desc)) placed
  where is_wanted and is_cut is not true`

const mapOf = (rows: readonly RowOf<typeof beforeColumns>[]): ReadonlyMap<RunId, number> =>
  new Map(rows.map(({ id, before }) => [id, before]))

/** Counts the queued runs outside of the backlog that go before each run. Reads all of them. */
export async function countPendingBefore(connection: Connection, wanted: Wanted): Promise<ReadonlyMap<RunId, number>> {
  const rows = await connection.query(
    rankSql(`select r.agent_id, r.priority, r.created_at, r.id, false as is_cut, false as is_wanted
        from pending p join run r on r.org_id = p.org_id and r.id = p.id
       where p.org_id = $1 and p.state = 'queued' and r.agent_id = any($3::text[])`),
    [wanted.orgId, ...KEYS.lists(wanted.runs)],
  )
  return mapOf(beforeColumns.read(rows))
}

/** The rows of a line in the backlog, those that are behind others apart. */
const ROWS_OF_PART = `backlog b where b.org_id = $1 and b.agent_id = l.agent_id and b.lane = l.lane
  and b.executor_key = l.executor_key and b.kind = l.kind and b.behind = w.behind`

const FIRST_OF_AGENTS = `select l.agent_id, f.*, f.no = a.reach as is_cut, false as is_wanted
  from (select agent_id, greatest(${MIN_COUNTED_OF_PAGE}, ${MAX_COUNTED_OF_PAGE} / count(*) over ()) as reach
          from unnest($3::text[]) as i (agent_id) group by agent_id) a
  join backlog_line l on l.org_id = $1 and l.agent_id = a.agent_id
 cross join (values (false), (true)) as w (behind)
 cross join lateral (
   select b.priority, b.created_at, b.id, row_number() over (order by b.priority, b.created_at, b.id) as no
     from ${ROWS_OF_PART} order by b.priority, b.created_at, b.id limit a.reach) f`

const RANK_PAGE = rankSql(
  `select agent_id, priority, created_at, id, is_cut, is_wanted from (${FIRST_OF_AGENTS}) first`,
)

/** Counts from the key to the end of each part, or, if that is too far, from the key to its beginning. */
const COUNT_ONE = `select $2::text as id, coalesce(sum(case when a.count <= ${MAX_COUNTED} then w.total - a.count else c.count end), 0)::bigint as before
  from backlog_line l
 cross join lateral (values (false, l.waiting), (true, l.count - l.waiting)) as w (behind, total)
 cross join lateral (select count(*) from (
   select from ${ROWS_OF_PART} and (b.priority, b.created_at, b.id) >= ($4::int, $5::timestamptz, $2::text)
    order by b.priority, b.created_at, b.id limit ${MAX_COUNTED + 1}) after) a
 cross join lateral (select count(*) from (
   select from ${ROWS_OF_PART} and a.count > ${MAX_COUNTED} and (b.priority, b.created_at, b.id) < ($4::int, $5::timestamptz, $2::text)
    order by b.priority desc, b.created_at desc, b.id desc limit ${MAX_COUNTED + 1}) before) c
 where l.org_id = $1 and l.agent_id = $3
having bool_and(a.count <= ${MAX_COUNTED} or c.count <= ${MAX_COUNTED}) is not false`

/**
 * Counts the runs in the backlog that go before each run. A run with more before and after it than are counted is left
 * out.
 */
export async function countBacklogBefore(connection: Connection, wanted: Wanted): Promise<ReadonlyMap<RunId, number>> {
  const { orgId, runs } = wanted
  const [run, ...others] = runs
  if (run === undefined) return new Map()
  const rows = await (others.length === 0
    ? connection.query(COUNT_ONE, [orgId, ...KEYS.values(run)])
    : connection.query(RANK_PAGE, [orgId, ...KEYS.lists(runs)]))
  return mapOf(beforeColumns.read(rows))
}
