import { createHash } from 'node:crypto'
import { Client, type ClientBase, Pool, type PoolClient, type PoolConfig, type QueryConfig } from 'pg'
import { lockIn } from '../advisory-locks.ts'
import { DatabaseError, isDatabaseAway } from '../database-error.ts'
import {
  type Database,
  DEFAULT_SCHEMA,
  type SqlValue,
  type ReceivedNotification,
  type Subscription,
  quoteChannel,
} from '../database.ts'
import {
  clientConfig,
  type Connections,
  type ConnectionTarget,
  connectTimeoutMs,
  createConnections,
  disconnect,
} from './target.ts'
import { toDatabaseError } from './failures.ts'
import { ROW_VALUES, runPostgresTransaction } from './transaction.ts'
import {
  limitsWithin,
  prepareSession,
  checkServerVersion,
  checkPooler,
  SESSION_LIMITS,
  type SessionLimits,
  type SessionSettings,
} from './session.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, RECONNECT_BACKOFF } from '../backoff.ts'

type ListenerCallback = (event: ReceivedNotification) => void

interface ListenerContext {
  /** Opens a new, prepared connection. */
  readonly connect: () => Promise<Client>
  readonly random: () => number
}

interface ListenerConnection {
  readonly listen: (channel: string, listener: ListenerCallback) => Promise<Subscription>
  readonly close: () => Promise<void>
}

/**
 * Listens on all channels with one dedicated connection. Reconnects after a failure, listens again and sends `was_away` to
 * all listeners: notifications in between are lost, so they must read the tables.
 */
function createListenerConnection(ctx: ListenerContext): ListenerConnection {
  const channels = new Map<string, Set<ListenerCallback>>()
  const closing = new AbortController()
  let client: Promise<Client> | undefined

  const open = async (): Promise<Client> => {
    const opened = await connectAndListen(ctx, channels)
    opened.once('end', () => {
      if (!closing.signal.aborted) client = reopen()
    })
    return opened
  }

  const reopen = (): Promise<Client> => {
    const again = reconnect(open, { ...ctx, signal: closing.signal })
    again.then(
      () =>
        notifyListeners(
          { kind: 'was_away' },
          [...channels.values()].flatMap((listeners) => [...listeners]),
        ),
      () => undefined,
    )
    return again
  }

  const unsubscribe = async (channel: string, listener: ListenerCallback): Promise<void> => {
    const listeners = channels.get(channel)
    if (listeners?.delete(listener) !== true || listeners.size > 0) return
    channels.delete(channel)
    // Best effort: after a reconnect, the connection does not listen on this channel anyway.
    await client?.then((open_) => open_.query(`unlisten ${quoteChannel(channel)}`)).catch(() => undefined)
  }

  return {
    listen: async (channel, listener) => {
      const name = quoteChannel(channel)
      const listeners = channels.get(channel) ?? new Set()
      channels.set(channel, listeners.add(listener))
      try {
        client ??= open().catch((error: unknown) => {
          client = undefined
          throw error
        })
        await (await client).query(`listen ${name}`)
      } catch (error) {
        listeners.delete(listener)
        if (listeners.size === 0) channels.delete(channel)
        throw toDatabaseError(error, 'statement')
      }
      return { stop: () => unsubscribe(channel, listener) }
    },
    close: async () => {
      closing.abort()
      channels.clear()
      await client?.then(disconnect).catch(() => undefined)
    },
  }
}

async function connectAndListen(
  ctx: ListenerContext,
  channels: ReadonlyMap<string, Set<ListenerCallback>>,
): Promise<Client> {
  const opened = await ctx.connect()
  opened.on('notification', ({ channel, payload }) =>
    notifyListeners({ kind: 'notified', payload: payload ?? '' }, channels.get(channel) ?? []),
  )
  try {
    for (const channel of channels.keys()) await opened.query(`listen ${quoteChannel(channel)}`)
    return opened
  } catch (error) {
    await opened.end().catch(() => undefined)
    throw error
  }
}

function notifyListeners(event: ReceivedNotification, listeners: Iterable<ListenerCallback>): void {
  // A copy, because a listener may unsubscribe while it is called.
  for (const listener of [...listeners]) listener(event)
}

async function reconnect(
  open: () => Promise<Client>,
  { random, signal }: { readonly random: () => number; readonly signal: AbortSignal },
): Promise<Client> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    if (failures > 0) {
      await sleep(backoffMs(failures, random(), RECONNECT_BACKOFF), undefined, { signal, ref: false }).catch(
        () => undefined,
      )
    }
    const opened = await open().catch(() => undefined)
    // Returned also if closed meanwhile: `close` waits for this promise and closes the connection.
    if (opened !== undefined) return opened
  }
  throw new DatabaseError('connection_lost', { detail: 'the listener was closed' })
}

export interface PostgresOptions {
  readonly target: ConnectionTarget
  readonly schema?: string
  /** Maximum number of connections, in addition to the one that listens. */
  readonly pool?: number
  readonly applicationName?: string
  readonly limits?: Partial<SessionLimits>
  /** Pins query plans; for connections whose statements all find rows by key. */
  readonly pinPlans?: boolean
  /** Randomness of reconnect delays, in [0, 1). */
  readonly random?: () => number
  /** Shared by pools that connect to the same server. */
  readonly connections?: Connections
}

const DEFAULT_POOL = 10

/** Opens a database with `pg`. Connects once, so that a wrong URL or an old server fails here. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const settings = sessionSettings(options)
  const config = driverConfig(options, settings.limits)
  await checkServer(config)
  const broken = new WeakSet<ClientBase>()
  const connections = options.connections ?? createConnections()
  const pool = openPool({ ...config, max: options.pool ?? DEFAULT_POOL }, settings, { broken, connections })
  const timeoutMs = settings.limits.statementMs
  const lending: LendContext = { pool, broken, connections, timeoutMs }
  const nameOf = createStatementNames()
  const toStatement = (text: string, params?: readonly SqlValue[]) => statement(nameOf, text, params)
  const listener = createListenerConnection({
    connect: async () => {
      const client = await openClient(config, settings)
      connections.opened(client)
      return client
    },
    random: options.random ?? Math.random,
  })

  return {
    query: (text, params) =>
      lend(lending, async (client) => {
        const { rows } = await client
          .query<Readonly<Record<string, unknown>>>(toStatement(text, params))
          .catch((error: unknown) => {
            throw toDatabaseError(error, 'statement')
          })
        return rows
      }),
    transaction: (callback, limits = {}) =>
      lend(lending, (client) => {
        const isBroken = (): boolean => broken.has(client)
        const setBroken = (): unknown => broken.add(client)
        const lock = limits.lock === undefined ? {} : { lock: lockIn(settings.schema, limits.lock) }
        return runPostgresTransaction({ client, toStatement, isBroken, setBroken }, callback, { ...limits, ...lock })
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
    // Sends statements of a transaction without waiting for the results before. Missing in the driver's type.
    ...{ pipeline: true },
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs(target) ?? limits.connectMs,
    // The limit of the server applies first; this one is for a server that stops responding.
    ...(limits.statementMs > 0 ? { query_timeout: limits.statementMs + limits.answerMarginMs } : {}),
    // An idle pool must not keep the process alive.
    allowExitOnIdle: true,
    idleTimeoutMillis: 60_000,
  }
}

async function checkServer(config: PoolConfig): Promise<void> {
  const [client, other] = [new Client(config), new Client(config)]
  for (const one of [client, other]) one.on('error', () => undefined)
  try {
    await client.connect()
    await checkServerVersion(client)
    // If the server has no second connection, the pool reports it later.
    const isOpen = await other.connect().then(
      () => true,
      () => false,
    )
    if (isOpen) await checkPooler(client, other)
  } catch (error) {
    throw toDatabaseError(error, 'connect')
  } finally {
    for (const one of [client, other]) await one.end().catch(() => undefined)
  }
}

function openPool(
  config: PoolConfig,
  settings: SessionSettings,
  { broken, connections }: Pick<LendContext, 'broken' | 'connections'>,
): Pool {
  // The pool awaits the returned promise, although its type does not say so.
  const onConnect = ((client: ClientBase) => {
    // Without a handler, the error of a lent connection would end the process.
    client.on('error', () => broken.add(client))
    client.on('end', () => broken.add(client))
    connections.opened(client)
    return prepareSession(client, settings)
  }) as (client: ClientBase) => void
  const pool = new Pool({ ...config, onConnect })
  // The pool removes broken idle connections by itself.
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
    throw toDatabaseError(error, 'connect')
  }
}

interface LendContext {
  readonly pool: Pool
  readonly broken: WeakSet<ClientBase>
  readonly connections: Connections
  /** A failed statement that waited this long counts as no response from the server. 0: never. */
  readonly timeoutMs: number
}

/** Runs the callback with a connection of the pool. Closes a connection that may be broken instead of reusing it. */
async function lend<T>(lending: LendContext, callback: (client: PoolClient) => Promise<T>): Promise<T> {
  const { pool, broken, connections, timeoutMs } = lending
  const client = await pool.connect().catch((error: unknown) => {
    const full = pool.totalCount >= pool.options.max && !(error instanceof Error && 'code' in error)
    throw full ? new DatabaseError('no_free_connection', { cause: error }) : toDatabaseError(error, 'connect')
  })
  const since = connections.counter()
  try {
    const done = await callback(client)
    connections.responded(client)
    return done
  } catch (error) {
    if (isDatabaseAway(error)) {
      broken.add(client)
      if (timeoutMs > 0 && connections.counter() - since >= timeoutMs) connections.timedOut(since)
    }
    throw error
  } finally {
    client.release(broken.has(client))
  }
}

/** Maximum number of named statements; texts built at run time are beyond it and run unnamed. */
const MAX_STATEMENTS = 1_000

type NameStatement = (text: string) => string | undefined

/** Names statement texts, so that every connection prepares each text once. */
function createStatementNames(): NameStatement {
  const names = new Map<string, string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= MAX_STATEMENTS) return known
    const name = `s_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`
    names.set(text, name)
    return name
  }
}

/** A statement for the driver: prepared if it has parameters, otherwise plain text. */
function statement(nameOf: NameStatement, text: string, params: readonly SqlValue[] | undefined): QueryConfig {
  if (params === undefined) return { text }
  const name = nameOf(text)
  return name === undefined ? { text, values: [...params] } : { name, text, values: [...params] }
}

/** Number of connections for transactions of orgs. */
const ENGINE_POOL = 4

interface NodePoolsOptions extends Required<Pick<PostgresOptions, 'target' | 'schema' | 'pool'>> {
  readonly leaseMs: number
}

/** Number of connections for leases, scans and notifications, whose short statements must not wait behind transactions. */
const CONTROL_POOL = 2

/** The connection pools of a node: for transactions, for leases and scans, and for reads. */
interface NodePools {
  readonly openControl: () => Promise<Database>
  readonly openReads: () => Promise<Database>
  readonly openEngine: () => Promise<Database>
}

/** Returns functions that open the pools of a node; connects only when they are called. */
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
