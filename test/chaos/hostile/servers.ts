import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** A server as people start it, in a process of its own. */
export interface ServedNode {
  readonly url: string
  /** Why it has ended; null while it lives. */
  readonly ending: () => string | null
  readonly stop: () => Promise<void>
}

const ENTRY = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../src/cli/main.js')
const MAX_START_MS = 120_000
const MAX_STOP_MS = 60_000

/** Starts `escapement serve` on a database and a data directory; what it logs goes to a file. */
export async function serve(about: {
  readonly databaseUrl: string
  readonly data: string
  readonly log: string
}): Promise<ServedNode> {
  const child = spawn(process.execPath, [ENTRY, 'serve', '--port', '0', '--data', about.data], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ESCAPEMENT_DATABASE_URL: about.databaseUrl,
      ESCAPEMENT_OUTBOUND_ALLOW_LOOPBACK: 'true',
      ESCAPEMENT_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(about.log, { flags: 'a', mode: 0o600 })
  child.stderr.pipe(log)
  let ending: string | null = null
  const ended = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      ending = String(signal ?? code)
      resolve()
    })
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), MAX_STOP_MS)
    await ended
    clearTimeout(late)
  }
  try {
    return { url: await addressOf(child, ended), ending: () => ending, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function addressOf(child: ChildProcess, ended: Promise<void>): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const late = setTimeout(() => reject(new Error('a server does not start')), MAX_START_MS)
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8')
      const url = /listens on (\S+)/.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(late)
      resolve(url)
    })
    void ended.then(() => reject(new Error(`a server ended as it started: ${said}`)))
  })
}
