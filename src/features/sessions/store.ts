import type { OrgId, RunId, SessionKey } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Trigger } from '../../domain/run/run.ts'
import {
  type ContextUse,
  type DropPolicy,
  RUN_SESSION_PATTERN,
  runOfSession,
  type SessionMode,
  type SessionRules,
} from '../../domain/session/session.ts'
import type { ChatExchange } from '../../executors/chat/conversation.ts'
import { inRunSessionSql } from '../runs/store.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import {
  column,
  columns,
  type RowOf,
  table,
  timestampOrNull,
  writes,
  type WrittenColumn,
} from '../../platform/db/table.ts'

const sessionTable = table('session', {
  orgId: column.text<OrgId>(),
  key: column.text<SessionKey>(),
  mode: column.text<SessionMode | null>(),
  cap: column.int<number | null>(),
  drop: column.text<DropPolicy | null>('drop_policy'),
  debounceMs: column.int<number | null>(),
  maxConcurrent: column.int<number | null>(),
  cutoff: column.instant<Instant | null>(),
  generation: column.int(),
  tokens: column.bigint<number | null>(),
  contextWindow: column.bigint<number | null>(),
  behind: column.int(),
  behindFrom: column.bigint(),
  createdAt: column.instant(),
})

/** Columns of a session that change. */
const CHANGING_COLUMNS: readonly WrittenColumn<SessionRow>[] = [
  ['mode', 'text', ({ own }) => own.mode ?? null],
  ['cap', 'int', ({ own }) => own.cap ?? null],
  ['drop_policy', 'text', ({ own }) => own.drop ?? null],
  ['debounce_ms', 'int', ({ own }) => own.debounceMs ?? null],
  ['max_concurrent', 'int', ({ own }) => own.maxConcurrent ?? null],
  ['cutoff', 'instant', ({ cutoff }) => timestampOrNull(cutoff)],
  ['generation', 'int', ({ generation }) => generation],
  ['tokens', 'bigint', ({ context }) => context?.tokens ?? null],
  ['context_window', 'bigint', ({ context }) => context?.contextWindow ?? null],
  ['behind', 'int', ({ behind }) => behind],
  ['behind_from', 'bigint', ({ behindFrom }) => behindFrom],
]
const KEY_COLUMNS: readonly WrittenColumn<SessionRow>[] = [
  ['org_id', 'text', ({ orgId }) => orgId],
  ['key', 'text', ({ key }) => key],
]
const UPDATED_SESSION = writes([...KEY_COLUMNS, ...CHANGING_COLUMNS])
const INSERTED_SESSION = writes<SessionRow>([
  ...KEY_COLUMNS,
  ...CHANGING_COLUMNS,
  ['created_at', 'instant', ({ createdAt }) => timestampOrNull(createdAt)],
])

/** The sessions among the keys that exist, in no particular order. */
export async function loadSessions(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly keys: readonly SessionKey[] },
): Promise<readonly SessionRow[]> {
  const rows = await connection.query(
    `select ${sessionTable.list} from session where org_id = $1 and key = any($2::text[])`,
    [query.orgId, query.keys],
  )
  return sessionTable.read(rows).map(sessionFromRow)
}

const insertStatement = (rows: string): string =>
  `insert into session (${INSERTED_SESSION.names}) ${rows} on conflict (org_id, key) do nothing`

const INSERT_SESSIONS = insertStatement(`select * from unnest(${INSERTED_SESSION.arrays(1)})`)

/** For a single row, which is cheaper for PostgreSQL than a dozen arrays of one element. */
const INSERT_SESSION = insertStatement(`values (${INSERTED_SESSION.params(1)})`)

/** Inserts sessions; existing ones stay unchanged. */
export function insertSessions(tx: Transaction, sessions: readonly SessionRow[]): void {
  const [session, ...others] = sessions
  if (session !== undefined && others.length === 0) tx.send(INSERT_SESSION, INSERTED_SESSION.values(session))
  else tx.send(INSERT_SESSIONS, INSERTED_SESSION.lists(sessions))
}

const SAVE_SESSIONS = `update session s set ${writes(CHANGING_COLUMNS).assignedFrom('n')}
  from (select i.*, (select t.ctid from session t where t.org_id = i.org_id and t.key = i.key) as place
          from unnest(${UPDATED_SESSION.arrays(1)}) as i (${UPDATED_SESSION.names})) n
  where s.ctid = n.place`

/**
 * Updates sessions, each found by its key and written by its ctid (see `placed` of the runs store). A rule that is
 * null follows the deployment.
 */
export function saveSessions(tx: Transaction, sessions: readonly SessionRow[]): void {
  tx.send(SAVE_SESSIONS, UPDATED_SESSION.lists(sessions))
}

const WITHOUT_RUN_SESSIONS = `and key !~ '${RUN_SESSION_PATTERN}'`

/** The last session of the previous page. */
interface SessionCursor {
  readonly createdAt: Instant
  readonly key: SessionKey
}

/** A page of the org's sessions, newest first. */
export async function listSessions(
  connection: Connection,
  page: {
    readonly orgId: OrgId
    readonly after: SessionCursor | null
    readonly limit: number
    /** Include the sessions of isolated schedule runs. */
    readonly withRuns?: boolean
    /** Only keys that begin so; null: all. */
    readonly keyPrefix?: string | null
  },
): Promise<readonly SessionRow[]> {
  const rows = await connection.query(
    `select ${sessionTable.list} from session
      where org_id = $1 and ($2::timestamptz is null or (created_at, key) < ($2::timestamptz, $3::text))
        ${page.withRuns === true ? '' : WITHOUT_RUN_SESSIONS}
        and ($5::text is null or starts_with(key, $5::text))
      order by created_at desc, key desc limit $4`,
    [
      ...[page.orgId, timestampOrNull(page.after?.createdAt ?? null), page.after?.key ?? null, page.limit],
      page.keyPrefix ?? null,
    ],
  )
  return sessionTable.read(rows).map(sessionFromRow)
}

/** Counts of pending runs of a session. */
export interface SessionCounts {
  /** In flight, or between two attempts. */
  readonly active: number
  readonly waiting: number
}

const pendingCountsOfSession = columns({
  key: column.text<SessionKey>(),
  active: column.bigint('sum(active)::bigint'),
  pending: column.bigint('sum(pending)::bigint'),
})

/** While a session is being cleared, its runs in the backlog are those that are being cancelled. */
const NOT_CLEARED_SQL = `not exists (select from clearing c
  where c.org_id = s.org_id and c.subject = 'session' and c.key = s.key)`

/** Counts the pending runs of sessions in their current generation. Sessions without any are omitted. */
export async function countSessionWork(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly keys: readonly SessionKey[] },
): Promise<ReadonlyMap<SessionKey, SessionCounts>> {
  const rows = await connection.query(
    `select ${pendingCountsOfSession.list} from (
       select s.key, count(*) filter (where p.state not in ('waiting', 'queued') or p.attempt > r.first_attempt) as active,
              count(*) as pending
         from pending p
         join run r on r.org_id = p.org_id and r.id = p.id
         join session s on s.org_id = r.org_id and s.key = r.session_key and s.generation = r.generation
        where p.org_id = $1 and r.session_key = any($2::text[])
        group by s.key
       union all
       select s.key, 0, s.behind from session s
        where s.org_id = $1 and s.key = any($2::text[]) and s.behind > 0 and ${NOT_CLEARED_SQL}) counted
      group by key`,
    [query.orgId, query.keys],
  )
  return new Map(
    pendingCountsOfSession.read(rows).map(({ key, active, pending }) => [key, { active, waiting: pending - active }]),
  )
}

const sessionFromRow = (row: RowOf<typeof sessionTable>): SessionRow => ({
  orgId: row.orgId,
  key: row.key,
  own: ownRulesFromRow(row),
  cutoff: row.cutoff,
  generation: row.generation,
  context:
    row.tokens === null || row.contextWindow === null ? null : { tokens: row.tokens, contextWindow: row.contextWindow },
  behind: row.behind,
  behindFrom: row.behindFrom,
  createdAt: row.createdAt,
})

function ownRulesFromRow({
  mode,
  cap,
  drop,
  debounceMs,
  maxConcurrent,
}: RowOf<typeof sessionTable>): Partial<SessionRules> {
  return {
    ...(mode === null ? {} : { mode }),
    ...(cap === null ? {} : { cap }),
    ...(drop === null ? {} : { drop }),
    ...(debounceMs === null ? {} : { debounceMs }),
    ...(maxConcurrent === null ? {} : { maxConcurrent }),
  }
}

/** A row of `session`. */
export interface SessionRow {
  readonly orgId: OrgId
  readonly key: SessionKey
  /** Rules set for this session; the others follow the deployment. */
  own: Partial<SessionRules>
  /** Messages sent before this time do not run. */
  cutoff: Instant | null
  generation: number
  context: ContextUse | null
  /** How many of its runs are in the backlog. */
  behind: number
  /** A position that none of its runs in the backlog precedes. */
  behindFrom: number
  readonly createdAt: Instant
}

const conversationRunColumns = columns({
  generation: column.int(),
  sender: column.text<string | null>(),
  retryOf: column.text<RunId | null>(),
})

/** The fields of a run that its conversation depends on. */
type RunInConversation = RowOf<typeof conversationRunColumns>

/** The fields of a run that its conversation depends on. Undefined: the run does not exist. */
export async function loadRunInConversation(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly id: RunId },
): Promise<RunInConversation | undefined> {
  const rows = await connection.query(`select ${conversationRunColumns.list} from run where org_id = $1 and id = $2`, [
    query.orgId,
    query.id,
  ])
  return conversationRunColumns.first(rows)
}

/** Selects exchanges of a session: one generation, without one run, the newest ones within limits of rows and bytes. */
interface ConversationChoice {
  readonly orgId: OrgId
  readonly sessionKey: SessionKey
  readonly generation: number
  readonly without: RunId
  readonly limit: number
  readonly maxBytes: number
}

const sessionCondition = (key: SessionKey): string =>
  runOfSession(key) === null ? 'session_key = $2' : inRunSessionSql('', '$2::text')

const addedExchangeColumns = columns({
  runId: column.text<RunId>(),
  reply: column.text('content'),
  startedAt: column.instant('finished_at'),
})

/** Heartbeat news added to a session since its last reset, newest first, as exchanges. */
export async function loadAddedExchanges(
  connection: Connection,
  choice: Pick<ConversationChoice, 'orgId' | 'sessionKey' | 'generation' | 'limit'>,
): Promise<readonly ChatExchange[]> {
  const rows = await connection.query(
    `select ${addedExchangeColumns.list} from heartbeat_log
      where org_id = $1 and session_key = $2 and finished_at > coalesce(
        (select max(created_at) from run where org_id = $1 and session_key = $2 and generation < $3), '-infinity')
      order by finished_at desc, run_id desc limit $4`,
    [choice.orgId, choice.sessionKey, choice.generation, choice.limit],
  )
  return addedExchangeColumns.read(rows).map((row) => ({
    ...row,
    trigger: 'heartbeat',
    sender: null,
    retryOf: null,
    // Model APIs require a message before each reply.
    payload: { text: '[heartbeat]' },
  }))
}

const exchangeColumns = columns({
  runId: column.text<RunId>('id'),
  trigger: column.text<Trigger>(),
  sender: column.text<string | null>(),
  payload: column.json(),
  reply: column.json('output'),
  retryOf: column.text<RunId | null>(),
  startedAt: column.instant(),
})

/**
 * Exchanges of a session, newest first: runs that succeeded, and runs that were cancelled after they started. The
 * database adds up their sizes, so that a long conversation is not transferred only to be cut.
 */
export async function loadExchanges(
  connection: Connection,
  choice: ConversationChoice,
): Promise<readonly ChatExchange[]> {
  const rows = await connection.query(
    `select ${exchangeColumns.list} from (
       select r.*, sum(octet_length(coalesce(r.payload, 'null')::text) + octet_length(coalesce(r.output, 'null')::text))
                     over (order by r.created_at desc, r.id desc) as bytes
         from (select id, trigger, sender, payload, output, retry_of, started_at, created_at from run
                where org_id = $1 and ${sessionCondition(choice.sessionKey)} and generation = $3 and id <> $4
                  and state in ('success', 'cancelled') and started_at is not null
                  and (why is null or why ->> 'reason' <> 'probe_no')
                order by created_at desc, id desc limit $5) r) sized
      where bytes <= $6
      order by created_at desc, id desc`,
    [choice.orgId, choice.sessionKey, choice.generation, choice.without, choice.limit, choice.maxBytes],
  )
  return exchangeColumns.read(rows)
}
