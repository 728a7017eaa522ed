import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { copyFile, type FileHandle, open, truncate } from 'node:fs/promises'
import { DatabaseError } from '../database-error.ts'
import type { Account } from '../../../store/embedded/account.ts'
import { codeOf, refuseFile } from '../../../store/embedded/files.ts'
import { type Place, PORT } from './place.ts'

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

/**
 * The server's settings, given at each start rather than written into its files, so that a newer program brings newer
 * ones. Everything that makes a commit durable (fsync, full_page_writes, synchronous_commit) stays as PostgreSQL has it.
 */
function serverArguments(place: Place): readonly string[] {
  const settings: Readonly<Record<string, string | number>> = {
    // Reachable for nobody but this machine, through one private directory.
    listen_addresses: '',
    port: PORT,
    unix_socket_directories: quoteList(place.socketDirectory),
    unix_socket_permissions: '0700',
    // Each node has about ten. A place that nobody takes costs next to nothing.
    max_connections: 300,
    // Enough to keep the hot tables in memory, little enough for a laptop that has other things to do.
    shared_buffers: '128MB',
    // Our statements are short: compiling them takes longer than running them.
    jit: 'off',
    // For the same reason no parallel plans; they would also need more shared memory than containers have by default.
    max_parallel_workers_per_gather: 0,
    // Statistics of small busy tables age within seconds.
    autovacuum_naptime: '15s',
    // Less often than every 5 minutes: each one makes every page touched afterwards go to the log in full.
    checkpoint_timeout: '15min',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // Nodes come and go; a connection that ends without a goodbye is not worth a line each.
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    cluster_name: 'escapement',
  }
  return ['-D', place.cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** The setting is a list; a path with a comma or a space in it has to be quoted. */
const quoteList = (directory: string): string => `"${directory.replaceAll('"', '""')}"`

/** What the server's programs get to see of the environment: nothing of ours, and messages in one language. */
const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
}

const asAccount = (account: Account | undefined): object => account ?? {}

/** Runs one of PostgreSQL's programs to its end and answers its exit code and what it wrote. */
export function runProgram(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly account: Account | undefined },
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: PROGRAM_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...asAccount(options.account),
    })
    let output = ''
    const collect = (chunk: Buffer): void => void (output = `${output}${chunk.toString('utf8')}`.slice(-8192))
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', (error) => reject(refuseProgram(error, program)))
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** Why a program could not even be started. */
export function refuseProgram(error: unknown, program: string): DatabaseError {
  const code = codeOf(error)
  // The file is there, we have looked: what is not there is the loader it asks for, as on a Linux without glibc.
  if (code === 'ENOENT')
    return new DatabaseError('platform_unsupported', { detail: `${program} cannot run here`, cause: error })
  const detail =
    code === 'EPERM'
      ? 'this process is root, but may not start another as an ordinary user'
      : `${program} cannot be started (${code ?? String(error)})`
  return new DatabaseError('server_failed', { detail, cause: error })
}

/** Two files of at most about this size: the current one and the one before. */
const LARGEST_LOG_BYTES = 5 * 1024 * 1024

/**
 * Opens the server's log for appending. It is a plain file and not a pipe, because the server may outlive us; no link
 * is followed, because we may be root.
 */
async function openLog(file: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants
  return open(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw refuseFile(error, file)
  })
}

/** What was written to the log since it had the given length, at most the last 8 KiB of it. */
async function readLogSince(handle: FileHandle, start: number): Promise<string> {
  const { size } = await handle.stat()
  const from = Math.max(start, size - 8192, 0)
  const buffer = Buffer.alloc(Math.max(size - from, 0))
  await handle.read(buffer, 0, buffer.length, from)
  return buffer.toString('utf8')
}

/**
 * Keeps the log small. The server appends, so cutting the file off under its hands is safe; lines written between the
 * copy and the cut are lost, which a log can afford.
 */
export async function trimLog(file: string, largest = LARGEST_LOG_BYTES): Promise<void> {
  try {
    if ((await sizeOf(file)) <= largest) return
    await copyFile(file, `${file}.1`)
    await truncate(file, 0)
  } catch (error) {
    if (codeOf(error) !== undefined) return
    throw error
  }
}

async function sizeOf(file: string): Promise<number> {
  const handle = await openLog(file)
  try {
    return (await handle.stat()).size
  } finally {
    await handle.close()
  }
}
