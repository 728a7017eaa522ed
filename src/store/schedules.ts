import {
  agentId,
  laneName,
  orgId,
  runId,
  scheduleId,
  sessionKey,
  type AgentId,
  type OrgId,
  type ScheduleId,
} from '../core/ids.ts'
import type { OpenAlerts } from '../core/alerts.ts'
import type { Instant } from '../core/instant.ts'
import type { RetryPolicy } from '../core/run/retry-policy.ts'
import type { LastEnding } from '../core/schedule/schedule-history.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { ScheduleRules } from '../core/schedule/schedule-rules.ts'
import { restoreTiming, storeTiming, type StoredTiming } from '../core/time/stored-timing.ts'
import type { Timing } from '../core/time/timing.ts'
import type { Connection, Row, SqlValue, Transaction } from './database.ts'
import { isLargePayload, listedPayload, payloadBytesOf, readPage, type Listed } from './page.ts'
import { brandOrNull, columnsOf, jsonOrNull, timestampOrNull } from './rows.ts'
import type { ScheduleRow } from './schedule-row.ts'
import { toTimestamp } from './timestamp.ts'

const columnsWith = (payload: string): string => `org_id, id, agent_id, created_by, name, description, input, timing,
  rules, retry_policy, timeout_seconds, lane, session_key, ${payload}, delete_after_run, state, watermark, next_run_at, failure_streak,
  failure_count, skipped_for, fires, previous_run_id, last_ending, last_run_at, last_status, last_error, alerts, version, created_at, updated_at, owner, created_by_run, lineage, approval, pace, last_release_at`

const COLUMNS = columnsWith('payload')

/** The same for a list, from which large payloads are left out, but not of one that somebody is asked to approve. */
const PAYLOAD = { bytes: 'payload_bytes', isLeftOut: `approval is null and ${isLargePayload('payload_bytes')}` }
const LISTED_COLUMNS = columnsWith(listedPayload('payload', PAYLOAD))

/** What may be large of a schedule. */
const LARGE = ['payload', 'input', 'timing', 'rules', 'description', 'approval', 'last_error', 'last_ending']

/** Puts new schedules on record, many in one statement. They have no history yet, and their version is 1. */
export function insertSchedules(tx: Transaction, schedules: readonly ScheduleRow[]): void {
  const rows = schedules.map((row) => [
    ...[...editable(row), row.createdBy, toTimestamp(row.createdAt)],
    ...[row.owner, row.createdByRun, jsonOrNull(row.lineage), jsonOrNull(row.approval), jsonOrNull(row.pace)],
  ])
  tx.send(
    `insert into schedule (org_id, id, agent_id, name, description, kind, input, timing, rules, retry_policy,
       timeout_seconds, lane, session_key, payload, delete_after_run, state, watermark, next_run_at, updated_at,
       created_by, created_at, owner, created_by_run, lineage, approval, pace)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[],
       $8::jsonb[], $9::jsonb[], $10::jsonb[], $11::int[], $12::text[], $13::text[], $14::jsonb[], $15::boolean[],
       $16::text[], $17::timestamptz[], $18::timestamptz[], $19::timestamptz[], $20::text[], $21::timestamptz[], $22::text[],
       $23::text[], $24::jsonb[], $25::jsonb[], $26::jsonb[])`,
    Array.from({ length: NEW_COLUMNS }, (_, column) => rows.map((row) => row[column] ?? null)),
  )
}

/** As many as the statement that inserts has. */
const NEW_COLUMNS = 26

/**
 * Writes back what a person edits, and where that leaves the plan. Only a row of the version that was read is changed:
 * false when it is gone or somebody else was faster.
 */
export async function updateSchedule(tx: Transaction, schedule: ScheduleRow): Promise<boolean> {
  const rows = await tx.query(
    `update schedule set agent_id = $3, name = $4, description = $5, kind = $6, input = $7::jsonb, timing = $8::jsonb,
       rules = $9::jsonb, retry_policy = $10::jsonb, timeout_seconds = $11, lane = $12, session_key = $13,
       payload = $14::jsonb, delete_after_run = $15, state = $16, watermark = $17::timestamptz,
       next_run_at = $18::timestamptz, updated_at = $19::timestamptz, version = version + 1,
       approval = $21::jsonb, pace = $22::jsonb
     where org_id = $1 and id = $2 and version = $20
     returning id`,
    [...editable(schedule), schedule.version, jsonOrNull(schedule.approval), jsonOrNull(schedule.pace)],
  )
  return rows.length > 0
}

const editable = (schedule: ScheduleRow): readonly SqlValue[] => [
  schedule.orgId,
  schedule.id,
  schedule.agentId,
  schedule.name,
  schedule.description,
  schedule.timing.kind,
  JSON.stringify(schedule.input),
  JSON.stringify(storeTiming(schedule.timing)),
  JSON.stringify(schedule.rules),
  jsonOrNull(schedule.retryPolicy),
  schedule.timeoutSeconds,
  schedule.lane,
  schedule.sessionKey,
  jsonOrNull(schedule.payload),
  schedule.deleteAfterRun,
  schedule.state,
  toTimestamp(schedule.watermark),
  timestampOrNull(schedule.nextRunAt),
  toTimestamp(schedule.updatedAt),
]

/** The schedules of the org among the ids, in no particular order. Whoever changes them holds the org's lock. */
export async function loadSchedules(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly ScheduleId[] },
): Promise<readonly ScheduleRow[]> {
  const rows = await connection.query(`select ${COLUMNS} from schedule where org_id = $1 and id = any($2::text[])`, [
    ...[wanted.orgId, wanted.ids],
  ])
  return rows.map(scheduleOf)
}

/** Writes back what firing and endings change, many schedules in one statement. What a person edits stays. */
export function saveSchedules(tx: Transaction, schedules: readonly ScheduleRow[]): void {
  tx.send(
    `update schedule s set state = n.state, watermark = n.watermark, next_run_at = n.next_run_at,
       failure_streak = n.failure_streak, failure_count = n.failure_count, skipped_for = n.skipped_for, fires = n.fires,
       previous_run_id = n.previous_run_id, last_ending = n.last_ending, last_run_at = n.last_run_at,
       last_status = n.last_status, last_error = n.last_error, alerts = n.alerts, pace = n.pace, last_release_at = n.last_release_at
     from (select i.*, (select t.ctid from schedule t where t.org_id = i.org_id and t.id = i.id) as place
             from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::int[], $7::int[],
                         $8::text[], $9::int[], $10::text[], $11::jsonb[], $12::timestamptz[], $13::text[], $14::text[],
                         $15::jsonb[], $16::jsonb[], $17::timestamptz[])
               as i (org_id, id, state, watermark, next_run_at, failure_streak, failure_count, skipped_for, fires,
                     previous_run_id, last_ending, last_run_at, last_status, last_error, alerts, pace, last_release_at)) n
     where s.ctid = n.place`,
    columnsOf(
      schedules,
      (schedule) => schedule.orgId,
      (schedule) => schedule.id,
      (schedule) => schedule.state,
      (schedule) => toTimestamp(schedule.watermark),
      (schedule) => timestampOrNull(schedule.nextRunAt),
      (schedule) => schedule.failureStreak,
      (schedule) => schedule.failureCount,
      (schedule) => schedule.skippedFor,
      (schedule) => schedule.fires,
      (schedule) => schedule.previousRunId,
      (schedule) => jsonOrNull(schedule.lastEnding),
      (schedule) => timestampOrNull(schedule.lastRunAt),
      (schedule) => schedule.lastStatus,
      (schedule) => schedule.lastError,
      (schedule) => jsonOrNull(schedule.alerts),
      (schedule) => jsonOrNull(schedule.pace),
      (schedule) => timestampOrNull(schedule.lastReleaseAt),
    ),
  )
}

/** Removes schedules; their runs stay. */
export function deleteSchedules(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly ids: readonly ScheduleId[] },
): void {
  tx.send('delete from schedule where org_id = $1 and id = any($2::text[])', [gone.orgId, gone.ids])
}

/** Which schedules of an org. What is left out does not matter. */
export interface ScheduleChoice {
  readonly orgId: OrgId
  readonly state?: ScheduleState | null
  readonly agentId?: AgentId | null
  readonly kind?: Timing['kind'] | null
  /** A part of name or description, in any case. */
  readonly text?: string | null
  /** Those that somebody made under guard rails. */
  readonly owner?: string | null
}

/** Where a page goes on: after the one with this id, which has this value in the order of the page. */
export interface ScheduleCursor {
  readonly value: Instant | string | number | null
  readonly id: ScheduleId
}

/** The orders of a list: what is compared, and how the value of a cursor is compared with it. */
const ORDERS = {
  created_at: { by: 'created_at', value: '$6::timestamptz', goes: ['>', 'asc'] },
  '-created_at': { by: 'created_at', value: '$6::timestamptz', goes: ['<', 'desc'] },
  name: { by: 'lower(name)', value: 'lower($6::text)', goes: ['>', 'asc'] },
  '-name': { by: 'lower(name)', value: 'lower($6::text)', goes: ['<', 'desc'] },
  next_run_at: { by: `coalesce(next_run_at, 'infinity')`, value: '$6::timestamptz', goes: ['>', 'asc'] },
  '-failure_streak': { by: 'failure_streak', value: '$6::int', goes: ['<', 'desc'] },
  '-next_run_at': { by: `coalesce(next_run_at, '-infinity')`, value: '$6::timestamptz', goes: ['<', 'desc'] },
} as const

const CHOSEN = `org_id = $1 and ($2::text is null or state = $2) and ($3::text is null or agent_id = $3)
  and ($4::text is null or kind = $4)
  and ($5::text is null or strpos(lower(name), lower($5)) > 0 or strpos(lower(description), lower($5)) > 0)`

const isGiven = (owner: string | null | undefined): owner is string => owner !== undefined && owner !== null

const chosen = (choice: ScheduleChoice): readonly SqlValue[] => [
  choice.orgId,
  choice.state ?? null,
  choice.agentId ?? null,
  choice.kind ?? null,
  choice.text ?? null,
]

interface SchedulePage extends ScheduleChoice {
  /** Whether the last run failed, or the schedule was given up. Null: either. */
  readonly failing?: boolean | null
  readonly sort: keyof typeof ORDERS
  readonly after: ScheduleCursor | null
  readonly limit: number
}

/** Schedules in the order that is asked for; those that come at no time come last. */
export async function listSchedules(connection: Connection, page: SchedulePage): Promise<readonly ScheduleRow[]> {
  const { text, values } = listOf(page, COLUMNS)
  return (await connection.query(text, values)).map(scheduleOf)
}

/** A page of them, which ends by bytes too. Unless `whole`, large payloads are left out. */
export function listSchedulePage(
  connection: Connection,
  page: SchedulePage & { readonly whole?: boolean },
): Promise<Listed<ScheduleRow>> {
  const { text, values } = listOf({ ...page, limit: page.limit + 1 }, page.whole === true ? COLUMNS : LISTED_COLUMNS)
  return readPage(connection, { text, values, large: LARGE, limit: page.limit }, scheduleOf)
}

function listOf(page: SchedulePage, columns: string): { readonly text: string; readonly values: readonly SqlValue[] } {
  const { by, value, goes } = ORDERS[page.sort]
  const [beyond, direction] = goes
  return {
    text: `select ${columns} from schedule
      where ${CHOSEN} and ($9::boolean is null or (failure_streak > 0 or state = 'failed') = $9)
        ${isGiven(page.owner) ? 'and owner = $10' : ''}
        and ($7::text is null or ${by} ${beyond} ${value} or (${by} = ${value} and id > $7))
      order by ${by} ${direction}, id limit $8`,
    values: [
      ...chosen(page),
      page.after === null ? null : orderValue(page.sort, page.after),
      page.after?.id ?? null,
      page.limit,
      page.failing ?? null,
      ...(isGiven(page.owner) ? [page.owner] : []),
    ],
  }
}

/** What never comes is later than everything, and earlier when the order is turned round. */
function orderValue(sort: keyof typeof ORDERS, { value }: ScheduleCursor): string {
  if (value === null) return sort === '-next_run_at' ? '-infinity' : 'infinity'
  if (sort === '-failure_streak') return String(value)
  return typeof value === 'number' ? toTimestamp(value as Instant) : value
}

/** How many schedules there are. */
export async function countSchedules(connection: Connection, choice: ScheduleChoice): Promise<number> {
  const owned = isGiven(choice.owner) ? 'and owner = $6' : ''
  const [row] = await connection.query(`select count(*) as found from schedule where ${CHOSEN} ${owned}`, [
    ...chosen(choice),
    ...(isGiven(choice.owner) ? [choice.owner] : []),
  ])
  return row?.['found'] as number
}

function scheduleOf(row: Row): ScheduleRow {
  return {
    orgId: orgId(row['org_id'] as string),
    id: scheduleId(row['id'] as string),
    agentId: agentId(row['agent_id'] as string),
    createdBy: row['created_by'] as string | null,
    owner: row['owner'] as string | null,
    createdByRun: brandOrNull(row['created_by_run'], runId),
    lineage: row['lineage'] as ScheduleRow['lineage'],
    approval: row['approval'] as ScheduleRow['approval'],
    name: row['name'] as string,
    description: row['description'] as string,
    input: row['input'] as ScheduleRow['input'],
    timing: restoreTiming(row['timing'] as StoredTiming),
    rules: row['rules'] as ScheduleRules,
    retryPolicy: row['retry_policy'] as RetryPolicy | null,
    timeoutSeconds: row['timeout_seconds'] as number | null,
    lane: brandOrNull(row['lane'], laneName),
    sessionKey: brandOrNull(row['session_key'], sessionKey),
    payload: row['payload'],
    ...payloadBytesOf(row),
    deleteAfterRun: row['delete_after_run'] as boolean,
    state: row['state'] as ScheduleState,
    watermark: row['watermark'] as Instant,
    nextRunAt: row['next_run_at'] as Instant | null,
    pace: row['pace'] as ScheduleRow['pace'],
    failureStreak: row['failure_streak'] as number,
    failureCount: row['failure_count'] as number,
    skippedFor: brandOrNull(row['skipped_for'], runId),
    fires: row['fires'] as number,
    previousRunId: brandOrNull(row['previous_run_id'], runId),
    lastEnding: row['last_ending'] as LastEnding | null,
    lastRunAt: row['last_run_at'] as Instant | null,
    lastReleaseAt: row['last_release_at'] as Instant | null,
    lastStatus: row['last_status'] as string | null,
    lastError: row['last_error'] as string | null,
    alerts: row['alerts'] as OpenAlerts | null,
    version: row['version'] as number,
    createdAt: row['created_at'] as Instant,
    updatedAt: row['updated_at'] as Instant,
  }
}
