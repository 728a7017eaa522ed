import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Row } from '../../store/database.ts'
import { column, columns, countRemoved, toTimestamp } from '../../platform/db/table.ts'

/**
 * Statements that remove what nobody needs any more. Each takes a bounded number of rows, only such as have ended, and
 * passes over rows that somebody else is at: they wait for nothing, and nothing waits long for them. Whoever repeats
 * them until they find less than they may take has removed everything.
 */

/**
 * With its run goes what hangs on it: earlier attempts, and its entry in the ledger if that is behind the watermark.
 * Before the watermark an entry is what keeps an occurrence from being decided again.
 */
const WITH_ALL_THAT_HANGS_ON = `
  gone as (delete from run r using doomed d where r.org_id = $1 and r.id = d.id
           returning r.id, r.schedule_id, r.nominal_at, r.created_at, r.decision),
  attempts as (delete from attempt a using gone g where a.org_id = $1 and a.run_id = g.id),
  answers as (delete from probe_answer q using gone g where q.org_id = $1 and q.run_id = g.id),
  entries as (delete from occurrence o using gone g
               where o.org_id = $1 and o.schedule_id = g.schedule_id and o.run_id = g.id
                 and o.nominal_at = coalesce(g.nominal_at, g.created_at)
                 and not exists (select 1 from schedule s where s.org_id = $1 and s.id = g.schedule_id
                                  and s.watermark < o.nominal_at))`

/** A run whose result is still on its way is needed: what is sent is read from it. */
const isDelivered = (run: string): string =>
  `not exists (select 1 from delivery u where u.org_id = $1 and u.run_id = ${run}.id and u.finished_at is null)`

/** Where a walk through the runs of an org stands: after this one. */
export interface WalkPosition {
  readonly createdAt: Instant
  readonly id: RunId
}

/** What one step of a walk has seen and done. */
export interface WalkStep {
  readonly removed: number
  /** Where to go on; null when there was nothing more. */
  readonly next: WalkPosition | null
}

/** What a step has removed, how many it has seen, and the last of them. */
const steps = columns({
  removed: column.bigint('(select count(*) from gone)'),
  seen: column.bigint('count(*)'),
  createdAt: column.instant<Instant | null>('max(created_at)'),
  id: column.text<RunId | null>('(array_agg(id order by created_at desc, id desc))[1]'),
})
const STEP = `select ${steps.list} from seen`

/** One step through the tasks that were made before a time, oldest first: those that ended before it go. */
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
        where s.state is not null and s.finished_at < $2::timestamptz and ${isDelivered('s')}
        for update of r skip locked),
     ${WITH_ALL_THAT_HANGS_ON}
     ${STEP}`,
    [old.orgId, toTimestamp(old.endedBefore), toTimestamp(old.after.createdAt), old.after.id, old.limit],
  )
  return stepOf(rows, old.limit)
}

/**
 * One step through the runs that were made before a moment, oldest first: those that have ended go, except tasks, which
 * have a time to live of their own, and the newest `keep` of a schedule.
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
          and (s.schedule_id is null or (s.created_at, s.id) < (k.created_at, k.id)) and ${isDelivered('s')}
        for update of r skip locked),
     ${WITH_ALL_THAT_HANGS_ON}
     ${STEP}`,
    [old.orgId, toTimestamp(old.madeBefore), toTimestamp(old.after.createdAt), old.after.id, old.limit, old.keep],
  )
  return stepOf(rows, old.limit)
}

function stepOf(rows: readonly Row[], limit: number): WalkStep {
  const { removed, seen } = steps.only(rows)
  return { removed, next: seen < limit ? null : lastOf(rows) }
}

function lastOf(rows: readonly Row[]): WalkPosition | null {
  const { createdAt, id } = steps.only(rows)
  return createdAt === null || id === null ? null : { createdAt, id }
}

/**
 * One step through the runs that were made before a moment, oldest first: skipped occurrences become ranges, one for
 * each row of them with the same reason. A range that is there already grows.
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
     ${WITH_ALL_THAT_HANGS_ON},
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
     ${STEP}`,
    [
      old.orgId,
      toTimestamp(old.madeBefore),
      toTimestamp(old.after.createdAt),
      old.after.id,
      old.limit,
      toTimestamp(old.now),
    ],
  )
  return { ...stepOf(rows, old.limit), last: lastOf(rows) }
}

const ids = columns({ id: column.text<ScheduleId>() })

/** The next schedules of an org that have made more than so many runs, by id. */
export async function loadBusySchedules(
  connection: Connection,
  busy: { readonly orgId: OrgId; readonly firedMoreThan: number; readonly after: string; readonly limit: number },
): Promise<readonly ScheduleId[]> {
  const rows = await connection.query(
    `select ${ids.list} from schedule where org_id = $1 and fires > $2 and id > $3 order by id limit $4`,
    [busy.orgId, busy.firedMoreThan, busy.after, busy.limit],
  )
  return ids.read(rows).map(({ id }) => id)
}

/** Runs of a schedule that have ended and are not among its newest `keep`, however young they are. */
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
          and r.state is not null and ${isDelivered('r')}
        order by r.created_at, r.id limit $4 for update of r skip locked),
     ${WITH_ALL_THAT_HANGS_ON}
     select count(*) as removed from gone`,
    [surplus.orgId, surplus.scheduleId, surplus.keep, surplus.limit],
  )
}

/** Tokens made before a moment, except those whose attempt is still awaited. Of all orgs. */
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

/** Bindings of idempotency keys made before a moment. Of all orgs. */
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

/** Nodes whose lease lapsed before a moment and that hold nothing any more. */
export async function deleteOldNodes(connection: Connection, before: Instant): Promise<number> {
  const rows = await connection.query(
    `delete from node n where n.lease_until < $1::timestamptz
        and not exists (select 1 from pending p where p.node_id = n.id)
     returning n.id`,
    [toTimestamp(before)],
  )
  return rows.length
}
