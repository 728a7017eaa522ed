import type { ClientBase } from 'pg'
import { DatabaseError } from '../database-error.ts'
import { quoteSchema } from '../database.ts'

export interface SessionLimits {
  /** Aborts the transaction of a stopped node after this time, so that it does not block an org. */
  readonly idleInTransactionMs: number
  readonly lockMs: number
  readonly statementMs: number
  /** How long to wait for a new connection, or for a free one of the pool. */
  readonly connectMs: number
  /** How long after the server's own limit a missing response means that the connection is dead. */
  readonly answerMarginMs: number
}

/** The default of `answerMarginMs`. */
export const ANSWER_MARGIN_MS = 5_000

export const SESSION_LIMITS: SessionLimits = {
  idleInTransactionMs: 2_000,
  lockMs: 5_000,
  statementMs: 30_000,
  connectMs: 10_000,
  answerMarginMs: ANSWER_MARGIN_MS,
}

/** The server reports a lock timeout shortly after it expires. */
const LOCK_MARGIN_MS = 1_000

/**
 * Limits for a lease holder: it waits no longer for a response than about the length of the lease, because the lease has
 * expired by then, and the node recovers sooner if it detects a dead connection sooner.
 */
export function limitsWithin(leaseMs: number): Pick<SessionLimits, 'statementMs' | 'connectMs'> {
  const { statementMs, connectMs, lockMs } = SESSION_LIMITS
  return {
    statementMs: Math.min(statementMs, Math.max(leaseMs, lockMs + LOCK_MARGIN_MS)),
    connectMs: Math.min(connectMs, Math.max(leaseMs, LOCK_MARGIN_MS)),
  }
}

const MIN_SERVER_VERSION = 15

export interface SessionSettings {
  readonly schema: string
  readonly applicationName: string
  readonly limits: SessionLimits
  /** Whether plans are pinned: see `PINNED_PLANS`. */
  readonly pinPlans: boolean
}

/**
 * Pinned plans, because the tables of the engine grow and shrink faster than statistics are updated. All its statements
 * find rows by key, for which there is one good plan; with outdated statistics the planner chose one that read 70 times
 * as many pages.
 */
const PINNED_PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
}

/**
 * Sets the limits, schema and time zone of a new connection. Uses a statement, because connection poolers refuse or ignore
 * startup parameters.
 */
export async function prepareSession(client: ClientBase, settings: SessionSettings): Promise<void> {
  const values = Object.entries(sessionValues(settings))
  await client.query(
    'select set_config(name, value, false) from unnest($1::text[], $2::text[]) as setting(name, value)',
    [values.map(([name]) => name), values.map(([, value]) => value)],
  )
}

function sessionValues({
  schema,
  applicationName,
  limits,
  pinPlans,
}: SessionSettings): Readonly<Record<string, string>> {
  return {
    ...(pinPlans ? PINNED_PLANS : {}),
    search_path: quoteSchema(schema),
    application_name: applicationName,
    // `fromTimestamp` parses this format.
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    // Reads under a lock must see data committed before the lock was taken, whatever the default of the database is.
    default_transaction_isolation: 'read committed',
    idle_in_transaction_session_timeout: String(limits.idleInTransactionMs),
    lock_timeout: String(limits.lockMs),
    statement_timeout: String(limits.statementMs),
    // Ends the session of a vanished machine after about 25 s; no effect on Unix sockets.
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '3',
    tcp_user_timeout: '25000',
  }
}

/** Checks the version first, because an old server fails on unknown settings. */
export async function checkServerVersion(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ readonly version: string; readonly number: string }>(
    "select current_setting('server_version') as version, current_setting('server_version_num') as number",
  )
  const row = rows[0]
  if (row === undefined || Number(row.number) < MIN_SERVER_VERSION * 10_000)
    throw new DatabaseError('database_too_old', { detail: `it is PostgreSQL ${row?.version ?? 'of unknown version'}` })
}

/**
 * Throws if a pooler in transaction mode is in between. Such a pooler assigns server connections per transaction, so that a
 * transaction of `second` gets the server connection of `first`, or `first` gets another one.
 */
export async function checkPooler(first: Queryable, second: Queryable): Promise<void> {
  const before = await serverProcess(first)
  await second.query('begin')
  try {
    if ((await serverProcess(second)) !== before && (await serverProcess(first)) === before) return
  } finally {
    await second.query('rollback')
  }
  throw new DatabaseError('pooler_unsupported')
}

type Queryable = Pick<ClientBase, 'query'>

async function serverProcess(client: Queryable): Promise<number | undefined> {
  const { rows } = await client.query<{ readonly pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
