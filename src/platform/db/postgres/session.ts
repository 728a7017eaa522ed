import { type ClientBase } from 'pg'
import { DatabaseError } from '../database-error.ts'
import { quoteSchema } from '../../../store/identifier.ts'

export interface SessionLimits {
  /** A node that stops in the middle of a transaction loses it after this time, so that it cannot stop an org. */
  readonly idleInTransactionMs: number
  readonly lockMs: number
  readonly statementMs: number
  /** How long to wait for a connection: a new one, or a free one of the pool. */
  readonly connectMs: number
  /** How much longer than the server we wait for an answer before we take the connection for dead. */
  readonly answerMarginMs: number
}

/** How much longer than the server we wait for an answer, unless something else is said. */
export const ANSWER_MARGIN_MS = 5_000

export const SESSION_LIMITS: SessionLimits = {
  idleInTransactionMs: 2_000,
  lockMs: 5_000,
  statementMs: 30_000,
  connectMs: 10_000,
  answerMarginMs: ANSWER_MARGIN_MS,
}

/** Whoever waits for a lock as long as it may is told so by the server a moment later. */
const LOCK_MARGIN_MS = 1_000

/**
 * Limits for who holds a lease: no answer is waited for much longer than the lease lasts. What was asked for is not its
 * own by then, and the sooner it finds out that nobody answers any more, the sooner it is back.
 */
export function limitsWithin(leaseMs: number): Pick<SessionLimits, 'statementMs' | 'connectMs'> {
  const { statementMs, connectMs, lockMs } = SESSION_LIMITS
  return {
    statementMs: Math.min(statementMs, Math.max(leaseMs, lockMs + LOCK_MARGIN_MS)),
    connectMs: Math.min(connectMs, Math.max(leaseMs, LOCK_MARGIN_MS)),
  }
}

const OLDEST_SERVER = 15

export interface SessionSettings {
  readonly schema: string
  readonly applicationName: string
  readonly limits: SessionLimits
  /** Whether plans are pinned: see `PINNED_PLANS`. */
  readonly pinPlans: boolean
}

/**
 * The engine's tables swing between empty and a million rows faster than statistics follow. Its statements find rows by
 * key, for which there is one sensible plan; with statistics of the wrong moment another one touched seventy times as
 * many pages.
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
 * Sets up a new connection: limits, schema, time zone. With a statement and not with start-up parameters, because
 * connection poolers refuse or ignore those.
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
    // The text form of instants is read with these two.
    TimeZone: 'UTC',
    DateStyle: 'ISO',
    // What is read under a lock must be newer than the lock, whatever the default of the database is.
    default_transaction_isolation: 'read committed',
    idle_in_transaction_session_timeout: String(limits.idleInTransactionMs),
    lock_timeout: String(limits.lockMs),
    statement_timeout: String(limits.statementMs),
    // A node whose machine vanished is noticed in about 25 s and its session ended; on a socket these do nothing.
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '5',
    tcp_keepalives_count: '3',
    tcp_user_timeout: '25000',
  }
}

/** Asks for the version before anything else is asked: an old server would fail on settings it does not know. */
export async function refuseOldServer(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ readonly version: string; readonly number: string }>(
    "select current_setting('server_version') as version, current_setting('server_version_num') as number",
  )
  const row = rows[0]
  if (row === undefined || Number(row.number) < OLDEST_SERVER * 10_000)
    throw new DatabaseError('database_too_old', { detail: `it is PostgreSQL ${row?.version ?? 'of unknown version'}` })
}

/**
 * Throws when two connections share what must be their own. A pooler in transaction mode gives a server connection to
 * whoever has a transaction: the one that `first` had goes to the transaction of `second`, or `first` gets another one.
 */
export async function refuseTransactionPooler(first: Asking, second: Asking): Promise<void> {
  const before = await serverProcess(first)
  await second.query('begin')
  try {
    if ((await serverProcess(second)) !== before && (await serverProcess(first)) === before) return
  } finally {
    await second.query('rollback')
  }
  throw new DatabaseError('pooler_unsupported')
}

type Asking = Pick<ClientBase, 'query'>

async function serverProcess(client: Asking): Promise<number | undefined> {
  const { rows } = await client.query<{ readonly pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}
