import type { OrgId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import type { Trigger } from '../../domain/run/run.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import type { Connection } from '../../store/database.ts'
import { decisions } from '../schedules/occurrences-store.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

const past = columns({
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
  /** Its probe said no: no agent was started. */
  isProbedOut: column.boolean("coalesce(r.why->>'reason' = 'probe_no', false)"),
})

/** A run of a schedule as far as it says how such runs go. */
export type PastRun = RowOf<typeof past>

const attempts = columns({
  runId: column.text<RunId>(),
  number: column.int(),
  startedAt: column.instant(),
  finishedAt: column.instant(),
  status: column.text<'failed' | 'timeout'>(),
  errorCode: column.text<ErrorCode | null>(),
})

/** An attempt of such a run that another one followed. */
export type PastAttempt = RowOf<typeof attempts>

interface OfSchedules {
  readonly orgId: OrgId
  readonly ids: readonly ScheduleId[]
}

/** What a backfill has made is no part of the plan, and says nothing about it. */
const OF_THE_PLAN = "not (trigger = 'manual' and nominal_at is not null)"

/**
 * The last runs of each schedule that were made before a moment, newest first, at most `limit` of each: the end of each
 * schedule's part of one index.
 */
export async function loadRunsBefore(
  connection: Connection,
  wanted: OfSchedules & { readonly before: Instant; readonly limit: number },
): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${past.list} from unnest($2::text[]) as wanted (id) cross join lateral (
       select * from run where org_id = $1 and schedule_id = wanted.id and created_at < $3::timestamptz
          and ${OF_THE_PLAN}
        order by created_at desc, id desc limit $4) r
       left join pending p on p.org_id = r.org_id and p.id = r.id
      order by r.schedule_id, r.created_at desc, r.id desc`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.before), wanted.limit],
  )
  return past.read(rows)
}

/** The runs of each schedule that were made in a stretch of time, oldest first, at most `limit` in all. */
export async function loadRunsBetween(
  connection: Connection,
  wanted: OfSchedules & { readonly from: Instant; readonly to: Instant; readonly limit: number },
): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${past.list} from unnest($2::text[]) as wanted (id) cross join lateral (
       select * from run where org_id = $1 and schedule_id = wanted.id
          and created_at >= $3::timestamptz and created_at < $4::timestamptz and ${OF_THE_PLAN}
        order by created_at, id limit $5) r
       left join pending p on p.org_id = r.org_id and p.id = r.id
      order by r.created_at, r.id limit $5`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
  )
  return past.read(rows)
}

/** The pending runs of the schedules, oldest first. */
export async function loadPendingOf(connection: Connection, wanted: OfSchedules): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${past.list} from pending p join run r on r.org_id = p.org_id and r.id = p.id
      where p.org_id = $1 and r.schedule_id = any($2::text[]) and ${OF_THE_PLAN} order by r.created_at, r.id`,
    [wanted.orgId, wanted.ids],
  )
  return past.read(rows)
}

/** The attempts of runs that others followed, in order. */
export async function loadAttemptsOf(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly PastAttempt[]> {
  const rows = await connection.query(
    `select ${attempts.list} from attempt
      where org_id = $1 and run_id = any($2::text[]) order by run_id, number`,
    [wanted.orgId, wanted.ids],
  )
  return attempts.read(rows)
}

const ranges = decisions.pick('first', 'last', 'decidedAt')

/** Occurrences that were skipped together, by when that was decided. */
export async function loadRangesBetween(
  connection: Connection,
  wanted: OfSchedules & { readonly from: Instant; readonly to: Instant },
): Promise<readonly RowOf<typeof ranges>[]> {
  const rows = await connection.query(
    `select ${ranges.list} from decision
      where org_id = $1 and schedule_id = any($2::text[]) and last_at >= $3::timestamptz and first_at < $4::timestamptz
        and why->>'reason' = 'misfire'
      order by first_at`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.from), toTimestamp(wanted.to)],
  )
  return ranges.read(rows)
}
