import { createHash } from 'node:crypto'
import { Client, type ClientBase, Pool, type PoolClient, type PoolConfig, type QueryConfig } from 'pg'
import { lockIn } from '../../../store/advisory-locks.ts'
import { DatabaseError, isDatabaseAway } from '../database-error.ts'
import type { Database, SqlValue } from '../../../store/database.ts'
import { DEFAULT_SCHEMA } from '../../../store/identifier.ts'
import { type Connections, createConnections } from '../../../store/postgres/connections.ts'
import { translate } from './failures.ts'
import { createListener } from './listener.ts'
import { ROW_VALUES } from '../../../store/postgres/row-values.ts'
import {
  limitsWithin,
  prepareSession,
  refuseOldServer,
  refuseTransactionPooler,
  SESSION_LIMITS,
  type SessionLimits,
  type SessionSettings,
} from './session.ts'
import { clientConfig, type ConnectionTarget, connectTimeoutMs } from '../../../store/postgres/target.ts'
import { runTransaction } from './transaction.ts'

export interface PostgresOptions {
  readonly target: ConnectionTarget
  readonly schema?: string
  /** Connections at most, beside the one that listens. */
  readonly pool?: number
  readonly applicationName?: string
  readonly limits?: Partial<SessionLimits>
  /** For connections whose statements all find rows by key. */
  readonly pinPlans?: boolean
  /** Chance for the waits of the listener, in [0, 1). */
  readonly random?: () => number
  /** Shared with others that reach the same server in the same way. */
  readonly connections?: Connections
}

const DEFAULT_POOL = 10

/** Opens a database by way of `pg`. Connects once, so that a wrong URL or an old server is refused here and not later. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const settings = sessionSettings(options)
  const config = driverConfig(options, settings.limits)
  await checkServer(config)
  const broken = new WeakSet<ClientBase>()
  const connections = options.connections ?? createConnections()
  const pool = openPool({ ...config, max: options.pool ?? DEFAULT_POOL }, settings, { broken, connections })
  const patienceMs = settings.limits.statementMs
  const lender: Lender = { pool, broken, connections, patienceMs }
  const nameOf = createStatementNames()
  const toStatement = (text: string, params?: readonly SqlValue[]) => statement(nameOf, text, params)
  const listener = createListener({
    connect: async () => {
      const client = await openClient(config, settings)
      connections.opened(client)
      return client
    },
    random: options.random ?? Math.random,
  })

  return {
    query: (text, params) =>
      lend(lender, async (client) => {
        const { rows } = await client
          .query<Readonly<Record<string, unknown>>>(toStatement(text, params))
          .catch((error: unknown) => {
            throw translate(error, 'statement')
          })
        return rows
      }),
    transaction: (work, limits = {}) =>
      lend(lender, (client) => {
        const isBroken = (): boolean => broken.has(client)
        const setBroken = (): unknown => broken.add(client)
        const lock = limits.lock === undefined ? {} : { lock: lockIn(settings.schema, limits.lock) }
        return runTransaction({ client, toStatement, isBroken, setBroken }, work, { ...limits, ...lock })
      }),
    listen: listener.listen,
    use: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: async () => {
      await listener.close()
      await pool.end()
    },
  }
}

function sessionSettings({ schema, applicationName, limits, pinPlans }: PostgresOptions): SessionSettings {
  return {
    schema: schema ?? DEFAULT_SCHEMA,
    applicationName: applicationName ?? 'escapement',
    limits: { ...SESSION_LIMITS, ...limits },
    pinPlans: pinPlans ?? false,
  }
}

function driverConfig({ target }: PostgresOptions, limits: SessionLimits): PoolConfig {
  return {
    ...clientConfig(target),
    types: ROW_VALUES,
    // Statements of a transaction are sent without waiting for the answers to those before. In its type it is missing.
    ...{ pipeline: true },
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs(target) ?? limits.connectMs,
    // The server's own limit comes first; this one is for a server that does not answer at all any more.
    ...(limits.statementMs > 0 ? { query_timeout: limits.statementMs + limits.answerMarginMs } : {}),
    // A pool must not keep a process alive that has nothing else to do.
    allowExitOnIdle: true,
    idleTimeoutMillis: 60_000,
  }
}

async function checkServer(config: PoolConfig): Promise<void> {
  const [client, other] = [new Client(config), new Client(config)]
  for (const one of [client, other]) one.on('error', () => undefined)
  try {
    await client.connect()
    await refuseOldServer(client)
    // Where there is no room for a second connection, the pool will say so.
    const isOpen = await other.connect().then(
      () => true,
      () => false,
    )
    if (isOpen) await refuseTransactionPooler(client, other)
  } catch (error) {
    throw translate(error, 'connect')
  } finally {
    for (const one of [client, other]) await one.end().catch(() => undefined)
  }
}

function openPool(
  config: PoolConfig,
  settings: SessionSettings,
  { broken, connections }: Pick<Lender, 'broken' | 'connections'>,
): Pool {
  // The pool waits for what this returns, although its type does not say so.
  const onConnect = ((client: ClientBase) => {
    // A connection that breaks while it is lent would otherwise end the process: nobody else listens then.
    client.on('error', () => broken.add(client))
    client.on('end', () => broken.add(client))
    connections.opened(client)
    return prepareSession(client, settings)
  }) as (client: ClientBase) => void
  const pool = new Pool({ ...config, onConnect })
  // An idle connection that breaks is taken out by the pool itself; there is nothing more to do about it.
  pool.on('error', () => undefined)
  return pool
}

async function openClient(config: PoolConfig, settings: SessionSettings): Promise<Client> {
  const client = new Client(config)
  client.on('error', () => undefined)
  try {
    await client.connect()
    await prepareSession(client, { ...settings, applicationName: `${settings.applicationName} listener` })
    return client
  } catch (error) {
    await client.end().catch(() => undefined)
    throw translate(error, 'connect')
  }
}

interface Lender {
  readonly pool: Pool
  readonly broken: WeakSet<ClientBase>
  readonly connections: Connections
  /** Whoever has waited so long and got nothing was not refused: nobody answered. 0: nobody waits so long. */
  readonly patienceMs: number
}

/** Lends a connection of the pool to the work. One that may be unusable afterwards is closed instead of kept. */
async function lend<T>(lender: Lender, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const { pool, broken, connections, patienceMs } = lender
  const client = await pool.connect().catch((error: unknown) => {
    const full = pool.totalCount >= pool.options.max && !(error instanceof Error && 'code' in error)
    throw full ? new DatabaseError('no_free_connection', { cause: error }) : translate(error, 'connect')
  })
  const since = connections.counter()
  try {
    const done = await work(client)
    connections.heard(client)
    return done
  } catch (error) {
    if (isDatabaseAway(error)) {
      broken.add(client)
      if (patienceMs > 0 && connections.counter() - since >= patienceMs) connections.fellSilent(since)
    }
    throw error
  } finally {
    client.release(broken.has(client))
  }
}

/** More texts than this are not ours: somebody builds them at run time. They work, but are not remembered. */
const MOST_STATEMENTS = 1_000

type NameStatement = (text: string) => string | undefined

/** Gives each statement text a name of its own, under which every connection prepares it once. */
function createStatementNames(): NameStatement {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= MOST_STATEMENTS) return known
    const name = `s_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    names.set(text, name)
    return name
  }
}

/** The driver's form of a statement: prepared when it has parameters, plain text when it has none. */
function statement(nameOf: NameStatement, text: string, params: readonly SqlValue[] | undefined): QueryConfig {
  if (params === undefined) return { text }
  const name = nameOf(text)
  return name === undefined ? { text, values: [...params] } : { name, text, values: [...params] }
}

/** Connections for turns: one per org at work is plenty, and a few more wait for nothing. */
const ENGINE_POOL = 4

interface NodePoolsOptions extends Required<Pick<PostgresOptions, 'target' | 'schema' | 'pool'>> {
  readonly leaseMs: number
}

/** Connections for leases, looks and notifications: few and short statements that must not wait behind turns. */
const CONTROL_POOL = 2

/** The pools of a node on the same way to the server: for turns, for leases and looks, and for everybody else. */
interface NodePools {
  readonly openControl: () => Promise<Database>
  readonly openReads: () => Promise<Database>
  readonly openEngine: () => Promise<Database>
}

/** Says how the pools of a node are opened; nothing is connected before. */
export function nodePools({ target, schema, pool, leaseMs }: NodePoolsOptions): NodePools {
  const limits = limitsWithin(leaseMs)
  const shared = { target, schema, connections: createConnections() }
  return {
    openReads: () =>
      openPostgres({
        ...shared,
        pool: Math.max(2, pool - ENGINE_POOL),
        applicationName: 'escapement',
        limits: { connectMs: limits.connectMs },
      }),
    openControl: () =>
      openPostgres({ ...shared, pool: CONTROL_POOL, applicationName: 'escapement control', pinPlans: true, limits }),
    openEngine: () =>
      openPostgres({ ...shared, pool: ENGINE_POOL, applicationName: 'escapement engine', pinPlans: true, limits }),
  }
}
