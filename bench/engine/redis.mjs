// A temporary Redis with an append-only file in a temporary directory, over a Unix socket.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const PROGRAM = 'redis-server'
const STARTING_MS = 10_000

/** The version of the installed Redis, or undefined if there is none. */
export function redisVersion() {
  try {
    return /v=([\d.]+)/.exec(execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }))?.[1]
  } catch {
    return undefined
  }
}

/** Starts a server; `appendfsync` is `everysec` or `always`. */
export async function startRedis(appendfsync) {
  const data = mkdtempSync(path.join(tmpdir(), 'escapement-bench-redis-'))
  const socket = path.join(data, 'redis.sock')
  const server = spawn(
    PROGRAM,
    [
      ...['--port', '0', '--unixsocket', socket, '--dir', data, '--daemonize', 'no'],
      ...['--appendonly', 'yes', '--appendfsync', appendfsync, '--save', '', '--loglevel', 'warning'],
    ],
    { stdio: 'ignore', cwd: data },
  )
  const ended = new Promise((resolve) => {
    server.once('exit', resolve)
    server.once('error', resolve)
  })
  let stopping
  const stop = async () => {
    server.kill('SIGKILL')
    await ended
    rmSync(data, { recursive: true, force: true })
  }
  const stopOnce = () => (stopping ??= stop())
  try {
    await Promise.race([answers(socket), ended.then(() => Promise.reject(new Error('redis-server does not start')))])
  } catch (error) {
    await stopOnce()
    throw error
  }
  return { pid: server.pid, url: socket, stop: stopOnce }
}

/** Resolves when Redis answers PING on the socket. */
async function answers(socket) {
  const end = performance.now() + STARTING_MS
  while (!(await ping(socket))) {
    if (performance.now() > end) throw new Error(`redis-server does not answer within ${STARTING_MS / 1000} s`)
    await sleep(20)
  }
}

const ping = (socket) =>
  new Promise((resolve) => {
    const client = connect(socket)
    const done = (is) => {
      client.destroy()
      resolve(is)
    }
    client.once('error', () => done(false))
    client.once('data', (text) => done(text.toString().startsWith('+PONG')))
    client.once('connect', () => client.write('PING\r\n'))
    client.setTimeout(500, () => done(false))
  })
