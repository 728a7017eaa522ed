import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Row } from '../../platform/db/database.ts'
import { column, columns, countRemoved, toTimestamp } from '../../platform/db/table.ts'

/**
 * Statements that delete old rows. Each deletes a bounded number of ended rows and skips locked ones, so that it waits
 * for no other transaction and holds none up. Repeat a statement until it deletes fewer rows than its limit.
 */

/**
 * Deletes with a run its earlier attempts, its log, its edits, its probe answer, and its entry in `occurrence` if the watermark of the
 * schedule has passed it. After the watermark, the entry keeps the occurrence from being decided again.
 */
const DELETE_WITH_DEPENDENTS = `
  gone as (delete from run r using doomed d where r.org_id = $1 and r.id = d.id
           returning r.id, r.schedule_id, r.nominal_at, r.created_at, r.decision),
  attempts as (delete from attempt a using gone g where a.org_id = $1 and a.run_id = g.id),
  logs as (delete from run_log l using gone g where l.org_id = $1 and l.run_id = g.id),
  edits as (delete from run_edit e using gone g where e.org_id = $1 and e.run_id = g.id),
  answers as (delete from probe_answer q using gone g where q.org_id = $1 and q.run_id = g.id),
  entries as (delete from occurrence o using gone g
               where o.org_id = $1 and o.schedule_id = g.schedule_id and o.run_id = g.id
                 and o.nominal_at = coalesce(g.nominal_at, g.created_at)
                 and not exists (select 1 from schedule s where s.org_id = $1 and s.id = g.schedule_id
                                  and s.watermark < o.nominal_at))`

/** Whether all deliveries of a run have ended: until then its result is read from the run. */
const isDeliveredSql = (run: string): string =>
  `not exists (select 1 from delivery u where u.org_id = $1 and u.run_id = ${run}.id and u.finished_at is null)`

/** The last run read by a walk through the runs of an org. */
export interface WalkPosition {
  readonly createdAt: Instant
  readonly id: RunId
}

/** The result of one step of a walk. */
export interface WalkStep {
  readonly removed: number
  /** Where to continue; null at the end. */
  readonly next: WalkPosition | null
}

/** How many rows a step has deleted and read, and the last row it has read. */
const stepColumns = columns({
  removed: column.bigint('(select count(*) from gone)'),
  seen: column.bigint('count(*)'),
  createdAt: column.instant<Instant | null>('max(created_at)'),
  id: column.text<RunId | null>('(array_agg(id order by created_at desc, id desc))[1]'),
})
const STEP_SQL = `select ${stepColumns.list} from seen`

/** Walks one step through tasks created before a time, oldest first, and deletes those that also ended before it. */
export async function deleteEndedTasks(
  connection: Connection,
  old: { readonly orgId: OrgId; readonly endedBefore: Instant; readonly after: WalkPosition; readonly limit: number },
): Promise<WalkStep> {
  const rows = await connection.query(
    `with seen as (
       select id, created_at, state, finished_at from run
        where org_id = $1 and trigger = 'task' and created_at < $2::timestamptz
          and (created_at, id) > ($3::timestamptz, $4::text)
        order by created_at, id limit $5),
     doomed as (
       select r.id from seen s join run r on r.org_id = $1 and r.id = s.id
        where s.state is not null and s.finished_at < $2::timestamptz and ${isDeliveredSql('s')}
        for update of r skip locked),
     ${DELETE_WITH_DEPENDENTS}
     ${STEP_SQL}`,
    [old.orgId, toTimestamp(old.endedBefore), toTimestamp(old.after.createdAt), old.after.id, old.limit],
  )
  return readStep(rows, old.limit)
}

/**
 * Walks one step through runs created before a time, oldest first, and deletes those that also ended before it, except
 * tasks, which have their own time to live, and the newest `keep` runs of each schedule.
 */
export async function deleteOldRuns(
  connection: Connection,
  old: {
    readonly orgId: OrgId
    readonly madeBefore: Instant
    readonly keep: number
    readonly after: WalkPosition
    readonly limit: number
  },
): Promise<WalkStep> {
  const rows = await connection.query(
    `with seen as (
       select id, created_at, schedule_id, trigger, state, finished_at from run
        where org_id = $1 and created_at < $2::timestamptz and (created_at, id) > ($3::timestamptz, $4::text)
        order by created_at, id limit $5),
     kept as (
       select s.schedule_id, k.created_at, k.id
         from (select distinct schedule_id from seen where schedule_id is not null) s
         cross join lateral (select r.created_at, r.id from run r
                              where r.org_id = $1 and r.schedule_id = s.schedule_id
                              order by r.created_at desc, r.id desc offset greatest($6::int - 1, 0) limit 1) k),
     doomed as (
       select r.id from seen s join run r on r.org_id = $1 and r.id = s.id
         left join kept k on k.schedule_id = s.schedule_id
        where s.state is not null and s.finished_at < $2::timestamptz and s.trigger <> 'task'
          and (s.schedule_id is null or (s.created_at, s.id) < (k.created_at, k.id)) and ${isDeliveredSql('s')}
        for update of r skip locked),
     ${DELETE_WITH_DEPENDENTS}
     ${STEP_SQL}`,
    [old.orgId, toTimestamp(old.madeBefore), toTimestamp(old.after.createdAt), old.after.id, old.limit, old.keep],
  )
  return readStep(rows, old.limit)
}

function readStep(rows: readonly Row[], limit: number): WalkStep {
  const { removed, seen } = stepColumns.only(rows)
  return { removed, next: seen < limit ? null : lastPosition(rows) }
}

function lastPosition(rows: readonly Row[]): WalkPosition | null {
  const { createdAt, id } = stepColumns.only(rows)
  return createdAt === null || id === null ? null : { createdAt, id }
}

/**
 * Walks one step through runs created before a time, oldest first, and replaces skipped runs with ranges: one for each
 * sequence of skipped occurrences with the same reason. An existing range is extended.
 */
export async function foldSkippedRuns(
  connection: Connection,
  old: {
    readonly orgId: OrgId
    readonly madeBefore: Instant
    readonly after: WalkPosition
    readonly limit: number
    readonly now: Instant
  },
): Promise<WalkStep & { readonly last: WalkPosition | null }> {
  const rows = await connection.query(
    `with seen as (
       select id, created_at, schedule_id, nominal_at, state from run
        where org_id = $1 and created_at < $2::timestamptz and (created_at, id) > ($3::timestamptz, $4::text)
        order by created_at, id limit $5),
     doomed as (
       select r.id from seen s join run r on r.org_id = $1 and r.id = s.id
        where s.state = 'skipped' and s.schedule_id is not null and s.nominal_at is not null and r.decision is not null
        for update of r skip locked),
     ${DELETE_WITH_DEPENDENTS},
     numbered as (
       select schedule_id, nominal_at, decision,
              row_number() over (partition by schedule_id order by nominal_at)
                - row_number() over (partition by schedule_id, decision->>'reason' order by nominal_at) as island
         from gone),
     ranges as (
       insert into decision (org_id, schedule_id, first_at, last_at, count, why, decided_at)
       select $1, schedule_id, min(nominal_at), max(nominal_at), count(*),
              (array_agg(decision order by nominal_at))[1], $6::timestamptz
         from numbered group by schedule_id, decision->>'reason', island
       on conflict (org_id, schedule_id, first_at) do update
         set last_at = greatest(decision.last_at, excluded.last_at), count = decision.count + excluded.count)
     ${STEP_SQL}`,
    [
      old.orgId,
      toTimestamp(old.madeBefore),
      toTimestamp(old.after.createdAt),
      old.after.id,
      old.limit,
      toTimestamp(old.now),
    ],
  )
  return { ...readStep(rows, old.limit), last: lastPosition(rows) }
}

const scheduleIdColumn = columns({ id: column.text<ScheduleId>() })

/** Loads the next schedules of an org, by id, that have fired more than a number of times. */
export async function loadBusySchedules(
  connection: Connection,
  busy: { readonly orgId: OrgId; readonly firedMoreThan: number; readonly after: string; readonly limit: number },
): Promise<readonly ScheduleId[]> {
  const rows = await connection.query(
    `select ${scheduleIdColumn.list} from schedule where org_id = $1 and fires > $2 and id > $3 order by id limit $4`,
    [busy.orgId, busy.firedMoreThan, busy.after, busy.limit],
  )
  return scheduleIdColumn.read(rows).map(({ id }) => id)
}

/** Deletes ended runs of a schedule that are not among its newest `keep`, whatever their age. */
export function deleteSurplusRuns(
  connection: Connection,
  surplus: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly keep: number; readonly limit: number },
): Promise<number> {
  return countRemoved(
    connection,
    `with bound as (
       select created_at, id from run where org_id = $1 and schedule_id = $2
        order by created_at desc, id desc offset greatest($3::int - 1, 0) limit 1),
     doomed as (
       select r.id from run r, bound b
        where r.org_id = $1 and r.schedule_id = $2 and (r.created_at, r.id) < (b.created_at, b.id)
          and r.state is not null and ${isDeliveredSql('r')}
        order by r.created_at, r.id limit $4 for update of r skip locked),
     ${DELETE_WITH_DEPENDENTS}
     select count(*) as removed from gone`,
    [surplus.orgId, surplus.scheduleId, surplus.keep, surplus.limit],
  )
}

/** Deletes callback tokens of all orgs created before a time, except those of pending attempts. */
export function deleteOldCallbacks(
  connection: Connection,
  old: { readonly before: Instant; readonly limit: number },
): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select c.token_hash from callback c
        where c.created_at < $1::timestamptz
          and not exists (select 1 from pending p where p.org_id = c.org_id and p.id = c.run_id
                           and p.attempt_id = c.attempt_id)
        order by c.created_at limit $2 for update of c skip locked),
     gone as (delete from callback c using doomed d where c.token_hash = d.token_hash returning 1)
     select count(*) as removed from gone`,
    [toTimestamp(old.before), old.limit],
  )
}

/** Deletes idempotency keys of all orgs created before a time. */
export function deleteOldKeys(
  connection: Connection,
  old: { readonly before: Instant; readonly limit: number },
): Promise<number> {
  return countRemoved(
    connection,
    `with doomed as (
       select org_id, principal, route, key from idempotency where created_at < $1::timestamptz
        order by created_at limit $2 for update skip locked),
     gone as (delete from idempotency i using doomed d
               where i.org_id = d.org_id and i.principal = d.principal and i.route = d.route and i.key = d.key
              returning 1)
     select count(*) as removed from gone`,
    [toTimestamp(old.before), old.limit],
  )
}

/** Deletes nodes whose lease lapsed before a time and that hold no pending runs. */
export async function deleteOldNodes(connection: Connection, before: Instant): Promise<number> {
  const rows = await connection.query(
    `delete from node n where n.lease_until < $1::timestamptz
        and not exists (select 1 from pending p where p.node_id = n.id)
     returning n.id`,
    [toTimestamp(before)],
  )
  return rows.length
}
