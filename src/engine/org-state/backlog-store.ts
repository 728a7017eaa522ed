import type { AgentId, LaneName, OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import { instant, type Instant } from '../../domain/instant.ts'
import type { LineKey, PickingKey, QueueKind } from '../../domain/queue/queued-run.ts'
import { queueKindOf } from '../../domain/queue/ready-lines.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import type { RunRow } from '../../features/runs/store.ts'
import type { Connection, Row, SqlValue, Transaction } from '../../platform/db/database.ts'
import { column, columns, jsonOrNull, timestampOrNull, toTimestamp, writes } from '../../platform/db/table.ts'
import { fixedColumns, IS_SMALL, toRunRow } from './pending-store.ts'

/**
 * The backlog: queued runs that are not in memory. They have a row in `backlog` instead of `pending`. Every function
 * with a transaction runs under the org's lock, so taken rows are deleted at once.
 */

/** The part of a line that is in the backlog. */
export interface BacklogLine extends LineKey {
  readonly count: number
  /** Those that are not behind another run of their session. */
  readonly waiting: number
  /** No waiting run sorts before it; null exactly if none is waiting. */
  readonly bound: PickingKey | null
}

/** A run in the backlog. */
export interface BacklogRun {
  readonly run: RunRow
  /** Behind another run of its session. */
  readonly behind: boolean
}

const lineColumns = columns({
  agentId: column.text<AgentId>(),
  lane: column.text<LaneName>(),
  executorKey: column.text(),
  kind: column.text<QueueKind>(),
  count: column.int(),
  waiting: column.int(),
  fromPriority: column.int<number | null>(),
  fromCreatedAt: column.instant<Instant | null>(),
  fromId: column.text<RunId | null>(),
})

/** Loads what is in the backlog of each line: of all agents, or of these. */
export async function loadBacklogLines(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly agents?: readonly AgentId[] },
): Promise<readonly BacklogLine[]> {
  const { orgId, agents } = query
  const rows = await connection.query(
    `select ${lineColumns.list} from backlog_line where org_id = $1 ${agents === undefined ? '' : 'and agent_id = any($2::text[])'}`,
    agents === undefined ? [orgId] : [orgId, agents],
  )
  return lineColumns.read(rows).map(({ fromPriority, fromCreatedAt, fromId, ...line }) => ({
    ...line,
    bound:
      fromPriority === null || fromCreatedAt === null || fromId === null
        ? null
        : { priority: fromPriority, createdAt: fromCreatedAt, id: fromId },
  }))
}

const LINE_KEY = writes<LineKey>([
  ['agent_id', 'text', ({ agentId }) => agentId],
  ['lane', 'text', ({ lane }) => lane],
  ['executor_key', 'text', ({ executorKey }) => executorKey],
  ['kind', 'word', ({ kind }) => kind],
])
const LINE_FACTS = writes<BacklogLine>([
  ['count', 'int', ({ count }) => count],
  ['waiting', 'int', ({ waiting }) => waiting],
  ['from_priority', 'int', ({ bound }) => bound?.priority ?? null],
  ['from_created_at', 'instant', ({ bound }) => timestampOrNull(bound?.createdAt ?? null)],
  ['from_id', 'word', ({ bound }) => bound?.id ?? null],
])
const LINE_FIRST = 2
const FACTS_FIRST = LINE_FIRST + LINE_KEY.count
const LINE_CHANGES = `unnest(${LINE_KEY.arrays(LINE_FIRST)}, ${LINE_FACTS.arrays(FACTS_FIRST)}) as i (${LINE_KEY.names}, ${LINE_FACTS.names})`

const SAVE_LINES = `with gone as (
    delete from backlog_line l using ${LINE_CHANGES}
     where l.org_id = $1 and (l.agent_id, l.lane, l.executor_key, l.kind) = (i.agent_id, i.lane, i.executor_key, i.kind) and i.count = 0)
  insert into backlog_line as l (org_id, ${LINE_KEY.names}, ${LINE_FACTS.names})
  select $1, i.* from ${LINE_CHANGES} where i.count > 0
  on conflict (org_id, ${LINE_KEY.names}) do update set ${LINE_FACTS.assignedFrom('excluded')}`

/** Writes what is in the backlog of lines. A line with nothing in it has no row. */
export function saveBacklogLines(tx: Transaction, orgId: OrgId, lines: readonly BacklogLine[]): void {
  if (lines.length > 0) tx.send(SAVE_LINES, [orgId, ...LINE_KEY.lists(lines), ...LINE_FACTS.lists(lines)])
}

const BACKLOG_WRITES = writes<BacklogRun>([
  ['id', 'word', ({ run }) => run.id],
  ['agent_id', 'text', ({ run }) => run.agentId],
  ['lane', 'text', ({ run }) => run.lane],
  ['executor_key', 'text', ({ run }) => run.executorKey],
  ['kind', 'word', ({ run }) => queueKindOf(run)],
  ['session_key', 'text', ({ run }) => run.sessionKey],
  ['seq', 'bigint', ({ run }) => run.seq],
  ['priority', 'int', ({ run }) => run.priority],
  ['created_at', 'instant', ({ run }) => timestampOrNull(run.createdAt)],
  ['behind', 'boolean', ({ behind }) => behind],
  ['wake_at', 'instant', ({ run }) => timestampOrNull(run.deadline)],
  ['reserves', 'json', ({ run }) => (run.reserves.length === 0 ? null : jsonOrNull(run.reserves))],
])

const INSERT_BACKLOG = `insert into backlog (org_id, ${BACKLOG_WRITES.names})
  select $1, * from unnest(${BACKLOG_WRITES.arrays(2)})`

/** Inserts queued runs into the backlog; their rows of `run` are inserted as those of other runs are. */
export function insertBacklog(tx: Transaction, orgId: OrgId, runs: readonly BacklogRun[]): void {
  if (runs.length > 0) tx.send(INSERT_BACKLOG, [orgId, ...BACKLOG_WRITES.lists(runs)])
}

const takenColumns = columns({
  ...fixedColumns.definitions,
  seq: column.bigint<number | null>('t.seq'),
  behind: column.boolean('t.behind'),
  reserves: column.json<readonly Reserve[] | null>('t.reserves'),
  payload: column.json(`case when ${IS_SMALL} then r.payload end`),
})

/**
 * Deletes rows of the backlog and returns their runs, ordered by `n`. `offset 0` keeps each lookup separate, whatever
 * the statistics of tables that grow by millions and shrink again.
 */
const takeSql = (rows: string): string => `with taken as materialized (${rows}),
  gone as (delete from backlog b using taken t where b.ctid = t.place)
  select ${takenColumns.of('r')} from taken t
   cross join lateral (select * from run where org_id = $1 and id = t.id offset 0) r order by t.n`

/** The row of the backlog, for `takeSql`. */
const TAKEN = 'b.ctid as place, b.id, b.seq, b.behind, b.reserves'

async function take(
  tx: Transaction,
  orgId: OrgId,
  statement: { readonly text: string; readonly values: readonly SqlValue[] },
): Promise<readonly BacklogRun[]> {
  const rows = await tx.query(statement.text, [orgId, ...statement.values])
  return readTaken(rows, orgId)
}

const readTaken = (rows: readonly Row[], orgId: OrgId): readonly BacklogRun[] =>
  takenColumns
    .read(rows)
    .map(({ behind, ...row }) => ({ behind, run: toRunRow({ ...QUEUED, ...row, attempt: row.firstAttempt }, orgId) }))

/** The columns of `pending` that a run in the backlog does not have. */
const QUEUED = {
  state: 'queued',
  notBefore: null,
  debouncing: false,
  slot: null,
  superseded: false,
  attemptId: null,
  nodeId: null,
  startedAt: null,
  firstStartedAt: null,
  endsBy: null,
  graceUntil: null,
  why: null,
} as const

/** A line, and how many of its first waiting runs are wanted. */
export type LinePart = LineKey & Pick<BacklogLine, 'bound'> & { readonly max: number }

const FIRST_KEY: PickingKey = { priority: -2_147_483_648, createdAt: instant(-Infinity), id: '' as RunId }
const PARTS = writes<LinePart>([
  ['from_priority', 'int', ({ bound }) => (bound ?? FIRST_KEY).priority],
  ['from_created_at', 'instant', ({ bound }) => toTimestamp((bound ?? FIRST_KEY).createdAt)],
  ['from_id', 'text', ({ bound }) => (bound ?? FIRST_KEY).id],
  ['max', 'int', ({ max }) => max],
])

/** Reading begins at the bound of the line: rows that were taken before, and are still in the index, cost nothing. */
const TAKE_FROM_LINES =
  takeSql(`select f.*, row_number() over (order by l.ordinality, f.priority, f.created_at, f.id) as n
     from unnest(${LINE_KEY.arrays(2)}, ${PARTS.arrays(2 + LINE_KEY.count)}) with ordinality as l (${LINE_KEY.names}, ${PARTS.names})
    cross join lateral (
      select ${TAKEN}, b.priority, b.created_at from backlog b
       where b.org_id = $1 and b.agent_id = l.agent_id and b.lane = l.lane and b.executor_key = l.executor_key
         and b.kind = l.kind and not b.behind
         and (b.priority, b.created_at, b.id) >= (l.from_priority, l.from_created_at, l.from_id)
       order by b.priority, b.created_at, b.id limit l.max) f`)

/** Takes the first waiting runs of lines, line by line in their order. */
export const takeFromLines = (
  tx: Transaction,
  wanted: { readonly orgId: OrgId; readonly lines: readonly LinePart[] },
): Promise<readonly BacklogRun[]> =>
  take(tx, wanted.orgId, {
    text: TAKE_FROM_LINES,
    values: [...LINE_KEY.lists(wanted.lines), ...PARTS.lists(wanted.lines)],
  })

/** A session, the position from which its runs in the backlog begin, and how many of the first are wanted. */
export interface SessionPart {
  readonly key: SessionKey
  readonly from: number
  readonly max: number
}

const SESSION_PARTS = writes<SessionPart>([
  ['key', 'text', ({ key }) => key],
  ['from_seq', 'bigint', ({ from }) => from],
  ['max', 'int', ({ max }) => max],
])

const TAKE_FROM_SESSIONS = takeSql(`select f.*, row_number() over (order by s.ordinality, f.seq, f.id) as n
     from unnest(${SESSION_PARTS.arrays(2)}) with ordinality as s (${SESSION_PARTS.names})
    cross join lateral (
      select ${TAKEN} from backlog b
       where b.org_id = $1 and b.session_key = s.key and b.seq >= s.from_seq
       order by b.seq, b.id limit s.max) f`)

/** Takes the first runs of sessions, session by session in their order. */
export const takeFromSessions = (
  tx: Transaction,
  wanted: { readonly orgId: OrgId; readonly sessions: readonly SessionPart[] },
): Promise<readonly BacklogRun[]> =>
  take(tx, wanted.orgId, { text: TAKE_FROM_SESSIONS, values: SESSION_PARTS.lists(wanted.sessions) })

const TAKE_DUE = takeSql(`select ${TAKEN}, row_number() over (order by b.wake_at, b.id) as n from (
      select ctid, * from backlog
       where org_id = $1 and wake_at between $2::timestamptz and $3::timestamptz order by wake_at, id limit $4) b`)

/** Takes runs whose deadline has passed, the earliest first. `from`: none has an earlier one; null: unknown. */
export const takeDue = (
  tx: Transaction,
  wanted: { readonly orgId: OrgId; readonly now: Instant; readonly max: number; readonly from: Instant | null },
): Promise<readonly BacklogRun[]> =>
  take(tx, wanted.orgId, {
    text: TAKE_DUE,
    values: [toTimestamp(wanted.from ?? instant(-Infinity)), toTimestamp(wanted.now), wanted.max],
  })

/** The kind of queue of a run, as `queueKindOf` has it. */
const kindSql = (trigger: string): string =>
  `case when ${trigger} in ('task', 'catchup') then ${trigger} else 'ordinary' end`

const TAKE_BY_IDS = takeSql(`select ${TAKEN}, i.ordinality as n from unnest($2::text[]) with ordinality as i (id)
    cross join lateral (select ${kindSql('trigger')} as kind, created_at from run where org_id = $1 and id = i.id offset 0) r
    cross join lateral (
      select ctid, * from backlog
       where org_id = $1 and kind = r.kind and created_at = r.created_at and id = i.id offset 0) b`)

/** Takes these runs, as far as they are in the backlog. */
export const takeByIds = (
  tx: Transaction,
  wanted: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<readonly BacklogRun[]> => take(tx, wanted.orgId, { text: TAKE_BY_IDS, values: [wanted.ids] })

const wakeColumn = columns({ wakeAt: column.instant() })

/** The earliest deadline in the backlog; null: there is none. `from`: none is earlier; null: unknown. */
export async function nextWake(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly from: Instant | null },
): Promise<Instant | null> {
  const rows = await connection.query(
    `select ${wakeColumn.list} from backlog where org_id = $1 and wake_at >= $2::timestamptz order by wake_at limit 1`,
    [query.orgId, toTimestamp(query.from ?? instant(-Infinity))],
  )
  return wakeColumn.first(rows)?.wakeAt ?? null
}

const MARKED = writes<RunRow>([
  ['id', 'word', ({ id }) => id],
  ['kind', 'word', (run) => queueKindOf(run)],
  ['created_at', 'instant', ({ createdAt }) => toTimestamp(createdAt)],
])

const MARK_FIRST = `update backlog b set behind = false
  from (select t.ctid as place from unnest(${MARKED.arrays(2)}) as i (${MARKED.names})
         cross join lateral (
           select ctid from backlog
            where org_id = $1 and kind = i.kind and created_at = i.created_at and id = i.id offset 0) t) u
  where b.ctid = u.place`

/** Notes that these runs are the first of their sessions now. */
export function markFirst(tx: Transaction, orgId: OrgId, runs: readonly RunRow[]): void {
  if (runs.length > 0) tx.send(MARK_FIRST, [orgId, ...MARKED.lists(runs)])
}
