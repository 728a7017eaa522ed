import type { Lineage } from '../../domain/access/restrictions.ts'
import type { OpenAlerts } from '../../domain/alerts.ts'
import type { AgentId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { RetryPolicy } from '../../domain/run/retry-policy.ts'
import type { LastEnding } from '../../domain/schedule/history.ts'
import type { ScheduleState } from '../../domain/schedule/lifecycle.ts'
import type { Pace } from '../../domain/schedule/pace/pace.ts'
import type { ScheduleRules } from '../../domain/schedule/rules.ts'
import { restoreTiming, type StoredTiming, storeTiming } from '../../domain/time/parse-timing.ts'
import type { Timing } from '../../domain/time/timing.ts'
import type { Connection, SqlValue, Transaction } from '../../platform/db/database.ts'
import { isLargePayload, type ListedRows, listedPayload, readPage } from '../../platform/db/page.ts'
import { withValues, column, columns, counted, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

/** A new schedule, or a change of one, that needs approval. */
export interface Approval {
  readonly requestedBy: string
  readonly runId: RunId | null
  readonly requestedAt: Instant
  /** Previous values by API field; null: the schedule is new. */
  readonly before: Readonly<Record<string, unknown>> | null
  /** Whether it was disabled, and stays disabled after approval. */
  readonly rests: boolean
  readonly rejected: { readonly by: string; readonly at: Instant; readonly reason: string } | null
}

const schedules = table('schedule', {
  orgId: column.text<OrgId>(),
  id: column.text<ScheduleId>(),
  agentId: column.text<AgentId>(),
  createdBy: column.text<string | null>(),
  /** The restricted key or agent that created it; null for most schedules. */
  owner: column.text<string | null>(),
  /** The run that created it; `lineage` is the chain of that run. */
  createdByRun: column.text<RunId | null>(),
  lineage: column.json<Lineage | null>(),
  /** The open or rejected proposal. */
  approval: column.json<Approval | null>(),
  name: column.text(),
  description: column.text(),
  /** The fields a user set, in API names without synonyms; `timing` and `rules` are parsed from them. */
  input: column.json<Readonly<Record<string, unknown>>>(),
  timing: column.json<StoredTiming>(),
  rules: column.json<ScheduleRules>(),
  retryPolicy: column.json<RetryPolicy | null>(),
  timeoutSeconds: column.int<number | null>(),
  lane: column.text<LaneName | null>(),
  /** Null: every run has its own session. */
  sessionKey: column.text<SessionKey | null>(),
  /** Null with `payloadBytes`: omitted from a list because of its size. */
  payload: column.json(),
  deleteAfterRun: column.boolean(),
  state: column.text<ScheduleState>(),
  /** All occurrences up to and including this time are decided. */
  watermark: column.instant(),
  nextRunAt: column.instant<Instant | null>(),
  /** The current interval of a schedule with a cadence. Null for most schedules. */
  pace: column.json<Pace | null>(),
  failureStreak: column.int(),
  failureCount: column.int(),
  skippedFor: column.text<RunId | null>(),
  fires: column.int(),
  /** The last decided run that was not skipped, superseded or held, of any trigger. */
  previousRunId: column.text<RunId | null>(),
  /** The outcome of the run that ended last, of those whose outcome counts for the failure policy. */
  lastEnding: column.json<LastEnding | null>(),
  lastRunAt: column.instant<Instant | null>(),
  /** When a held occurrence was last released; null: never. */
  lastReleaseAt: column.instant<Instant | null>(),
  lastStatus: column.text<string | null>(),
  lastError: column.text<string | null>(),
  /** Open alerts by kind, with their ids. Null: none. */
  alerts: column.json<OpenAlerts | null>(),
  version: column.int(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** Columns that are empty in a new schedule. */
const HISTORY_COLUMNS = [
  'failureStreak',
  'failureCount',
  'skippedFor',
  'fires',
  'previousRunId',
  'lastEnding',
  'lastRunAt',
  'lastReleaseAt',
  'lastStatus',
  'lastError',
  'alerts',
] as const

/** The engine's columns, which change when occurrences fire and runs end. */
const ENGINE_COLUMNS = schedules.pick('state', 'watermark', 'nextRunAt', 'pace', ...HISTORY_COLUMNS)

type EngineColumns = RowOf<typeof ENGINE_COLUMNS>

/** A row of `schedule` with parsed timing. The engine changes its own columns in memory. */
export type ScheduleRow = Omit<RowOf<typeof schedules>, 'timing' | keyof EngineColumns> & {
  -readonly [Name in keyof EngineColumns]: EngineColumns[Name]
} & { readonly timing: Timing; readonly payloadBytes?: number | null }

/** The columns of a list. Large payloads are omitted, except of proposals, because the reviewer needs them. */
const listed = columns({
  ...schedules.definitions,
  ...listedPayload('payload', {
    bytes: 'payload_bytes',
    isLeftOut: `approval is null and ${isLargePayload('payload_bytes')}`,
  }),
})

/** Columns that may be large. */
const LARGE = ['payload', 'input', 'timing', 'rules', 'description', 'approval', 'lastError', 'lastEnding']

const CREATED = table('schedule', {
  ...schedules.omit('version', ...HISTORY_COLUMNS).definitions,
  kind: column.text<Timing['kind']>(),
})

/** Columns that a user edits, and those of the plan that follow from an edit. */
const EDITED = CREATED.omit('orgId', 'id', 'createdBy', 'owner', 'createdByRun', 'lineage', 'createdAt')

const stored = (schedule: ScheduleRow): RowOf<typeof CREATED> => ({
  ...schedule,
  timing: storeTiming(schedule.timing),
  kind: schedule.timing.kind,
})

/** Inserts new schedules in one statement, without history and with version 1. */
export function insertSchedules(tx: Transaction, rows: readonly ScheduleRow[]): void {
  tx.send(CREATED.insertMany, CREATED.lists(rows.map(stored)))
}

/**
 * Writes the columns of an edit. Only a row of the version that was read is updated; false: it was deleted, or another
 * transaction updated it first.
 */
export async function updateScheduleRow(tx: Transaction, schedule: ScheduleRow): Promise<boolean> {
  const rows = await tx.query(
    `update schedule set ${EDITED.assigned(4)}, version = version + 1
     where org_id = $1 and id = $2 and version = $3
     returning id`,
    [schedule.orgId, schedule.id, schedule.version, ...EDITED.values(stored(schedule))],
  )
  return rows.length > 0
}

/** Loads schedules of the org by id, in no particular order. A caller that updates them must hold the org's lock. */
export async function loadSchedules(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly ids: readonly ScheduleId[] },
): Promise<readonly ScheduleRow[]> {
  const rows = await connection.query(
    `select ${schedules.list} from schedule where org_id = $1 and id = any($2::text[])`,
    [wanted.orgId, wanted.ids],
  )
  return schedules.read(rows).map(toScheduleRow)
}

const scheduleIds = columns({ id: column.text<ScheduleId>() })

/** The ids of the schedules that start an agent, by name. */
export async function listScheduleIdsOfAgent(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly agentId: AgentId; readonly limit: number },
): Promise<readonly ScheduleId[]> {
  const rows = await connection.query(
    `select ${scheduleIds.list} from schedule where org_id = $1 and agent_id = $2 order by lower(name), id limit $3`,
    [wanted.orgId, wanted.agentId, wanted.limit],
  )
  return scheduleIds.read(rows).map(({ id }) => id)
}

const KEY = schedules.pick('orgId', 'id')

const SAVE_SQL = `update schedule s set ${ENGINE_COLUMNS.assignedFrom('n')}
  from (select i.*, (select t.ctid from schedule t where t.org_id = i.org_id and t.id = i.id) as place
          from unnest(${KEY.arrays(1)}, ${ENGINE_COLUMNS.arrays(1 + KEY.count)}) as i (${KEY.names}, ${ENGINE_COLUMNS.names})) n
  where s.ctid = n.place`

/** Writes the engine's columns of many schedules in one statement, and leaves the edited columns alone. */
export function saveSchedules(tx: Transaction, rows: readonly ScheduleRow[]): void {
  tx.send(SAVE_SQL, [...KEY.lists(rows), ...ENGINE_COLUMNS.lists(rows)])
}

/** Deletes schedules; their runs stay. */
export function deleteScheduleRows(
  tx: Transaction,
  deleted: { readonly orgId: OrgId; readonly ids: readonly ScheduleId[] },
): void {
  tx.send('delete from schedule where org_id = $1 and id = any($2::text[])', [deleted.orgId, deleted.ids])
}

/** A filter of an org's schedules. Omitted fields match all. */
export interface ScheduleQuery {
  readonly orgId: OrgId
  readonly state?: ScheduleState | null
  readonly agentId?: AgentId | null
  readonly kind?: Timing['kind'] | null
  /** Part of the name or description (case-insensitive). */
  readonly text?: string | null
  /** The restricted key or agent that created them. */
  readonly owner?: string | null
}

/** The position of a page: after the schedule with this id, whose sort column has this value. */
export interface ScheduleCursor {
  readonly value: Instant | string | number | null
  readonly id: ScheduleId
}

/** The sort orders of a list: the column, and how the cursor's value is compared with it. */
const SORT_ORDERS = {
  created_at: { by: 'created_at', value: '$6::timestamptz', goes: ['>', 'asc'] },
  '-created_at': { by: 'created_at', value: '$6::timestamptz', goes: ['<', 'desc'] },
  name: { by: 'lower(name)', value: 'lower($6::text)', goes: ['>', 'asc'] },
  '-name': { by: 'lower(name)', value: 'lower($6::text)', goes: ['<', 'desc'] },
  next_run_at: { by: `coalesce(next_run_at, 'infinity')`, value: '$6::timestamptz', goes: ['>', 'asc'] },
  '-failure_streak': { by: 'failure_streak', value: '$6::int', goes: ['<', 'desc'] },
  '-next_run_at': { by: `coalesce(next_run_at, '-infinity')`, value: '$6::timestamptz', goes: ['<', 'desc'] },
} as const

const FILTER_SQL = `org_id = $1 and ($2::text is null or state = $2) and ($3::text is null or agent_id = $3)
  and ($4::text is null or kind = $4)
  and ($5::text is null or strpos(lower(name), lower($5)) > 0 or strpos(lower(description), lower($5)) > 0)`

const hasOwner = (owner: string | null | undefined): owner is string => owner !== undefined && owner !== null

const filterValues = (query: ScheduleQuery): readonly SqlValue[] => [
  query.orgId,
  query.state ?? null,
  query.agentId ?? null,
  query.kind ?? null,
  query.text ?? null,
]

interface SchedulePageQuery extends ScheduleQuery {
  /** Whether the last run failed or the schedule is `failed`. Null: either. */
  readonly failing?: boolean | null
  readonly sort: keyof typeof SORT_ORDERS
  readonly after: ScheduleCursor | null
  readonly limit: number
}

/** Schedules in the given order; those without a next run come last. */
export async function listSchedules(connection: Connection, page: SchedulePageQuery): Promise<readonly ScheduleRow[]> {
  const { text, values } = listOf(page, schedules.list)
  return schedules.read(await connection.query(text, values)).map(toScheduleRow)
}

/** A page of schedules, limited by bytes too. Without `whole`, large payloads are omitted. */
export function listSchedulePage(
  connection: Connection,
  page: SchedulePageQuery & { readonly whole?: boolean },
): Promise<ListedRows<ScheduleRow>> {
  const shown = page.whole === true ? schedules : listed
  const { text, values } = listOf({ ...page, limit: page.limit + 1 }, shown.list)
  return readPage(
    connection,
    { text, values, large: LARGE, limit: page.limit },
    { read: (rows) => shown.read(rows).map(toScheduleRow) },
  )
}

function listOf(
  page: SchedulePageQuery,
  list: string,
): { readonly text: string; readonly values: readonly SqlValue[] } {
  const { by, value, goes } = SORT_ORDERS[page.sort]
  const [beyond, direction] = goes
  return {
    text: `select ${list} from schedule
      where ${FILTER_SQL} and ($9::boolean is null or (failure_streak > 0 or state = 'failed') = $9)
        ${hasOwner(page.owner) ? 'and owner = $10' : ''}
        and ($7::text is null or ${by} ${beyond} ${value} or (${by} = ${value} and id > $7))
      order by ${by} ${direction}, id limit $8`,
    values: [
      ...filterValues(page),
      page.after === null ? null : orderValue(page.sort, page.after),
      page.after?.id ?? null,
      page.limit,
      page.failing ?? null,
      ...(hasOwner(page.owner) ? [page.owner] : []),
    ],
  }
}

/** A schedule without a next run sorts last in both directions. */
function orderValue(sort: keyof typeof SORT_ORDERS, { value }: ScheduleCursor): string {
  if (value === null) return sort === '-next_run_at' ? '-infinity' : 'infinity'
  if (sort === '-failure_streak') return String(value)
  return typeof value === 'number' ? toTimestamp(value as Instant) : value
}

/** Counts schedules. */
export async function countSchedules(connection: Connection, query: ScheduleQuery): Promise<number> {
  const owned = hasOwner(query.owner) ? 'and owner = $6' : ''
  const rows = await connection.query(`select ${counted.list} from schedule where ${FILTER_SQL} ${owned}`, [
    ...filterValues(query),
    ...(hasOwner(query.owner) ? [query.owner] : []),
  ])
  return counted.only(rows).count
}

const toScheduleRow = (row: RowOf<typeof schedules>): ScheduleRow =>
  withValues(row, { timing: restoreTiming(row.timing) })

/** Limits a search for due schedules: from `since` on, without the orgs in `except`. */
export interface DueWindow {
  readonly since: Instant
  readonly except: readonly OrgId[]
}

/** The due schedules of an org, and the earliest due time. */
export interface DueOfOrg {
  readonly ids: readonly ScheduleId[]
  readonly first: Instant
}

const dueScheduleColumns = columns({
  orgId: column.text<OrgId>(),
  id: column.text<ScheduleId>(),
  nextRunAt: column.instant(),
})

/** Due active schedules by org, longest overdue first. */
export async function loadDueSchedules(
  connection: Connection,
  wanted: DueWindow & { readonly now: Instant; readonly limit: number },
): Promise<ReadonlyMap<OrgId, DueOfOrg>> {
  const rows = await connection.query(
    `select ${dueScheduleColumns.list} from schedule
      where state = 'active' and next_run_at >= $3::timestamptz and next_run_at <= $1::timestamptz
        and org_id <> all($4::text[])
      order by next_run_at limit $2`,
    [toTimestamp(wanted.now), wanted.limit, toTimestamp(wanted.since), wanted.except],
  )
  const byOrg = new Map<OrgId, { readonly ids: ScheduleId[]; readonly first: Instant }>()
  for (const { orgId, id, nextRunAt } of dueScheduleColumns.read(rows)) {
    const found = byOrg.get(orgId) ?? { ids: [], first: nextRunAt }
    found.ids.push(id)
    byOrg.set(orgId, found)
  }
  return byOrg
}

const nextRunColumns = columns({ nextRunAt: column.instant() })

/** The earliest next run of any active schedule in the window, or null. Reads the head of one index. */
export async function loadNextDueTime(connection: Connection, { since, except }: DueWindow): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${nextRunColumns.list} from schedule where state = 'active' and next_run_at >= $1::timestamptz
        and org_id <> all($2::text[])
      order by next_run_at limit 1`,
    [toTimestamp(since), except],
  )
  return nextRunColumns.first(rows)?.nextRunAt ?? null
}
