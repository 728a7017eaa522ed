import { runId, scheduleId, type OrgId, type RunId, type ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import type { Trigger } from '../core/run/run.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Connection, Row } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** A run of a schedule as far as it says how such runs go. */
export interface PastRun {
  readonly scheduleId: ScheduleId
  readonly id: RunId
  readonly nominal: Instant | null
  readonly trigger: Trigger
  readonly state: RunState
  readonly createdAt: Instant
  readonly firstAttempt: number
  readonly attempt: number
  readonly startedAt: Instant | null
  readonly finishedAt: Instant | null
  readonly superseded: boolean
  readonly errorCode: ErrorCode | null
  readonly usage: unknown
  /** Its probe said no: no agent was started. */
  readonly isProbedOut: boolean
}

/** An attempt of such a run that another one followed. */
export interface PastAttempt {
  readonly runId: RunId
  readonly number: number
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly status: 'failed' | 'timeout'
  readonly errorCode: ErrorCode | null
}

interface OfSchedules {
  readonly orgId: OrgId
  readonly ids: readonly ScheduleId[]
}

/** What a backfill has made is no part of the plan, and says nothing about it. */
const OF_THE_PLAN = "not (trigger = 'manual' and nominal_at is not null)"

const COLUMNS = `r.schedule_id, r.id, r.nominal_at, r.trigger, coalesce(r.state, p.state) as state, r.created_at,
  r.first_attempt, coalesce(r.attempt, p.attempt, r.first_attempt) as attempt,
  coalesce(r.started_at, p.started_at) as started_at, r.finished_at,
  coalesce(r.superseded, p.superseded, false) as superseded, r.error_code, coalesce(r.usage, p.usage) as usage,
  coalesce(r.why->>'reason' = 'probe_no', false) as probed_out`

/**
 * The last runs of each schedule that were made before a moment, newest first, at most `limit` of each: the end of each
 * schedule's part of one index.
 */
export async function loadRunsBefore(
  connection: Connection,
  wanted: OfSchedules & { readonly before: Instant; readonly limit: number },
): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from unnest($2::text[]) as wanted (id) cross join lateral (
       select * from run where org_id = $1 and schedule_id = wanted.id and created_at < $3::timestamptz
          and ${OF_THE_PLAN}
        order by created_at desc, id desc limit $4) r
       left join pending p on p.org_id = r.org_id and p.id = r.id
      order by r.schedule_id, r.created_at desc, r.id desc`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.before), wanted.limit],
  )
  return rows.map(pastOf)
}

/** The runs of each schedule that were made in a stretch of time, oldest first, at most `limit` in all. */
export async function loadRunsBetween(
  connection: Connection,
  wanted: OfSchedules & { readonly from: Instant; readonly to: Instant; readonly limit: number },
): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from unnest($2::text[]) as wanted (id) cross join lateral (
       select * from run where org_id = $1 and schedule_id = wanted.id
          and created_at >= $3::timestamptz and created_at < $4::timestamptz and ${OF_THE_PLAN}
        order by created_at, id limit $5) r
       left join pending p on p.org_id = r.org_id and p.id = r.id
      order by r.created_at, r.id limit $5`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.from), toTimestamp(wanted.to), wanted.limit],
  )
  return rows.map(pastOf)
}

/** The pending runs of the schedules, oldest first. */
export async function loadPendingOf(connection: Connection, wanted: OfSchedules): Promise<readonly PastRun[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from pending p join run r on r.org_id = p.org_id and r.id = p.id
      where p.org_id = $1 and r.schedule_id = any($2::text[]) and ${OF_THE_PLAN} order by r.created_at, r.id`,
    [wanted.orgId, wanted.ids],
  )
  return rows.map(pastOf)
}

/** The attempts of runs that others followed, in order. */
export async function loadAttemptsOf(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly PastAttempt[]> {
  const rows = await connection.query(
    `select run_id, number, started_at, finished_at, status, error_code from attempt
      where org_id = $1 and run_id = any($2::text[]) order by run_id, number`,
    [wanted.orgId, wanted.ids],
  )
  return rows.map((row) => ({
    runId: runId(row['run_id'] as string),
    number: row['number'] as number,
    startedAt: row['started_at'] as Instant,
    finishedAt: row['finished_at'] as Instant,
    status: row['status'] as PastAttempt['status'],
    errorCode: row['error_code'] as ErrorCode | null,
  }))
}

/** Occurrences that were skipped together, by when that was decided. */
export async function loadRangesBetween(
  connection: Connection,
  wanted: OfSchedules & { readonly from: Instant; readonly to: Instant },
): Promise<readonly { readonly first: Instant; readonly last: Instant; readonly decidedAt: Instant }[]> {
  const rows = await connection.query(
    `select first_at, last_at, decided_at from decision
      where org_id = $1 and schedule_id = any($2::text[]) and last_at >= $3::timestamptz and first_at < $4::timestamptz
        and why->>'reason' = 'misfire'
      order by first_at`,
    [wanted.orgId, wanted.ids, toTimestamp(wanted.from), toTimestamp(wanted.to)],
  )
  return rows.map((row) => ({
    first: row['first_at'] as Instant,
    last: row['last_at'] as Instant,
    decidedAt: row['decided_at'] as Instant,
  }))
}

const pastOf = (row: Row): PastRun => ({
  scheduleId: scheduleId(row['schedule_id'] as string),
  id: runId(row['id'] as string),
  nominal: row['nominal_at'] as Instant | null,
  trigger: row['trigger'] as Trigger,
  state: row['state'] as RunState,
  createdAt: row['created_at'] as Instant,
  firstAttempt: row['first_attempt'] as number,
  attempt: row['attempt'] as number,
  startedAt: row['started_at'] as Instant | null,
  finishedAt: row['finished_at'] as Instant | null,
  superseded: row['superseded'] as boolean,
  errorCode: row['error_code'] as ErrorCode | null,
  usage: row['usage'],
  isProbedOut: row['probed_out'] as boolean,
})
