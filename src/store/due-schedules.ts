import { orgId, scheduleId, type OrgId, type ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** Active schedules of all orgs whose next moment has come, longest overdue first. */
export async function loadDueSchedules(
  connection: Connection,
  due: { readonly since: Instant; readonly now: Instant; readonly limit: number },
): Promise<Map<OrgId, ScheduleId[]>> {
  const rows = await connection.query(
    `select org_id, id from schedule
      where state = 'active' and next_run_at >= $3::timestamptz and next_run_at <= $1::timestamptz
      order by next_run_at limit $2`,
    [toTimestamp(due.now), due.limit, toTimestamp(due.since)],
  )
  const byOrg = new Map<OrgId, ScheduleId[]>()
  for (const row of rows) {
    const org = orgId(row['org_id'] as string)
    const ids = byOrg.get(org) ?? []
    ids.push(scheduleId(row['id'] as string))
    byOrg.set(org, ids)
  }
  return byOrg
}

/** The earliest next moment of any active schedule of any org, or null. Reads the head of one index. */
export async function loadNextMoment(connection: Connection, since: Instant): Promise<Instant | null> {
  const [row] = await connection.query(
    `select next_run_at from schedule where state = 'active' and next_run_at >= $1::timestamptz
      order by next_run_at limit 1`,
    [toTimestamp(since)],
  )
  return (row?.['next_run_at'] as Instant | undefined) ?? null
}
