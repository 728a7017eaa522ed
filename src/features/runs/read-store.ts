import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import { instant, type Instant } from '../../domain/instant.ts'
import { isPending, type RunState } from '../../domain/run/run-machine.ts'
import type { Trigger } from '../../domain/run/run.ts'
import { runOfSession } from '../../domain/session/session.ts'
import { listedRunColumns, RUN_STATE_SQL, runRecordOf, type RunRecord, runRecordColumns } from './record-store.ts'
import { inRunSessionSql } from './store.ts'
import type { Connection, SqlValue, Transaction } from '../../platform/db/database.ts'
import { type ListedRows, readPage } from '../../platform/db/page.ts'
import { column, columns, type RowOf, toTimestamp } from '../../platform/db/table.ts'

/** Columns of a run that may be large. */
const LARGE_COLUMNS = [
  'payload',
  'output',
  'summary',
  'reported',
  'errorMessage',
  'delivery',
  'decision',
  'heldDecision',
  'why',
  'lineage',
]

export const RUNS_WITH_PENDING = 'run r left join pending p on p.org_id = r.org_id and p.id = r.id'

/** Loads a run by id. */
export async function loadRun(
  connection: Connection,
  shape: { readonly orgId: OrgId; readonly id: RunId },
): Promise<RunRecord | undefined> {
  const rows = await connection.query(
    `select ${runRecordColumns.list} from ${RUNS_WITH_PENDING} where r.org_id = $1 and r.id = $2`,
    [shape.orgId, shape.id],
  )
  return runRecordColumns.read(rows).map(runRecordOf)[0]
}

/** A filter of the runs of an org. Omitted and null fields match all runs. */
export interface RunQuery {
  readonly orgId: OrgId
  readonly scheduleId?: ScheduleId | null
  readonly sessionKey?: SessionKey | null
  readonly agentId?: AgentId | null
  readonly states?: readonly RunState[] | null
  readonly trigger?: Trigger | null
  /** The error code reported by the runtime. */
  readonly agentErrorCode?: string | null
  /** Created at or after this time. */
  readonly from?: Instant | null
  /** Created before this time. */
  readonly to?: Instant | null
  /** Ended at or after this time, or still pending. */
  readonly endedSince?: Instant | null
  /** Only runs of one owner, and the run of the attempt that asks. */
  readonly owned?: { readonly owner: string; readonly alsoRun: RunId | null } | null
  readonly onlyOfSchedules?: boolean
}

/** The last run of the previous page. */
export interface RunCursor {
  readonly createdAt: Instant
  readonly id: RunId
}

/** Conditions for which the runs have an index, worded exactly as the indexes are. */
const INDEX_CONDITIONS = {
  schedule: 'r.schedule_id = $2',
  session: 'r.session_key = $3',
  runSession: inRunSessionSql('r.', '$3::text'),
  agent: 'r.agent_id = $4',
  task: `r.trigger = 'task'`,
  trigger: `r.trigger = $6 and r.trigger not in ('message', 'task')`,
} as const
type IndexedField = keyof typeof INDEX_CONDITIONS

/**
 * The tables that hold the wanted states. Pending runs are few among many ended ones, so a query for pending runs alone
 * starts at `pending`, and a query for ended runs alone does not filter by it.
 */
const STATE_SOURCES = {
  pending: {
    source: 'pending p join run r on r.org_id = p.org_id and r.id = p.id',
    state: 'p.state = any($5::text[])',
  },
  ended: { source: RUNS_WITH_PENDING, state: 'r.state = any($5::text[])' },
  anywhere: {
    source: RUNS_WITH_PENDING,
    state: `($5::text[] is null or ${RUN_STATE_SQL} = any($5::text[]))`,
  },
} as const
type StateSource = keyof typeof STATE_SOURCES

const inRange = (row: string): string => `${row}.created_at >= $7::timestamptz and ${row}.created_at < $8::timestamptz
    and (${row}.created_at, ${row}.id) < ($9::timestamptz, $10::text)
    and ($4::text is null or ${row}.agent_id = $4) and ($6::text is null or ${row}.trigger = $6)`

const OF_SCHEDULE = '($2::text is null or r.schedule_id = $2)'
const IN_SESSION = '($3::text is null or r.session_key = $3)'

/** Filters by schedule and session, if given. The condition on the session of a run is in `ABOUT`. */
const scheduleAndSessionSql = ({ indexedFields }: Pick<ListShape, 'indexedFields'>): string =>
  indexedFields.includes('runSession') ? OF_SCHEDULE : `${OF_SCHEDULE} and ${IN_SESSION}`

/** Added only when needed, to keep the common queries short. */
const ENDED_SINCE = 'and (r.finished_at is null or r.finished_at >= $12::timestamptz)'

/** Added for callers that see only their own runs. */
const OWNED = 'and (r.owner = $13 or r.id = $14)'

const OF_SCHEDULES = 'and r.schedule_id is not null'

interface ListShape {
  readonly columns: string
  readonly indexedFields: readonly IndexedField[]
  readonly endedSince: boolean
  readonly owned: boolean
  readonly onlyOfSchedules: boolean
}

const extraConditions = ({ endedSince, owned, onlyOfSchedules }: ListShape): string =>
  [endedSince || owned ? ENDED_SINCE : '', owned ? OWNED : '', onlyOfSchedules ? OF_SCHEDULES : ''].join(' ')

const listSql = (
  shape: ListShape,
  source: StateSource,
): string => `select ${shape.columns} from ${STATE_SOURCES[source].source}
  where r.org_id = $1 and ${[...shape.indexedFields.map((one) => INDEX_CONDITIONS[one]), STATE_SOURCES[source].state].join(' and ')}
    and ${scheduleAndSessionSql(shape)} and ${inRange('r')} ${extraConditions(shape)}
  order by r.created_at desc, r.id desc limit $11`

/** The columns that identify a line of the backlog. */
const inLineSql = (line: string): string => `b.org_id = $1 and b.agent_id = $4 and b.lane = ${line}.lane
     and b.executor_key = ${line}.executor_key and b.kind = ${line}.kind`

const firstPrioritySql = (line: string, behind: string, after: string): string => `select b.priority from backlog b
         where ${inLineSql(line)} and b.behind = ${behind}.behind ${after} order by b.priority limit 1`

/** The newest rows of a part of the backlog, on the page. A kind of queue with more than one trigger is filtered. */
const newestBacklogSql = (where: string): string => `select b.created_at, b.id from backlog b
    where b.org_id = $1 and ${where} and b.created_at >= $7::timestamptz and b.created_at < $8::timestamptz
      and (b.created_at, b.id) < ($9::timestamptz, $10::text)
      and ($6::text is null or b.kind = $6 or exists (
        select from run r where r.org_id = b.org_id and r.id = b.id and r.trigger = $6))
    order by b.created_at desc, b.id desc limit $11`

/** The newest runs in the backlog, kind by kind: each has its order of age in the key. */
const NEWEST_OF_KINDS = `select b.id from unnest(case when $6::text = 'task' then array['task'] else array['ordinary', 'task'] end) as k (kind)
  cross join lateral (${newestBacklogSql('b.kind = k.kind')}) b`

/**
 * The newest runs of an agent in the backlog. The index orders its lines by priority first, so the newest of each
 * priority are read, one priority after the other.
 */
const NEWEST_OF_AGENT = `select b.id from (
    with recursive part as (
      select l.lane, l.executor_key, l.kind, w.behind, first.priority
        from backlog_line l cross join (values (false), (true)) as w (behind)
       cross join lateral (${firstPrioritySql('l', 'w', '')}) first
       where l.org_id = $1 and l.agent_id = $4 and ($6::text is distinct from 'task' or l.kind = 'task')
      union all
      select t.lane, t.executor_key, t.kind, t.behind, next.priority
        from part t cross join lateral (${firstPrioritySql('t', 't', 'and b.priority > t.priority')}) next)
    select * from part) t
  cross join lateral (${newestBacklogSql(`${inLineSql('t')} and b.behind = t.behind and b.priority = t.priority`)}) b`

/** The ids of pending runs in the wanted states: all outside of the backlog, and the newest in it. */
const pendingIdsSql = (states: readonly RunState[], { indexedFields, onlyOfSchedules }: ListShape): string => {
  const outside = 'select id from pending where org_id = $1 and state = any($5::text[])'
  if (!states.includes('queued') || onlyOfSchedules) return outside
  return `${outside} union all ${indexedFields.includes('agent') ? NEWEST_OF_AGENT : NEWEST_OF_KINDS}`
}

/**
 * Lists unsuccessful runs, which are few and have a table of their own: the newest of each wanted state, then the
 * newest of these. Pending runs are added when wanted.
 */
const unsuccessfulSql = (shape: ListShape, states: readonly RunState[]): string =>
  foundSql(
    shape,
    `select u.id from unnest($5::text[]) as wanted (state) cross join lateral (
      select o.id from unsuccessful_run o where o.org_id = $1 and o.state = wanted.state and ${inRange('o')}
       order by o.created_at desc, o.id desc limit $11) u
    ${states.some(isPending) ? `union all ${pendingIdsSql(states, shape)}` : ''}`,
  )

/** `offset 0` keeps the runs from being read by their agent and joined with the ids. */
const foundSql = (shape: ListShape, ids: string): string => `select ${shape.columns} from (${ids}
  ) found cross join lateral (select * from run where org_id = $1 and id = found.id offset 0) r
    left join pending p on p.org_id = r.org_id and p.id = r.id
  where ${scheduleAndSessionSql(shape)} and ${inRange('r')} ${extraConditions(shape)}
  order by r.created_at desc, r.id desc limit $11`

/** Lists runs by the error code of the runtime, which has an index among the unsuccessful runs. */
const agentErrorSql = (shape: ListShape): string => `select ${shape.columns} from unsuccessful_run o
    join run r on r.org_id = o.org_id and r.id = o.id
    left join pending p on p.org_id = r.org_id and p.id = r.id
  where o.org_id = $1 and o.agent_error_code = $15 and ($5::text[] is null or o.state = any($5::text[]))
    and ${scheduleAndSessionSql(shape)} and ${inRange('o')} ${ENDED_SINCE} and ($13::text is null or r.owner = $13 or r.id = $14) ${shape.onlyOfSchedules ? OF_SCHEDULES : ''}
  order by o.created_at desc, o.id desc limit $11`

interface RunPage extends RunQuery {
  readonly after: RunCursor | null
  readonly limit: number
}

/** Lists runs, newest first. */
export async function listRuns(connection: Connection, page: RunPage): Promise<readonly RunRecord[]> {
  return runRecordColumns
    .read(await connection.query(listSqlFor(page, runRecordColumns.list), listValuesOf(page)))
    .map(runRecordOf)
}

/** Lists a page of runs, newest first, also limited by size in bytes. Unless `whole`, large payloads are omitted. */
export const listRunPage = (
  connection: Connection,
  page: RunPage & { readonly whole?: boolean },
): Promise<ListedRows<RunRecord>> => {
  const shown = page.whole === true ? runRecordColumns : listedRunColumns
  return readPage(
    connection,
    {
      text: listSqlFor(page, shown.list),
      values: listValuesOf({ ...page, limit: page.limit + 1 }),
      large: LARGE_COLUMNS,
      limit: page.limit,
    },
    { read: (rows) => shown.read(rows).map(runRecordOf) },
  )
}

function listValuesOf(page: RunPage): readonly SqlValue[] {
  return [
    page.orgId,
    page.scheduleId ?? null,
    page.sessionKey ?? null,
    page.agentId ?? null,
    page.states ?? null,
    page.trigger ?? null,
    toTimestamp(page.from ?? instant(-Infinity)),
    toTimestamp(page.to ?? instant(Infinity)),
    toTimestamp(page.after?.createdAt ?? instant(Infinity)),
    page.after?.id ?? '',
    page.limit,
    ...extraValues(page),
  ]
}

function extraValues({ endedSince, owned, agentErrorCode }: RunQuery): readonly SqlValue[] {
  if (isGiven(agentErrorCode))
    return [toTimestamp(endedSince ?? instant(-Infinity)), owned?.owner ?? null, owned?.alsoRun ?? null, agentErrorCode]
  if (!isGiven(owned)) return isGiven(endedSince) ? [toTimestamp(endedSince)] : []
  return [toTimestamp(endedSince ?? instant(-Infinity)), owned.owner, owned.alsoRun]
}

function listSqlFor(query: RunQuery, columns: string): string {
  const states = query.states ?? null
  const indexedFields = indexedFieldsOf(query)
  const owned = isGiven(query.owned)
  const onlyOfSchedules = query.onlyOfSchedules === true
  const shape = { columns, indexedFields, owned, endedSince: isGiven(query.endedSince), onlyOfSchedules }
  if (isGiven(query.agentErrorCode)) return agentErrorSql(shape)
  // A schedule or a session has few runs, so their index is the fastest.
  const isOfOne =
    owned ||
    onlyOfSchedules ||
    indexedFields.some((one) => one === 'schedule' || one === 'session' || one === 'runSession')
  if (states === null || isOfOne || states.includes('success') || indexedFields.includes('trigger'))
    return listSql(shape, stateSourceOf(states, shape))
  if (!states.every(isPending)) return unsuccessfulSql(shape, states)
  return states.includes('queued') ? foundSql(shape, pendingIdsSql(states, shape)) : listSql(shape, 'pending')
}

const isGiven = <T>(value: T | null | undefined): value is T => value !== undefined && value !== null

function stateSourceOf(states: readonly RunState[] | null, { indexedFields, onlyOfSchedules }: ListShape): StateSource {
  if (states === null) return 'anywhere'
  // Queued runs may be in the backlog, except those of schedules.
  const isInPending = !states.includes('queued') || onlyOfSchedules || indexedFields.includes('schedule')
  if (states.every(isPending)) return isInPending ? 'pending' : 'anywhere'
  return states.some(isPending) ? 'anywhere' : 'ended'
}

function indexedFieldsOf({
  scheduleId: schedule,
  sessionKey: session,
  agentId: agent,
  trigger,
}: RunQuery): readonly IndexedField[] {
  const indexedFields: IndexedField[] = []
  if (isGiven(schedule)) indexedFields.push('schedule')
  if (isGiven(session)) indexedFields.push(runOfSession(session) === null ? 'session' : 'runSession')
  if (isGiven(agent)) indexedFields.push('agent')
  if (trigger === 'task') indexedFields.push('task')
  else if (isGiven(trigger) && trigger !== 'message') indexedFields.push('trigger')
  return indexedFields
}

const ownerColumns = columns({
  id: column.text<RunId>(),
  agentId: column.text<AgentId>(),
  sessionKey: column.text<SessionKey | null>(),
  scheduleId: column.text<ScheduleId | null>(),
  /** The restricted key or the agent that created it. */
  owner: column.text<string | null>(),
})

/** The agent, session, schedule and owner of a run, which never change. */
type RunOwnersRow = Omit<RowOf<typeof ownerColumns>, 'id'>

/** Loads the owners of runs; deleted runs are left out. */
export async function loadRunOwners(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, RunOwnersRow>> {
  const rows = await connection.query(
    `select ${ownerColumns.list} from run where org_id = $1 and id = any($2::text[])`,
    [query.orgId, query.ids],
  )
  return new Map(ownerColumns.read(rows).map(({ id, ...row }) => [id, row]))
}

const stateColumns = columns({ id: column.text<RunId>(), state: column.text<RunState>() })

/** Loads the states of runs; deleted runs are left out. */
export async function loadRunStates(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, RunState>> {
  const rows = await connection.query(
    `select id, state from (select r.id, coalesce(r.state, p.state) as state from ${RUNS_WITH_PENDING}
       where r.org_id = $1 and r.id = any($2::text[])) runs`,
    [query.orgId, query.ids],
  )
  return new Map(stateColumns.read(rows).map(({ id, state }) => [id, state]))
}

const payloadColumns = columns({ id: column.text<RunId>(), payload: column.json() })

/** Loads the payloads of runs. */
export async function loadPayloads(
  tx: Transaction,
  query: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, unknown>> {
  const rows = await tx.query(`select ${payloadColumns.list} from run where org_id = $1 and id = any($2::text[])`, [
    query.orgId,
    query.ids,
  ])
  return new Map(payloadColumns.read(rows).map(({ id, payload }) => [id, payload]))
}
