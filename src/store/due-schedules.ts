import { orgId, scheduleId, type OrgId, type ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** Which times of schedules are looked at: none before `since`, none of the orgs in `except`. */
export interface DueWindow {
  readonly since: Instant
  readonly except: readonly OrgId[]
}

/** Schedules of an org that are due, and the earliest time among them. */
export interface DueOfOrg {
  readonly ids: readonly ScheduleId[]
  readonly first: Instant
}

/** Active schedules of all orgs but some whose next moment has come, longest overdue first. */
export async function loadDueSchedules(
  connection: Connection,
  due: DueWindow & { readonly now: Instant; readonly limit: number },
): Promise<ReadonlyMap<OrgId, DueOfOrg>> {
  const rows = await connection.query(
    `select org_id, id, next_run_at from schedule
      where state = 'active' and next_run_at >= $3::timestamptz and next_run_at <= $1::timestamptz
        and org_id <> all($4::text[])
      order by next_run_at limit $2`,
    [toTimestamp(due.now), due.limit, toTimestamp(due.since), due.except],
  )
  const byOrg = new Map<OrgId, { readonly ids: ScheduleId[]; readonly first: Instant }>()
  for (const row of rows) {
    const org = orgId(row['org_id'] as string)
    const known = byOrg.get(org) ?? { ids: [], first: row['next_run_at'] as Instant }
    known.ids.push(scheduleId(row['id'] as string))
    byOrg.set(org, known)
  }
  return byOrg
}

/** The earliest next moment of any active schedule of any org but some, or null. Reads the head of one index. */
export async function loadNextMoment(connection: Connection, { since, except }: DueWindow): Promise<Instant | null> {
  const [row] = await connection.query(
    `select next_run_at from schedule where state = 'active' and next_run_at >= $1::timestamptz
        and org_id <> all($2::text[])
      order by next_run_at limit 1`,
    [toTimestamp(since), except],
  )
  return (row?.['next_run_at'] as Instant | undefined) ?? null
}
