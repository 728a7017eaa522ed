import { orgId, sessionKey, type OrgId, type SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { DropPolicy, SessionMode, SessionRules } from '../core/session/session-rules.ts'
import { RUN_SESSION_PATTERN } from '../core/session/run-session.ts'
import type { Connection, Row, SqlValue, Transaction } from './database.ts'
import { columnsOf, timestampOrNull } from './rows.ts'
import type { SessionRow } from './session-row.ts'
import { toTimestamp } from './timestamp.ts'

const COLUMNS = `org_id, key, mode, cap, drop_policy, debounce_ms, max_concurrent, cutoff, generation, tokens,
  context_window, created_at`

/** The sessions among the keys that exist, in no particular order. */
export async function loadSessions(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly keys: readonly SessionKey[] },
): Promise<readonly SessionRow[]> {
  const rows = await connection.query(`select ${COLUMNS} from session where org_id = $1 and key = any($2::text[])`, [
    wanted.orgId,
    wanted.keys,
  ])
  return rows.map(sessionOf)
}

const insertOf = (rows: string): string =>
  `insert into session (${COLUMNS}) ${rows} on conflict (org_id, key) do nothing`

const INSERT_SESSIONS = insertOf(
  `select * from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::int[], $7::int[],
                        $8::timestamptz[], $9::int[], $10::bigint[], $11::bigint[], $12::timestamptz[])`,
)

/** A dozen lists of one element cost the server more than the row. */
const INSERT_SESSION = insertOf('values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)')

/** Makes sessions; those that exist stay as they are. A conversation begins with its first message. */
export function insertSessions(tx: Transaction, sessions: readonly SessionRow[]): void {
  const columns = [...valuesOf(sessions), sessions.map((session) => toTimestamp(session.createdAt))]
  if (sessions.length !== 1) tx.send(INSERT_SESSIONS, columns)
  else
    tx.send(
      INSERT_SESSION,
      columns.map(([value]) => value ?? null),
    )
}

/** Writes sessions back, each found by its key and written where it is (see `placed` in runs.ts). A rule that is not the session's own becomes null and follows the deployment. */
export function saveSessions(tx: Transaction, sessions: readonly SessionRow[]): void {
  tx.send(
    `update session s set mode = n.mode, cap = n.cap, drop_policy = n.drop_policy, debounce_ms = n.debounce_ms,
       max_concurrent = n.max_concurrent, cutoff = n.cutoff, generation = n.generation, tokens = n.tokens,
       context_window = n.context_window
     from (select i.*, (select t.ctid from session t where t.org_id = i.org_id and t.key = i.key) as place
             from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::int[], $7::int[],
                         $8::timestamptz[], $9::int[], $10::bigint[], $11::bigint[])
               as i (org_id, key, mode, cap, drop_policy, debounce_ms, max_concurrent, cutoff, generation, tokens,
                     context_window)) n
     where s.ctid = n.place`,
    valuesOf(sessions),
  )
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
    `select ${COLUMNS} from session
      where org_id = $1 and ($2::timestamptz is null or (created_at, key) < ($2::timestamptz, $3::text))
        ${page.withRuns === true ? '' : NOT_OF_A_RUN}
      order by created_at desc, key desc limit $4`,
    [page.orgId, timestampOrNull(page.after?.createdAt ?? null), page.after?.key ?? null, page.limit],
  )
  return rows.map(sessionOf)
}

/** How much work of a session is pending. */
export interface SessionCounts {
  /** In flight, or between two attempts. */
  readonly active: number
  readonly waiting: number
}

/** The pending work of sessions, of their present generation. Sessions without any are not in the answer. */
export async function countSessionWork(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly keys: readonly SessionKey[] },
): Promise<ReadonlyMap<SessionKey, SessionCounts>> {
  const rows = await connection.query(
    `select r.session_key, count(*) filter (where p.state not in ('waiting', 'queued') or p.attempt > r.first_attempt)
              as active, count(*) as pending
       from pending p
       join run r on r.org_id = p.org_id and r.id = p.id
       join session s on s.org_id = r.org_id and s.key = r.session_key and s.generation = r.generation
      where p.org_id = $1 and r.session_key = any($2::text[])
      group by r.session_key`,
    [wanted.orgId, wanted.keys],
  )
  return new Map(
    rows.map((row) => {
      const active = row['active'] as number
      return [sessionKey(row['session_key'] as string), { active, waiting: (row['pending'] as number) - active }]
    }),
  )
}

function valuesOf(sessions: readonly SessionRow[]): readonly (readonly SqlValue[])[] {
  return columnsOf(
    sessions,
    ({ orgId: org }) => org,
    ({ key }) => key,
    ({ own }) => own.mode ?? null,
    ({ own }) => own.cap ?? null,
    ({ own }) => own.drop ?? null,
    ({ own }) => own.debounceMs ?? null,
    ({ own }) => own.maxConcurrent ?? null,
    ({ cutoff }) => timestampOrNull(cutoff),
    ({ generation }) => generation,
    ({ context }) => context?.tokens ?? null,
    ({ context }) => context?.contextWindow ?? null,
  )
}

function sessionOf(row: Row): SessionRow {
  const tokens = row['tokens'] as number | null
  const contextWindow = row['context_window'] as number | null
  return {
    orgId: orgId(row['org_id'] as string),
    key: sessionKey(row['key'] as string),
    own: ownRules(row),
    cutoff: row['cutoff'] as Instant | null,
    generation: row['generation'] as number,
    context: tokens === null || contextWindow === null ? null : { tokens, contextWindow },
    createdAt: row['created_at'] as Instant,
  }
}

function ownRules(row: Row): Partial<SessionRules> {
  const mode = row['mode'] as SessionMode | null
  const cap = row['cap'] as number | null
  const drop = row['drop_policy'] as DropPolicy | null
  const debounceMs = row['debounce_ms'] as number | null
  const maxConcurrent = row['max_concurrent'] as number | null
  return {
    ...(mode === null ? {} : { mode }),
    ...(cap === null ? {} : { cap }),
    ...(drop === null ? {} : { drop }),
    ...(debounceMs === null ? {} : { debounceMs }),
    ...(maxConcurrent === null ? {} : { maxConcurrent }),
  }
}
