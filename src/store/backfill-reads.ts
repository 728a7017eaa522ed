import { durationOf } from '../core/run/run.ts'
import { firstStart } from './run-columns.ts'
import type { OrgId, RunId, ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Connection } from './database.ts'
import { column, columns, type RowOf } from './table.ts'
import { toTimestamp } from './timestamp.ts'

const ofMoments = columns({
  nominal: column.instant('e.nominal_at'),
  runId: column.text<RunId>('e.run_id'),
  state: column.text<RunState>('coalesce(r.state, p.state)'),
})

/** A run of a moment: the plan's, a backfill's, or one that a person repeated. */
export type RunOfMoment = RowOf<typeof ofMoments>

/** The runs that the moments of a range have had, whoever made them; those a person asked for now have no moment. */
export async function loadRunsOfMoments(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly from: Instant; readonly to: Instant },
): Promise<readonly RunOfMoment[]> {
  const rows = await connection.query(
    `with recursive made as (
       select o.nominal_at, o.run_id from occurrence o
        where o.org_id = $1 and o.schedule_id = $2 and o.nominal_at >= $3::timestamptz and o.nominal_at < $4::timestamptz
          and o.kind in ('occurrence', 'backfill')),
     repeated as materialized (
       select r.id, r.retry_of from run r
        where r.org_id = $1 and r.trigger = 'retry' and r.created_at >= $3::timestamptz and r.schedule_id = $2),
     every_run as (
       select nominal_at, run_id from made
       union
       select e.nominal_at, r.id from every_run e join repeated r on r.retry_of = e.run_id)
     select ${ofMoments.list}
       from every_run e join run r on r.org_id = $1 and r.id = e.run_id
       left join pending p on p.org_id = $1 and p.id = e.run_id`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.from), toTimestamp(wanted.to)],
  )
  return ofMoments.read(rows)
}

const backfilled = columns({
  backfillId: column.text('o.discriminator'),
  runId: column.text<RunId>('r.id'),
  state: column.text<RunState>('coalesce(r.state, p.state)'),
  decision: column.json<Why>('r.decision'),
})

/** What backfills made of one moment, newest last. */
export async function loadBackfilledRuns(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly nominal: Instant; readonly limit: number },
): Promise<readonly RowOf<typeof backfilled>[]> {
  const rows = await connection.query(
    `select ${backfilled.list}
       from occurrence o join run r on r.org_id = o.org_id and r.id = o.run_id
       left join pending p on p.org_id = r.org_id and p.id = r.id
      where o.org_id = $1 and o.schedule_id = $2 and o.nominal_at = $3::timestamptz and o.kind = 'backfill'
      order by r.created_at, r.id limit $4`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.nominal), wanted.limit],
  )
  return backfilled.read(rows)
}

const lengths = columns({
  startedAt: column.instant<Instant | null>('r.started_at'),
  firstStartedAt: column.instant<Instant | null>(firstStart('r', 'r.attempt')),
  finishedAt: column.instant<Instant | null>('r.finished_at'),
  state: column.text<RunState | null>('r.state'),
})

/** How long the last runs of a schedule took that succeeded, in milliseconds. */
export async function loadRunLengths(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await connection.query(
    `select ${lengths.list} from run r
      where r.org_id = $1 and r.schedule_id = $2 order by r.created_at desc, r.id desc limit $3`,
    [wanted.orgId, wanted.scheduleId, wanted.limit],
  )
  return lengths.read(rows).flatMap((row) => {
    const length = durationOf(row)
    return row.state === 'success' && length !== null ? [length] : []
  })
}
