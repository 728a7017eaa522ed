import { execFile } from 'node:child_process'
import { rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { DATABASE, SUPERUSER } from '../../src/platform/db/embedded/init.ts'
import { findHolder, isAlive } from '../../src/platform/db/embedded/pid-file.ts'
import { PORT } from '../../src/platform/db/embedded/place.ts'
import { prepareServer } from '../../src/platform/db/embedded/embedded.ts'
import { startServer, type ServerContext } from '../../src/platform/db/embedded/server-process.ts'
import { binariesUnderTest } from '../support/postgres-under-test.ts'

/** A PostgreSQL of our own that can be taken away and given back. */
export interface Server {
  /** A connection string for a user; with a port, by way of a road that ends at this port of this machine. */
  readonly url: (user?: string, port?: number) => string
  /** The socket on which it listens. */
  readonly socket: string
  /** Opens a connection. Whoever holds it lives with its end. */
  readonly connect: () => Promise<Client>
  /** Makes a user that may do everything, so that its connections can be told from those of others. */
  readonly addUser: (user: string) => Promise<void>
  /** Ends all connections of a user and answers how many there were. */
  readonly cut: (user: string) => Promise<number>
  /** Stops one of its processes, or lets it go on. One that has ended meanwhile is none of our business. */
  readonly signal: (pid: number, signal: 'SIGSTOP' | 'SIGCONT') => void
  /** Stops it at once, as a crash would, and starts it again after a while. Resolves when it answers. */
  readonly restart: (awayMs: number) => Promise<void>
  /** Stops all of its processes. What is answered lets them go on. */
  readonly freeze: () => Promise<() => void>
  /** Copies its files as they are at one instant, from which it can be started as after a crash. */
  readonly copy: () => Promise<void>
  /** Kills all of its processes and starts the copy in its place. Resolves when that answers, with when the old one was dead. */
  readonly failOver: () => Promise<number>
  readonly stop: () => Promise<void>
}

const LONGEST_START_MS = 30_000
const LONGEST_STOP_MS = 20_000
const LONGEST_KILL_MS = 3_000

/** Makes a new server in a directory and starts it. */
export async function startChaosServer(directory: string): Promise<Server> {
  const {
    paths: place,
    account,
    binaries,
    password,
  } = await prepareServer(
    { data: `${directory}/data`, systemDirectory: `${directory}/system`, packageDirectory: binariesUnderTest() },
    new AbortController().signal,
  )
  const url = (user = SUPERUSER, port?: number): string =>
    port === undefined
      ? `postgres://${user}:${password}@/${DATABASE}?host=${encodeURIComponent(place.socketDirectory)}&port=${PORT}`
      : `postgres://${user}:${password}@127.0.0.1:${port}/${DATABASE}`
  const context: ServerContext = { paths: place, account, postgres: binaries.postgres }
  const connect = async (): Promise<Client> => {
    const parts = { host: place.socketDirectory, port: PORT, user: SUPERUSER, password, database: DATABASE }
    const client = new Client({ ...parts, ssl: false, connectionTimeoutMillis: 2_000 })
    // A connection that the server ends would otherwise end this process.
    client.on('error', () => undefined)
    await client.connect()
    return client
  }
  const run = async <Row extends object>(text: string, params: readonly unknown[] = []): Promise<readonly Row[]> => {
    const client = await connect()
    try {
      return (await client.query<Row>(text, [...params])).rows
    } finally {
      await client.end()
    }
  }
  let stopped = false
  const standing = new Set<number>()
  const signal: Server['signal'] = (pid, name) => {
    if (name === 'SIGSTOP') standing.add(pid)
    // Only what we have stopped: its number may belong to another by now otherwise.
    else if (!standing.delete(pid)) return
    signalIfThere(pid, name)
  }
  const freeze: Server['freeze'] = async () => {
    const { client, pids } = await findProcesses(context, connect, signal)
    for (const pid of pids) signal(pid, 'SIGSTOP')
    // A system call that is under way is finished first.
    await sleep(50)
    return () => {
      for (const pid of pids) signal(pid, 'SIGCONT')
      void client.end().catch(() => undefined)
    }
  }
  const copied = `${place.cluster}.copy`
  await launch(context, connect)
  return {
    url,
    socket: path.join(place.socketDirectory, `.s.PGSQL.${PORT}`),
    connect,
    addUser: async (user) => {
      await run(`create role ${user} superuser login password '${password}'`)
    },
    cut: async (user) => {
      const rows = await run('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [user])
      return rows.length
    },
    restart: async (awayMs) => {
      await halt(context, 'SIGQUIT')
      await sleep(awayMs)
      if (!stopped) await launch(context, connect)
    },
    freeze,
    copy: async () => {
      await rm(copied, { recursive: true, force: true })
      const goOn = await freeze()
      // With its owners and modes, which Node's own copying leaves out.
      await promisify(execFile)('cp', ['-a', place.cluster, copied]).finally(goOn)
    },
    failOver: async () => {
      const { pids } = await findProcesses(context, connect, signal)
      for (const pid of pids) signalIfThere(pid, 'SIGKILL')
      const deadAt = Date.now()
      for (const pid of pids) standing.delete(pid)
      await untilGone(pids)
      await rm(place.cluster, { recursive: true, force: true })
      await rename(copied, place.cluster)
      if (!stopped) await launch(context, connect)
      return deadAt
    },
    signal,
    stop: () => {
      stopped = true
      for (const pid of standing) signalIfThere(pid, 'SIGCONT')
      return halt(context, 'SIGINT')
    },
  }
}

/** The process that starts all others is stopped first, so that none is missed. */
async function findProcesses(
  { paths: place }: ServerContext,
  connect: () => Promise<Client>,
  signal: Server['signal'],
): Promise<{ readonly client: Client; readonly pids: readonly number[] }> {
  const client = await connect()
  const holder = await findHolder(place.cluster)
  if (holder.kind !== 'server') throw new Error('there is no server')
  signal(holder.pid, 'SIGSTOP')
  const { rows } = await client.query<{ pid: number }>('select pid from pg_stat_activity where pid is not null')
  return { client, pids: [holder.pid, ...rows.map(({ pid }) => pid)] }
}

/** A process that was killed is gone once it was reaped, which for those of the server is nobody's duty but the system's. */
async function untilGone(pids: readonly number[]): Promise<void> {
  const deadline = performance.now() + LONGEST_KILL_MS
  while (pids.some(isAlive) && performance.now() < deadline) await sleep(10)
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

async function launch(context: ServerContext, connect: () => Promise<Client>): Promise<void> {
  const server = await startServer(context)
  const deadline = performance.now() + LONGEST_START_MS
  for (;;) {
    const client = await connect().catch(() => undefined)
    if (client !== undefined) {
      await client.end()
      return
    }
    const said = await server.ended()
    if (said !== undefined) throw new Error(`the server ended: ${said}`)
    if (performance.now() > deadline) throw new Error('the server does not answer')
    await sleep(20)
  }
}

/** Tells the server to end and waits until it is gone. SIGQUIT: at once, without writing anything to disk. */
async function halt({ paths: place }: ServerContext, signal: 'SIGQUIT' | 'SIGINT'): Promise<void> {
  const holder = await findHolder(place.cluster)
  if (holder.kind !== 'server') return
  process.kill(holder.pid, signal)
  const deadline = performance.now() + LONGEST_STOP_MS
  while (isAlive(holder.pid)) {
    if (performance.now() > deadline) throw new Error(`the server does not stop (process ${holder.pid})`)
    await sleep(10)
  }
}
