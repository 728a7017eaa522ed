import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import type { OrgPage } from '../../platform/db/page.ts'
import { column, columns, counted, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const owners = columns({ owner: column.text<string | null>() })

/** Whose the schedule is; undefined: there is none. */
export async function loadScheduleOwner(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: ScheduleId },
): Promise<string | null | undefined> {
  const rows = await connection.query(`select ${owners.list} from schedule where org_id = $1 and id = $2`, [
    asked.orgId,
    asked.id,
  ])
  return owners.first(rows)?.owner
}

/** Whose the run is; undefined: there is none. */
export async function loadRunOwner(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: RunId },
): Promise<string | null | undefined> {
  const rows = await connection.query(`select ${owners.list} from run where org_id = $1 and id = $2`, [
    asked.orgId,
    asked.id,
  ])
  return owners.first(rows)?.owner
}

/** How many schedules an owner has, whatever their state. */
export async function countOwned(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly owner: string },
): Promise<number> {
  const rows = await connection.query(`select ${counted.list} from schedule where org_id = $1 and owner = $2`, [
    asked.orgId,
    asked.owner,
  ])
  return counted.only(rows).count
}

const acts = table('rail_act', {
  kind: column.text<'made' | 'moved' | 'woken' | 'task' | 'message'>(),
  scheduleId: column.text<ScheduleId | null>(),
  /** The one moment at which an `at` fires. */
  moment: column.instant<Instant | null>(),
})

/** Something that the rails of an owner count. */
export type RailAct = RowOf<typeof acts>

/** Puts on record what an owner has done. */
export async function insertRailActs(
  tx: Transaction,
  done: { readonly orgId: OrgId; readonly owner: string; readonly at: Instant; readonly acts: readonly RailAct[] },
): Promise<void> {
  await tx.query(
    `insert into rail_act (org_id, owner, at, ${acts.names})
     select $1, $2, $3::timestamptz, * from unnest(${acts.arrays(4)})`,
    [done.orgId, done.owner, toTimestamp(done.at), ...acts.lists(done.acts)],
  )
}

const done = columns({ ...counted.definitions, oldest: column.instant<Instant | null>('min(at)') })

/** What an owner has done since a moment: how often, and when first. */
export async function loadRailActs(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly owner: string; readonly since: Instant },
): Promise<RowOf<typeof done>> {
  const rows = await connection.query(
    `select ${done.list} from rail_act where org_id = $1 and owner = $2 and at > $3::timestamptz`,
    [asked.orgId, asked.owner, toTimestamp(asked.since)],
  )
  return done.only(rows)
}

const wakings = columns({ at: column.instant() })

/** When a run of the schedule was last asked for under guard rails; null: never, or long ago. */
export async function loadLastWaking(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: ScheduleId },
): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${wakings.list} from rail_act where org_id = $1 and schedule_id = $2 and kind = 'woken' order by at desc limit 1`,
    [asked.orgId, asked.id],
  )
  return wakings.first(rows)?.at ?? null
}

const moments = columns({ moment: column.instant() })

/** The moment of another `at` of the owner that is nearest to this one; null: there is none. */
export async function loadNearestMoment(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly owner: string; readonly moment: Instant; readonly except: ScheduleId },
): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${moments.list} from (
       (select moment from rail_act where org_id = $1 and owner = $2 and moment >= $3::timestamptz
          and schedule_id is distinct from $4 order by moment limit 1)
       union all
       (select moment from rail_act where org_id = $1 and owner = $2 and moment < $3::timestamptz
          and schedule_id is distinct from $4 order by moment desc limit 1)) near
     order by greatest(moment, $3::timestamptz) - least(moment, $3::timestamptz) limit 1`,
    [asked.orgId, asked.owner, toTimestamp(asked.moment), asked.except],
  )
  return moments.first(rows)?.moment ?? null
}

/** Moments of the schedule that have not come will not: it has another one now, or is gone. */
export async function forgetMoments(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: ScheduleId; readonly after: Instant },
): Promise<void> {
  await tx.query(
    `update rail_act set moment = null where org_id = $1 and schedule_id = $2 and moment > $3::timestamptz`,
    [gone.orgId, gone.id, toTimestamp(gone.after)],
  )
}

/**
 * Removes what no rail counts any more. What counts by the hour goes after a day; what must be so far from the next of its
 * kind goes when no rail can ask for more. Answers with how many.
 */
export async function deleteOldRailActs(
  connection: Connection,
  old: { readonly before: Instant; readonly longBefore: Instant; readonly limit: number },
): Promise<number> {
  const rows = await connection.query(
    `delete from rail_act a using (
       select org_id, id from rail_act
        where at < $1::timestamptz and (kind <> 'woken' or at < $2::timestamptz)
          and (moment is null or moment < $2::timestamptz)
        order by at limit $3) d
      where a.org_id = d.org_id and a.id = d.id returning a.id`,
    [toTimestamp(old.before), toTimestamp(old.longBefore), old.limit],
  )
  return rows.length
}

const standings = columns({ attemptId: column.text<string | null>(), state: column.text() })

/** The attempt that is current in a pending run, and what the run is doing; undefined: it is not pending any more. */
export async function loadAttemptStanding(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<RowOf<typeof standings> | undefined> {
  const rows = await connection.query(`select ${standings.list} from pending where org_id = $1 and id = $2`, [
    asked.orgId,
    asked.runId,
  ])
  return standings.first(rows)
}

const runs = columns({
  kind: column.text<'run' | 'schedule'>("'run'"),
  id: column.text('r.id'),
  parentRunId: column.text<string | null>('r.parent_run_id'),
  agentId: column.text('r.agent_id'),
  scheduleId: column.text<string | null>('r.schedule_id'),
  name: column.text<string | null>('null::text'),
  state: column.text('coalesce(r.state, (select p.state from pending p where p.org_id = r.org_id and p.id = r.id))'),
  trigger: column.text<string | null>('r.trigger'),
  owner: column.text<string | null>('r.owner'),
  createdAt: column.instant('r.created_at'),
})

const schedules = columns({
  kind: column.text("'schedule'"),
  id: column.text('s.id'),
  parentRunId: column.text('s.created_by_run'),
  agentId: column.text('s.agent_id'),
  scheduleId: column.text('null::text'),
  name: column.text('s.name'),
  state: column.text('s.state'),
  trigger: column.text('null::text'),
  owner: column.text('s.owner'),
  createdAt: column.instant('s.created_at'),
})

/** A run or a schedule, as far as the tree of what woke what shows it. */
export type LineageRow = RowOf<typeof runs>

/** The run and those above it that are still on record, the run itself first; no more than so many. */
export async function loadRunsAbove(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: RunId; readonly most: number },
): Promise<readonly LineageRow[]> {
  const rows = await connection.query(
    `with recursive above (no, id, parent_run_id) as (
       select 0, id, parent_run_id from run where org_id = $1 and id = $2
       union all
       select a.no + 1, r.id, r.parent_run_id from above a join run r on r.org_id = $1 and r.id = a.parent_run_id
        where a.no < $3)
     select ${runs.list} from above a join run r on r.org_id = $1 and r.id = a.id order by a.no`,
    [asked.orgId, asked.id, asked.most],
  )
  return runs.read(rows)
}

/** What a run made and woke itself, oldest first. */
export async function loadBelow(
  connection: Connection,
  asked: OrgPage & {
    readonly id: RunId
    /** Whose they must be; null: anybody's. */
    readonly owner: string | null
  },
): Promise<readonly LineageRow[]> {
  const rows = await connection.query(
    `select * from (
       (select ${runs.list} from run r where r.org_id = $1 and r.parent_run_id = $2 and ($3::text is null or r.owner = $3)
           and ($4::timestamptz is null or (r.created_at, r.id) > ($4::timestamptz, $5::text))
         order by r.created_at, r.id limit $6)
       union all
       (select ${schedules.list} from schedule s where s.org_id = $1 and s.created_by_run = $2
           and ($3::text is null or s.owner = $3)
           and ($4::timestamptz is null or (s.created_at, s.id) > ($4::timestamptz, $5::text))
         order by s.created_at, s.id limit $6)) below
     order by "createdAt", id limit $6`,
    [
      asked.orgId,
      asked.id,
      asked.owner,
      timestampOrNull(asked.after?.createdAt ?? null),
      asked.after?.id ?? null,
      asked.limit,
    ],
  )
  return runs.read(rows)
}
