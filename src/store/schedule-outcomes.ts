import type { OrgId, RunId, ScheduleId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { RunState } from '../domain/run/run-machine.ts'
import type { Connection } from './database.ts'
import { column, columns } from '../platform/db/table.ts'

/** How one run of a schedule stands; without any run, the schedule is there all the same. */
export interface OutcomeRow {
  readonly scheduleId: ScheduleId
  readonly run: { readonly id: RunId; readonly state: RunState; readonly createdAt: Instant } | null
}

const outcomes = columns({
  scheduleId: column.text<ScheduleId>('s.id'),
  id: column.text<RunId | null>('o.id'),
  state: column.text<RunState>('o.state'),
  createdAt: column.instant('o.created_at'),
})

/**
 * The last runs of some schedules, newest first, at most `limit` of each. Looks at the end of each schedule's part of one
 * index, so it costs the same however many runs there are; what is pending is asked only about runs that are, where a join
 * would ask about each.
 */
export async function loadOutcomes(
  connection: Connection,
  asked: {
    readonly orgId: OrgId
    readonly ids: readonly ScheduleId[]
    readonly limit: number
    /** Whose they must be; null: anybody's. */
    readonly owner: string | null
  },
): Promise<readonly OutcomeRow[]> {
  const rows = await connection.query(
    `select ${outcomes.list}
       from schedule s left join lateral (
         select r.id, r.created_at, coalesce(r.state,
                  (select p.state from pending p where p.org_id = r.org_id and p.id = r.id)) as state
           from (select org_id, id, state, created_at from run
                  where org_id = $1 and schedule_id = s.id order by created_at desc, id desc limit $3) r
       ) o on true
      where s.org_id = $1 and s.id = any($2::text[]) and ($4::text is null or s.owner = $4)
      order by s.id, o.created_at desc, o.id desc`,
    [asked.orgId, asked.ids, asked.limit, asked.owner],
  )
  return outcomes.read(rows).map(({ scheduleId, id, state, createdAt }) => ({
    scheduleId,
    run: id === null ? null : { id, state, createdAt },
  }))
}
