import type { OrgId, ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection } from './database.ts'
import { column, columns } from './table.ts'
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

const due = columns({ orgId: column.text<OrgId>(), id: column.text<ScheduleId>(), nextRunAt: column.instant() })

/** Active schedules of all orgs but some whose next moment has come, longest overdue first. */
export async function loadDueSchedules(
  connection: Connection,
  wanted: DueWindow & { readonly now: Instant; readonly limit: number },
): Promise<ReadonlyMap<OrgId, DueOfOrg>> {
  const rows = await connection.query(
    `select ${due.list} from schedule
      where state = 'active' and next_run_at >= $3::timestamptz and next_run_at <= $1::timestamptz
        and org_id <> all($4::text[])
      order by next_run_at limit $2`,
    [toTimestamp(wanted.now), wanted.limit, toTimestamp(wanted.since), wanted.except],
  )
  const byOrg = new Map<OrgId, { readonly ids: ScheduleId[]; readonly first: Instant }>()
  for (const { orgId, id, nextRunAt } of due.read(rows)) {
    const known = byOrg.get(orgId) ?? { ids: [], first: nextRunAt }
    known.ids.push(id)
    byOrg.set(orgId, known)
  }
  return byOrg
}

const next = columns({ nextRunAt: column.instant() })

/** The earliest next moment of any active schedule of any org but some, or null. Reads the head of one index. */
export async function loadNextMoment(connection: Connection, { since, except }: DueWindow): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${next.list} from schedule where state = 'active' and next_run_at >= $1::timestamptz
        and org_id <> all($2::text[])
      order by next_run_at limit 1`,
    [toTimestamp(since), except],
  )
  return next.first(rows)?.nextRunAt ?? null
}
