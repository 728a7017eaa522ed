import { agentId, laneName, type AgentId, type LaneName, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Counts, EndedCounts } from '../core/run/ended-counts.ts'
import type { PendingState } from '../core/run/run-machine.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { Connection, Row } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/**
 * Adds up how runs ended in the next turns that have not been added up yet. Whoever does holds the org's place, so each
 * turn is added once, whichever node it is; nothing else waits for it. Answers with how many turns it was, null when the
 * org has no place yet.
 */
export async function addUpTurns(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly limit: number },
): Promise<number | null> {
  const [row] = await connection.query(
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
     select (select count(*) from place) as places, (select count(*) from fresh) as turns`,
    [asked.orgId, asked.limit],
  )
  return row?.['places'] === 0 ? null : (row?.['turns'] as number)
}

/** Gives the org its place at the beginning of its history, unless it has one. */
export async function insertCountPlace(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query('insert into run_count_place (org_id, no) values ($1, 0) on conflict (org_id) do nothing', [
    orgId,
  ])
}

/** What was counted in the hours from `from` on and before `to`. */
export async function loadCounts(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly from: Instant; readonly to: Instant },
): Promise<EndedCounts> {
  const rows = await connection.query(
    `select kind, key, sum(count)::bigint as count from run_count
      where org_id = $1 and hour >= $2::timestamptz and hour < $3::timestamptz group by kind, key`,
    [asked.orgId, toTimestamp(asked.from), toTimestamp(asked.to)],
  )
  return countsOf(rows)
}

function countsOf(rows: readonly Row[]): Required<EndedCounts> {
  const of = (kind: keyof EndedCounts): Counts =>
    Object.fromEntries(
      rows.filter((row) => row['kind'] === kind).map((row) => [row['key'] as string, row['count'] as number]),
    )
  return {
    ...{ status: of('status'), duration: of('duration'), lateness: of('lateness'), usage: of('usage') },
    probe: of('probe'),
  }
}

/** What was counted from `from` on and before `to`, by hours or days of UTC; steps without anything are left out. */
export async function loadCountSteps(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly from: Instant; readonly to: Instant; readonly step: 'hour' | 'day' },
): Promise<ReadonlyMap<Instant, EndedCounts>> {
  const rows = await connection.query(
    `select date_trunc($4, hour, 'UTC') as at, kind, key, sum(count)::bigint as count from run_count
      where org_id = $1 and hour >= $2::timestamptz and hour < $3::timestamptz group by 1, 2, 3`,
    [asked.orgId, toTimestamp(asked.from), toTimestamp(asked.to), asked.step],
  )
  const steps = new Map<Instant, Row[]>()
  for (const row of rows) {
    const at = row['at'] as Instant
    const step = steps.get(at)
    if (step === undefined) steps.set(at, [row])
    else step.push(row)
  }
  return new Map([...steps].map(([at, counted]) => [at, countsOf(counted)]))
}

/** So many pending runs of an agent are in this lane and state. */
export interface WorkCount {
  readonly agentId: AgentId
  readonly lane: LaneName
  readonly state: PendingState
  readonly count: number
}

/** What is pending in an org, counted. Walks over all of it: for whoever has no memory of the org. */
export async function countWork(connection: Connection, orgId: OrgId): Promise<readonly WorkCount[]> {
  const rows = await connection.query(
    `select r.agent_id, r.lane, p.state, count(*) as count
       from pending p join run r on r.org_id = p.org_id and r.id = p.id
      where p.org_id = $1 group by 1, 2, 3`,
    [orgId],
  )
  return rows.map((row) => ({
    agentId: agentId(row['agent_id'] as string),
    lane: laneName(row['lane'] as string),
    state: row['state'] as PendingState,
    count: row['count'] as number,
  }))
}

/** How many schedules of an org are in each state. */
export async function countSchedulesByState(
  connection: Connection,
  orgId: OrgId,
): Promise<Readonly<Partial<Record<ScheduleState, number>>>> {
  const rows = await connection.query(
    'select state, count(*) as count from schedule where org_id = $1 group by state order by state',
    [orgId],
  )
  return Object.fromEntries(rows.map((row) => [row['state'] as ScheduleState, row['count'] as number]))
}
