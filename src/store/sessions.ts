import type { OrgId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { RUN_SESSION_PATTERN } from '../core/session/run-session.ts'
import type { DropPolicy, SessionMode, SessionRules } from '../core/session/session-rules.ts'
import type { ContextUse } from '../domain/session/session.ts'
import type { Connection, Transaction } from './database.ts'
import { column, columns, type RowOf, table, timestampOrNull, writes, type Written } from '../platform/db/table.ts'

const stored = table('session', {
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
  createdAt: column.instant(),
})

/** What changes of a session. */
const CHANGING: readonly Written<SessionRow>[] = [
  ['mode', 'text', ({ own }) => own.mode ?? null],
  ['cap', 'int', ({ own }) => own.cap ?? null],
  ['drop_policy', 'text', ({ own }) => own.drop ?? null],
  ['debounce_ms', 'int', ({ own }) => own.debounceMs ?? null],
  ['max_concurrent', 'int', ({ own }) => own.maxConcurrent ?? null],
  ['cutoff', 'instant', ({ cutoff }) => timestampOrNull(cutoff)],
  ['generation', 'int', ({ generation }) => generation],
  ['tokens', 'bigint', ({ context }) => context?.tokens ?? null],
  ['context_window', 'bigint', ({ context }) => context?.contextWindow ?? null],
]
const KEY: readonly Written<SessionRow>[] = [
  ['org_id', 'text', ({ orgId }) => orgId],
  ['key', 'text', ({ key }) => key],
]
const KEPT = writes([...KEY, ...CHANGING])
const CREATED = writes<SessionRow>([
  ...KEY,
  ...CHANGING,
  ['created_at', 'instant', ({ createdAt }) => timestampOrNull(createdAt)],
])

/** The sessions among the keys that exist, in no particular order. */
export async function loadSessions(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly keys: readonly SessionKey[] },
): Promise<readonly SessionRow[]> {
  const rows = await connection.query(
    `select ${stored.list} from session where org_id = $1 and key = any($2::text[])`,
    [wanted.orgId, wanted.keys],
  )
  return stored.read(rows).map(sessionOf)
}

const insertOf = (rows: string): string =>
  `insert into session (${CREATED.names}) ${rows} on conflict (org_id, key) do nothing`

const INSERT_SESSIONS = insertOf(`select * from unnest(${CREATED.arrays(1)})`)

/** A dozen lists of one element cost the server more than the row. */
const INSERT_SESSION = insertOf(`values (${CREATED.params(1)})`)

/** Makes sessions; those that exist stay as they are. A conversation begins with its first message. */
export function insertSessions(tx: Transaction, sessions: readonly SessionRow[]): void {
  const [session, ...others] = sessions
  if (session !== undefined && others.length === 0) tx.send(INSERT_SESSION, CREATED.values(session))
  else tx.send(INSERT_SESSIONS, CREATED.lists(sessions))
}

const SAVE_SESSIONS = `update session s set ${writes(CHANGING).assignedFrom('n')}
  from (select i.*, (select t.ctid from session t where t.org_id = i.org_id and t.key = i.key) as place
          from unnest(${KEPT.arrays(1)}) as i (${KEPT.names})) n
  where s.ctid = n.place`

/** Writes sessions back, each found by its key and written where it is (see `placed` in runs.ts). A rule that is not the session's own becomes null and follows the deployment. */
export function saveSessions(tx: Transaction, sessions: readonly SessionRow[]): void {
  tx.send(SAVE_SESSIONS, KEPT.lists(sessions))
}

const NOT_OF_A_RUN = `and key !~ '${RUN_SESSION_PATTERN}'`

/** Where a page of sessions goes on: after this one. */
export interface SessionCursor {
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
    /** Also the sessions of schedules' runs. */
    readonly withRuns?: boolean
  },
): Promise<readonly SessionRow[]> {
  const rows = await connection.query(
    `select ${stored.list} from session
      where org_id = $1 and ($2::timestamptz is null or (created_at, key) < ($2::timestamptz, $3::text))
        ${page.withRuns === true ? '' : NOT_OF_A_RUN}
      order by created_at desc, key desc limit $4`,
    [page.orgId, timestampOrNull(page.after?.createdAt ?? null), page.after?.key ?? null, page.limit],
  )
  return stored.read(rows).map(sessionOf)
}

/** How much work of a session is pending. */
export interface SessionCounts {
  /** In flight, or between two attempts. */
  readonly active: number
  readonly waiting: number
}

const work = columns({
  key: column.text<SessionKey>('r.session_key'),
  active: column.bigint("count(*) filter (where p.state not in ('waiting', 'queued') or p.attempt > r.first_attempt)"),
  pending: column.bigint('count(*)'),
})

/** The pending work of sessions, of their present generation. Sessions without any are not in the answer. */
export async function countSessionWork(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly keys: readonly SessionKey[] },
): Promise<ReadonlyMap<SessionKey, SessionCounts>> {
  const rows = await connection.query(
    `select ${work.list}
       from pending p
       join run r on r.org_id = p.org_id and r.id = p.id
       join session s on s.org_id = r.org_id and s.key = r.session_key and s.generation = r.generation
      where p.org_id = $1 and r.session_key = any($2::text[])
      group by r.session_key`,
    [wanted.orgId, wanted.keys],
  )
  return new Map(work.read(rows).map(({ key, active, pending }) => [key, { active, waiting: pending - active }]))
}

const sessionOf = (row: RowOf<typeof stored>): SessionRow => ({
  orgId: row.orgId,
  key: row.key,
  own: ownRules(row),
  cutoff: row.cutoff,
  generation: row.generation,
  context:
    row.tokens === null || row.contextWindow === null ? null : { tokens: row.tokens, contextWindow: row.contextWindow },
  createdAt: row.createdAt,
})

function ownRules({ mode, cap, drop, debounceMs, maxConcurrent }: RowOf<typeof stored>): Partial<SessionRules> {
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
  /** What was set for this session; the rest comes from the deployment, also when that changes later. */
  own: Partial<SessionRules>
  /** What was stamped before it does not run. */
  cutoff: Instant | null
  generation: number
  context: ContextUse | null
  readonly createdAt: Instant
}
