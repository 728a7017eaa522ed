import type { AlertKind } from '../../domain/alerts.ts'
import type { AgentId, LaneName, OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { CountsByKey, EndedCounts } from '../../domain/run/ended-counts.ts'
import type { PendingState } from '../../domain/run/run-machine.ts'
import type { ScheduleState } from '../../domain/schedule/lifecycle.ts'
import type { Connection } from '../../platform/db/database.ts'
import { column, columns, counted, type RowOf, toTimestamp } from '../../platform/db/table.ts'

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
