import { spawn } from 'node:child_process'
import { type FileHandle } from 'node:fs/promises'
import { DatabaseError } from '../database-error.ts'
import { type Account } from './account.ts'
import { type Place } from './place.ts'
import { asAccount, PROGRAM_ENVIRONMENT, refuseProgram } from './run-program.ts'
import { openLog, readLogSince, trimLog } from './server-log.ts'
import { serverArguments } from './settings.ts'

export interface ServerContext {
  readonly place: Place
  readonly account: Account | undefined
  readonly postgres: string
}

export interface StartedServer {
  /** Says, once the server has ended, what it wrote since it was started. */
  readonly ended: () => Promise<string> | undefined
}

/**
 * Starts the server. In a session of its own, so that Ctrl-C in our terminal does not reach it and it may outlive us:
 * other processes may be using it.
 */
export async function startServer(ctx: ServerContext): Promise<StartedServer> {
  await trimLog(ctx.place.log)
  const log = await openLog(ctx.place.log)
  try {
    const { size } = await log.stat()
    return await launch(ctx, log, size)
  } finally {
    await log.close()
  }
}

/**
 * Backends keep the few megabytes that their statements need. Otherwise the C library gives them back after each one and
 * takes them again, page fault by page fault: an eighth of what a small transaction costs the server.
 */
const SERVER_MEMORY = { MALLOC_TOP_PAD_: '4194304', MALLOC_TRIM_THRESHOLD_: '33554432' }

function launch({ place, account, postgres }: ServerContext, log: FileHandle, start: number): Promise<StartedServer> {
  return new Promise((resolve, reject) => {
    const child = spawn(postgres, serverArguments(place), {
      cwd: place.home,
      env: { ...PROGRAM_ENVIRONMENT, ...SERVER_MEMORY },
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
      ...asAccount(account),
    })
    let ended: Promise<string> | undefined
    child.once('error', (error) => reject(refuseProgram(error, postgres)))
    child.once('exit', () => {
      ended = whatItSaid(place.log, start)
      // Whoever waits will ask; if nobody does, an unreadable log is no reason to end the process.
      ended.catch(() => undefined)
    })
    child.once('spawn', () => resolve({ ended: () => ended }))
    child.unref()
  })
}

async function whatItSaid(file: string, start: number): Promise<string> {
  const log = await openLog(file)
  try {
    return await readLogSince(log, start)
  } finally {
    await log.close()
  }
}

/**
 * Why a server ended right after its start. PostgreSQL has no codes for this, only sentences, and we have it write them
 * in one language. `undefined` when another server was faster or is still leaving: then it is worth another look.
 */
export function whyEnded(said: string, place: Place): DatabaseError | undefined {
  if (/lock file "[^"]*" (?:already exists|is empty)|pre-existing shared memory block/.test(said)) return undefined
  const detail = `${place.log}: ${lastWords(said)}`
  if (/No space left on device|Disk quota exceeded/.test(said)) return new DatabaseError('disk_full', { detail })
  if (/could not create any Unix-domain sockets|Unix-domain socket path .* is too long/.test(said))
    return new DatabaseError('socket_unusable', { detail: `${place.socketDirectory}; ${detail}` })
  if (
    /incompatible with server|invalid permissions|could not read file|invalid checkpoint|could not open file|PANIC/.test(
      said,
    )
  )
    return new DatabaseError('directory_damaged', { detail })
  return new DatabaseError('server_failed', { detail })
}

const lastWords = (said: string): string => {
  const lines = said.split('\n').filter((line) => /FATAL|PANIC|ERROR|HINT|could not/.test(line))
  return (
    lines
      .slice(-3)
      .join(' ')
      .replaceAll(/\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\] /g, '')
      .trim() || 'it said nothing'
  )
}
