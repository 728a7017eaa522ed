// `escapement serve` in a separate process, as in production: embedded server, log in a file.
import { spawn } from 'node:child_process'
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { cpuSecondsOf, statOf } from '../engine/server.mjs'
import { until } from '../engine/world.mjs'

const MAIN = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../dist/cli/main.js')
const alive = new Set()

/** Ends all processes when the benchmark is told to end. */
export function endServers() {
  for (const child of alive) child.kill('SIGTERM')
}

/** Runs work with a temporary directory. */
export async function withDirectory(work) {
  const directory = mkdtempSync(path.join(tmpdir(), 'escapement-bench-'))
  // As root, the embedded server runs as another user, who needs access.
  chmodSync(directory, 0o711)
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * Starts a server, does the work with it and stops it. `outside` is an external PostgreSQL: its URL, its process and the
 * owner's key, because a second server on it has no key file. `config` is the content of its configuration file, `node` the
 * path of the Node executable.
 */
export const withServed = ({ node = process.execPath, nodeArgs = [], outside, config }, work) =>
  withDirectory(async (directory) => {
    const data = path.join(directory, 'data')
    const log = openSync(path.join(directory, 'log'), 'w')
    const file = path.join(directory, 'escapement.json')
    if (config !== undefined) writeFileSync(file, JSON.stringify(config))
    const args = [
      ...['--port', '0', '--data', data],
      ...(outside === undefined ? [] : ['--database-url', outside.url]),
      ...(config === undefined ? [] : ['--config', file]),
    ]
    const child = spawn(node, [...nodeArgs, MAIN, 'serve', ...args], {
      cwd: directory,
      env: { ...process.env, ...(outside === undefined ? {} : { ESCAPEMENT_OWNER_KEY: outside.key }) },
      stdio: ['ignore', 'pipe', log],
    })
    closeSync(log)
    alive.add(child)
    const ended = new Promise((resolve) => {
      child.once('exit', resolve)
    })
    try {
      const url = await addressOf(child, ended, () => readFileSync(path.join(directory, 'log'), 'utf8'))
      return await work(handleOf(child, { ...(outside ?? insideOf(data)), url }))
    } finally {
      child.kill('SIGTERM')
      await ended
      alive.delete(child)
    }
  })

async function addressOf(child, ended, log) {
  const listening = new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const url = /listens on (\S+)/.exec(line)?.[1]
      if (url !== undefined) resolve(url)
    })
  })
  const url = await Promise.race([listening, ended.then(() => undefined)])
  if (url === undefined) throw new Error(`the server did not start:\n${log()}`)
  return url
}

/** The process id of the embedded server in a data directory. */
export const postmasterOf = (data) =>
  Number(readFileSync(path.join(data, 'postgres/data/postmaster.pid'), 'utf8').split('\n', 1)[0])

const insideOf = (data) => ({
  key: readFileSync(path.join(data, 'owner.key'), 'utf8').trim(),
  postmaster: postmasterOf(data),
})

function handleOf(child, { url, key, postmaster }) {
  const ask = async (method, at, body) => {
    const answer = await globalThis.fetch(`${url}${at}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  return {
    url,
    key,
    ask,
    /** CPU seconds of the server and of its PostgreSQL so far. */
    cpu: () => ({ node: statOf(child.pid)?.own ?? null, postgres: cpuSecondsOf(postmaster) }),
    rssMiB: () => rssMiBOf(child.pid),
    /** Waits until nothing is pending. */
    drained: () =>
      until(async () => (await ask('GET', '/api/v1/runs?status=queued,waiting,running&limit=1')).items.length === 0, {
        what: 'an empty queue',
        everyMs: 20,
      }),
  }
}

function rssMiBOf(pid) {
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kib === undefined ? null : Number(kib) / 1024
}
