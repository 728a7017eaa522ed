import type { OrgId, RunId, ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** Whose the schedule is; undefined: there is none. */
export async function loadScheduleOwner(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: ScheduleId },
): Promise<string | null | undefined> {
  const [row] = await connection.query('select owner from schedule where org_id = $1 and id = $2', [
    asked.orgId,
    asked.id,
  ])
  return row === undefined ? undefined : (row['owner'] as string | null)
}

/** Whose the run is; undefined: there is none. */
export async function loadRunOwner(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: RunId },
): Promise<string | null | undefined> {
  const [row] = await connection.query('select owner from run where org_id = $1 and id = $2', [asked.orgId, asked.id])
  return row === undefined ? undefined : (row['owner'] as string | null)
}

/** How many schedules an owner has, whatever their state. */
export async function countOwned(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly owner: string },
): Promise<number> {
  const [row] = await connection.query('select count(*) as found from schedule where org_id = $1 and owner = $2', [
    asked.orgId,
    asked.owner,
  ])
  return row?.['found'] as number
}

/** Something that the rails of an owner count. */
export interface RailAct {
  readonly kind: 'made' | 'moved' | 'woken' | 'task' | 'message'
  readonly scheduleId: ScheduleId | null
  /** The one moment at which an `at` fires. */
  readonly moment: Instant | null
}

/** Puts on record what an owner has done. */
export async function insertRailActs(
  tx: Transaction,
  done: { readonly orgId: OrgId; readonly owner: string; readonly at: Instant; readonly acts: readonly RailAct[] },
): Promise<void> {
  await tx.query(
    `insert into rail_act (org_id, owner, at, kind, schedule_id, moment)
     select $1, $2, $3::timestamptz, * from unnest($4::text[], $5::text[], $6::timestamptz[])`,
    [
      ...[done.orgId, done.owner, toTimestamp(done.at), done.acts.map(({ kind }) => kind)],
      ...[done.acts.map(({ scheduleId }) => scheduleId), done.acts.map(({ moment }) => timestampOrNull(moment))],
    ],
  )
}

/** What an owner has done since a moment: how often, and when first. */
export async function loadRailActs(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly owner: string; readonly since: Instant },
): Promise<{ readonly count: number; readonly oldest: Instant | null }> {
  const [row] = await connection.query(
    'select count(*) as found, min(at) as oldest from rail_act where org_id = $1 and owner = $2 and at > $3::timestamptz',
    [asked.orgId, asked.owner, toTimestamp(asked.since)],
  )
  return { count: row?.['found'] as number, oldest: row?.['oldest'] as Instant | null }
}

/** When a run of the schedule was last asked for under guard rails; null: never, or long ago. */
export async function loadLastWaking(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: ScheduleId },
): Promise<Instant | null> {
  const [row] = await connection.query(
    `select at from rail_act where org_id = $1 and schedule_id = $2 and kind = 'woken' order by at desc limit 1`,
    [asked.orgId, asked.id],
  )
  return (row?.['at'] as Instant | undefined) ?? null
}

/** The moment of another `at` of the owner that is nearest to this one; null: there is none. */
export async function loadNearestMoment(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly owner: string; readonly moment: Instant; readonly except: ScheduleId },
): Promise<Instant | null> {
  const [row] = await connection.query(
    `select moment from (
       (select moment from rail_act where org_id = $1 and owner = $2 and moment >= $3::timestamptz
          and schedule_id is distinct from $4 order by moment limit 1)
       union all
       (select moment from rail_act where org_id = $1 and owner = $2 and moment < $3::timestamptz
          and schedule_id is distinct from $4 order by moment desc limit 1)) near
     order by greatest(moment, $3::timestamptz) - least(moment, $3::timestamptz) limit 1`,
    [asked.orgId, asked.owner, toTimestamp(asked.moment), asked.except],
  )
  return (row?.['moment'] as Instant | undefined) ?? null
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

/** The attempt that is current in a pending run, and what the run is doing; undefined: it is not pending any more. */
export async function loadAttemptStanding(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<{ readonly attemptId: string | null; readonly state: string } | undefined> {
  const [row] = await connection.query('select attempt_id, state from pending where org_id = $1 and id = $2', [
    asked.orgId,
    asked.runId,
  ])
  return row === undefined
    ? undefined
    : { attemptId: row['attempt_id'] as string | null, state: row['state'] as string }
}
