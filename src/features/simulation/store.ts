import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { Trigger } from '../../domain/run/run.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { Connection } from '../../platform/db/database.ts'
import { decisions } from '../schedules/occurrences-store.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

const pastRunColumns = columns({
  scheduleId: column.text<ScheduleId>('r.schedule_id'),
  id: column.text<RunId>('r.id'),
  nominal: column.instant<Instant | null>('r.nominal_at'),
  trigger: column.text<Trigger>('r.trigger'),
  state: column.text<RunState>('coalesce(r.state, p.state)'),
  createdAt: column.instant('r.created_at'),
  firstAttempt: column.int('r.first_attempt'),
  attempt: column.int('coalesce(r.attempt, p.attempt, r.first_attempt)'),
  startedAt: column.instant<Instant | null>('coalesce(r.started_at, p.started_at)'),
  finishedAt: column.instant<Instant | null>('r.finished_at'),
  superseded: column.boolean('coalesce(r.superseded, p.superseded, false)'),
  errorCode: column.text<ErrorCode | null>('r.error_code'),
  usage: column.json('coalesce(r.usage, p.usage)'),
  /** Its probe said no, so no agent was started. */
  isProbedOut: column.boolean("coalesce(r.why->>'reason' = 'probe_no', false)"),
})

/** The columns of a recorded run that a simulation uses. */
export type PastRun = RowOf<typeof pastRunColumns>

const pastAttemptColumns = columns({
  runId: column.text<RunId>(),
  number: column.int(),
  startedAt: column.instant(),
  finishedAt: column.instant(),
  status: column.text<'failed' | 'timeout'>(),
  errorCode: column.text<ErrorCode | null>(),
})

/** An attempt of such a run that was followed by another. */
export type PastAttempt = RowOf<typeof pastAttemptColumns>

interface SchedulesQuery {
  readonly orgId: OrgId
  readonly ids: readonly ScheduleId[]
}

/** Excludes backfilled runs, which are not part of the plan. */
const NOT_BACKFILLED_SQL = "not (trigger = 'manual' and nominal_at is not null)"

/**
 * The last runs of each schedule created before a time, newest first, at most `limit` of each. Reads the end of each
 * schedule's part of one index.
 */
export async function loadRunsBefore(
  connection: Connection,
  wanted: SchedulesQuery & { readonly before: Instant; readonly limit: number },
): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${pastRunColumns.list} from unnest($2::text[]) as wanted (id) cross join lateral (
       select * from run where org_id = $1 and schedule_id = wanted.id and created_at < $3::timestamptz
          and ${NOT_BACKFILLED_SQL}
        order by created_at desc, id desc limit $4) r
       left join pending p on p.org_id = r.org_id and p.id = r.id
      order by r.schedule_id, r.created_at desc, r.id desc`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.before), wanted.limit],
  )
  return pastRunColumns.read(rows)
}

/** The runs of each schedule created in a period, oldest first, at most `limit` in total. */
export async function loadRunsBetween(
  connection: Connection,
  wanted: SchedulesQuery & { readonly from: Instant; readonly to: Instant; readonly limit: number },
): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${pastRunColumns.list} from unnest($2::text[]) as wanted (id) cross join lateral (
       select * from run where org_id = $1 and schedule_id = wanted.id
          and created_at >= $3::timestamptz and created_at < $4::timestamptz and ${NOT_BACKFILLED_SQL}
        order by created_at, id limit $5) r
       left join pending p on p.org_id = r.org_id and p.id = r.id
      order by r.created_at, r.id limit $5`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
  )
  return pastRunColumns.read(rows)
}

/** The pending runs of the schedules, oldest first. */
export async function loadPendingOf(connection: Connection, wanted: SchedulesQuery): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${pastRunColumns.list} from pending p join run r on r.org_id = p.org_id and r.id = p.id
      where p.org_id = $1 and r.schedule_id = any($2::text[]) and ${NOT_BACKFILLED_SQL} order by r.created_at, r.id`,
    [wanted.orgId, wanted.ids],
  )
  return pastRunColumns.read(rows)
}

/** The attempts of runs that were followed by another, in order. */
export async function loadAttemptsOf(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly PastAttempt[]> {
  const rows = await connection.query(
    `select ${pastAttemptColumns.list} from attempt
      where org_id = $1 and run_id = any($2::text[]) order by run_id, number`,
    [wanted.orgId, wanted.ids],
  )
  return pastAttemptColumns.read(rows)
}

const misfireColumns = decisions.pick('first', 'last', 'decidedAt')

/** Ranges skipped as misfires that overlap a period, with the time of the decision. */
export async function loadRangesBetween(
  connection: Connection,
  wanted: SchedulesQuery & { readonly from: Instant; readonly to: Instant },
): Promise<readonly RowOf<typeof misfireColumns>[]> {
  const rows = await connection.query(
    `select ${misfireColumns.list} from decision
      where org_id = $1 and schedule_id = any($2::text[]) and last_at >= $3::timestamptz and first_at < $4::timestamptz
        and why->>'reason' = 'misfire'
      order by first_at`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.from), toTimestamp(wanted.to)],
  )
  return misfireColumns.read(rows)
}
