import type { AlertKind } from '../../domain/alerts.ts'
import type { AgentId, LaneName, OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Counts, EndedCounts } from '../../core/run/ended-counts.ts'
import type { PendingState } from '../../domain/run/run-machine.ts'
import type { ScheduleState } from '../../domain/schedule/lifecycle.ts'
import type { Connection } from '../../store/database.ts'
import { column, columns, counted, type RowOf, toTimestamp } from '../../platform/db/table.ts'

/** How many places and turns a pass that adds up has found. */
export const addedUp = columns({
  places: column.bigint('(select count(*) from place)'),
  turns: column.bigint('(select count(*) from fresh)'),
})

/**
 * Adds up how runs ended in the next turns that have not been added up yet. Whoever does holds the org's place, so each
 * turn is added once, whichever node it is; nothing else waits for it. Answers with how many turns it was, null when the
 * org has no place yet.
 */
export async function addUpTurns(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly limit: number },
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
     select ${addedUp.list}`,
    [asked.orgId, asked.limit],
  )
  const { places, turns } = addedUp.only(rows)
  return places === 0 ? null : turns
}

/** Gives the org its place at the beginning of its history, unless it has one. */
export async function insertCountPlace(connection: Connection, orgId: OrgId): Promise<void> {
  await connection.query('insert into run_count_place (org_id, no) values ($1, 0) on conflict (org_id) do nothing', [
    orgId,
  ])
}

const sums = columns({
  kind: column.text<keyof EndedCounts>(),
  key: column.text(),
  count: column.bigint('sum(count)::bigint'),
})
type Sum = RowOf<typeof sums>

/** What was counted in the hours from `from` on and before `to`. */
export async function loadCounts(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly from: Instant; readonly to: Instant },
): Promise<EndedCounts> {
  const rows = await connection.query(
    `select ${sums.list} from run_count
      where org_id = $1 and hour >= $2::timestamptz and hour < $3::timestamptz group by kind, key`,
    [asked.orgId, toTimestamp(asked.from), toTimestamp(asked.to)],
  )
  return countsOf(sums.read(rows))
}

function countsOf(rows: readonly Sum[]): Required<EndedCounts> {
  const of = (kind: keyof EndedCounts): Counts =>
    Object.fromEntries(rows.filter((row) => row.kind === kind).map(({ key, count }) => [key, count]))
  return {
    ...{ status: of('status'), duration: of('duration'), lateness: of('lateness'), usage: of('usage') },
    probe: of('probe'),
  }
}

const stepSums = columns({ at: column.instant("date_trunc($4, hour, 'UTC')"), ...sums.definitions })

/** What was counted from `from` on and before `to`, by hours or days of UTC; steps without anything are left out. */
export async function loadCountSteps(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly from: Instant; readonly to: Instant; readonly step: 'hour' | 'day' },
): Promise<ReadonlyMap<Instant, EndedCounts>> {
  const rows = await connection.query(
    `select ${stepSums.list} from run_count
      where org_id = $1 and hour >= $2::timestamptz and hour < $3::timestamptz group by 1, 2, 3`,
    [asked.orgId, toTimestamp(asked.from), toTimestamp(asked.to), asked.step],
  )
  const steps = new Map<Instant, Sum[]>()
  for (const row of stepSums.read(rows)) {
    const step = steps.get(row.at)
    if (step === undefined) steps.set(row.at, [row])
    else step.push(row)
  }
  return new Map([...steps].map(([at, found]) => [at, countsOf(found)]))
}

const work = columns({
  agentId: column.text<AgentId>('r.agent_id'),
  lane: column.text<LaneName>('r.lane'),
  state: column.text<PendingState>('p.state'),
  ...counted.definitions,
})

/** So many pending runs of an agent are in this lane and state. */
export type WorkCount = RowOf<typeof work>

/** What is pending in an org, counted. Walks over all of it: for whoever has no memory of the org. */
export async function countWork(connection: Connection, orgId: OrgId): Promise<readonly WorkCount[]> {
  const rows = await connection.query(
    `select ${work.list}
       from pending p join run r on r.org_id = p.org_id and r.id = p.id
      where p.org_id = $1 group by 1, 2, 3`,
    [orgId],
  )
  return work.read(rows)
}

const states = columns({ state: column.text<ScheduleState>(), ...counted.definitions })

/** How many schedules of an org are in each state. */
export async function countSchedulesByState(
  connection: Connection,
  orgId: OrgId,
): Promise<Readonly<Partial<Record<ScheduleState, number>>>> {
  const rows = await connection.query(
    `select ${states.list} from schedule where org_id = $1 group by state order by state`,
    [orgId],
  )
  return Object.fromEntries(states.read(rows).map(({ state, count }) => [state, count]))
}

const schedules = columns({ state: column.text<ScheduleState>(), ...counted.definitions })
const pending = columns({ state: column.text<PendingState>(), ...counted.definitions })
const alerts = columns({ kind: column.text<AlertKind>(), ...counted.definitions })

/** How many schedules of all orgs are in each state. Walks over all of them: not for every request. */
export async function countAllSchedules(
  connection: Connection,
): Promise<Readonly<Partial<Record<ScheduleState, number>>>> {
  const rows = await connection.query(`select ${schedules.list} from schedule group by state`, [])
  return Object.fromEntries(schedules.read(rows).map(({ state, count }) => [state, count]))
}

/** How many pending runs of all orgs are in each state. Walks over all of them: not for every request. */
export async function countAllPending(
  connection: Connection,
): Promise<Readonly<Partial<Record<PendingState, number>>>> {
  const rows = await connection.query(`select ${pending.list} from pending group by state`, [])
  return Object.fromEntries(pending.read(rows).map(({ state, count }) => [state, count]))
}

/** How many alerts of all orgs are open, by kind. */
export async function countOpenAlerts(connection: Connection): Promise<Readonly<Partial<Record<AlertKind, number>>>> {
  const rows = await connection.query(`select ${alerts.list} from alert where cleared_at is null group by kind`, [])
  return Object.fromEntries(alerts.read(rows).map(({ kind, count }) => [kind, count]))
}

/** Whether there is more than one org. */
export async function hasManyOrgs(connection: Connection): Promise<boolean> {
  const rows = await connection.query('select 1 from org where deleted_at is null limit 2', [])
  return rows.length > 1
}
