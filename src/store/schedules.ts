import type { AgentId, OrgId, ScheduleId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { ScheduleState } from '../domain/schedule/lifecycle.ts'
import { restoreTiming, storeTiming } from '../core/time/stored-timing.ts'
import type { Timing } from '../domain/time/timing.ts'
import type { Connection, SqlValue, Transaction } from './database.ts'
import { isLargePayload, type Listed, listedPayload, readPage } from '../platform/db/page.ts'
import { HISTORY, LIFE, type ScheduleRow, schedules } from './schedule-row.ts'
import { amended, column, columns, counted, type RowOf, table, toTimestamp } from '../platform/db/table.ts'

/** The same for a list, from which large payloads are left out, but not of one that somebody is asked to approve. */
const listed = columns({
  ...schedules.definitions,
  ...listedPayload('payload', {
    bytes: 'payload_bytes',
    isLeftOut: `approval is null and ${isLargePayload('payload_bytes')}`,
  }),
})

/** What may be large of a schedule. */
const LARGE = ['payload', 'input', 'timing', 'rules', 'description', 'approval', 'lastError', 'lastEnding']

const CREATED = table('schedule', {
  ...schedules.omit('version', ...HISTORY).definitions,
  kind: column.text<Timing['kind']>(),
})

/** What a person edits, and where that leaves the plan. */
const EDITED = CREATED.omit('orgId', 'id', 'createdBy', 'owner', 'createdByRun', 'lineage', 'createdAt')

const stored = (schedule: ScheduleRow): RowOf<typeof CREATED> => ({
  ...schedule,
  timing: storeTiming(schedule.timing),
  kind: schedule.timing.kind,
})

/** Puts new schedules on record, many in one statement. They have no history yet, and their version is 1. */
export function insertSchedules(tx: Transaction, rows: readonly ScheduleRow[]): void {
  tx.send(CREATED.insertMany, CREATED.lists(rows.map(stored)))
}

/**
 * Writes back what a person edits, and where that leaves the plan. Only a row of the version that was read is changed:
 * false when it is gone or somebody else was faster.
 */
export async function updateSchedule(tx: Transaction, schedule: ScheduleRow): Promise<boolean> {
  const rows = await tx.query(
    `update schedule set ${EDITED.assigned(4)}, version = version + 1
     where org_id = $1 and id = $2 and version = $3
     returning id`,
    [schedule.orgId, schedule.id, schedule.version, ...EDITED.values(stored(schedule))],
  )
  return rows.length > 0
}

/** The schedules of the org among the ids, in no particular order. Whoever changes them holds the org's lock. */
export async function loadSchedules(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly ScheduleId[] },
): Promise<readonly ScheduleRow[]> {
  const rows = await connection.query(
    `select ${schedules.list} from schedule where org_id = $1 and id = any($2::text[])`,
    [wanted.orgId, wanted.ids],
  )
  return schedules.read(rows).map(scheduleOf)
}

const KEY = schedules.pick('orgId', 'id')

const SAVE = `update schedule s set ${LIFE.assignedFrom('n')}
  from (select i.*, (select t.ctid from schedule t where t.org_id = i.org_id and t.id = i.id) as place
          from unnest(${KEY.arrays(1)}, ${LIFE.arrays(1 + KEY.count)}) as i (${KEY.names}, ${LIFE.names})) n
  where s.ctid = n.place`

/** Writes back what firing and endings change, many schedules in one statement. What a person edits stays. */
export function saveSchedules(tx: Transaction, rows: readonly ScheduleRow[]): void {
  tx.send(SAVE, [...KEY.lists(rows), ...LIFE.lists(rows)])
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
  const { text, values } = listOf(page, schedules.list)
  return schedules.read(await connection.query(text, values)).map(scheduleOf)
}

/** A page of them, which ends by bytes too. Unless `whole`, large payloads are left out. */
export function listSchedulePage(
  connection: Connection,
  page: SchedulePage & { readonly whole?: boolean },
): Promise<Listed<ScheduleRow>> {
  const shown = page.whole === true ? schedules : listed
  const { text, values } = listOf({ ...page, limit: page.limit + 1 }, shown.list)
  return readPage(
    connection,
    { text, values, large: LARGE, limit: page.limit },
    { read: (rows) => shown.read(rows).map(scheduleOf) },
  )
}

function listOf(page: SchedulePage, list: string): { readonly text: string; readonly values: readonly SqlValue[] } {
  const { by, value, goes } = ORDERS[page.sort]
  const [beyond, direction] = goes
  return {
    text: `select ${list} from schedule
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
  const rows = await connection.query(`select ${counted.list} from schedule where ${CHOSEN} ${owned}`, [
    ...chosen(choice),
    ...(isGiven(choice.owner) ? [choice.owner] : []),
  ])
  return counted.only(rows).count
}

const scheduleOf = (row: RowOf<typeof schedules>): ScheduleRow => amended(row, { timing: restoreTiming(row.timing) })

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
