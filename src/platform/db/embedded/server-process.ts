import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { copyFile, type FileHandle, open, truncate } from 'node:fs/promises'
import { DatabaseError } from '../database-error.ts'
import { type Account, codeOf, fileError } from './files.ts'
import { type ServerPaths, PORT } from './place.ts'

export interface ServerContext {
  readonly paths: ServerPaths
  readonly account: Account | undefined
  readonly postgres: string
}

export interface StartedServer {
  /** After the server has ended, the text it logged since its start; undefined: it is running. */
  readonly ended: () => Promise<string> | undefined
}

/**
 * Starts the server in its own session, so that Ctrl-C in this terminal does not stop it and it can outlive this process,
 * because other processes may use it.
 */
export async function startServer(ctx: ServerContext): Promise<StartedServer> {
  await trimLog(ctx.paths.log)
  const log = await openLog(ctx.paths.log)
  try {
    const { size } = await log.stat()
    return await launch(ctx, log, size)
  } finally {
    await log.close()
  }
}

/**
 * Lets backends keep the few megabytes that their statements need. Otherwise the C library returns them after each
 * statement, and the page faults take an eighth of the time of a small transaction.
 */
const SERVER_MEMORY = { MALLOC_TOP_PAD_: '4194304', MALLOC_TRIM_THRESHOLD_: '33554432' }

function launch({ paths, account, postgres }: ServerContext, log: FileHandle, start: number): Promise<StartedServer> {
  return new Promise((resolve, reject) => {
    const child = spawn(postgres, serverArguments(paths), {
      cwd: paths.home,
      env: { ...PROGRAM_ENVIRONMENT, ...SERVER_MEMORY },
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
      ...asAccount(account),
    })
    let ended: Promise<string> | undefined
    child.once('error', (error) => reject(programError(error, postgres)))
    child.once('exit', () => {
      ended = startupOutput(paths.log, start)
      // `ended()` reports a failure to its caller; without a caller, an unreadable log must not end the process.
      ended.catch(() => undefined)
    })
    child.once('spawn', () => resolve({ ended: () => ended }))
    child.unref()
  })
}

async function startupOutput(file: string, start: number): Promise<string> {
  const log = await openLog(file)
  try {
    return await readLogSince(log, start)
  } finally {
    await log.close()
  }
}

/**
 * Why a server ended right after its start. PostgreSQL reports this only as text, which LC_ALL keeps in English.
 * `undefined`: another server was faster or is still stopping, so that trying again makes sense.
 */
export function whyEnded(logText: string, paths: ServerPaths): DatabaseError | undefined {
  if (/lock file "[^"]*" (?:already exists|is empty)|pre-existing shared memory block/.test(logText)) return undefined
  const detail = `${paths.log}: ${lastErrorLines(logText)}`
  if (/No space left on device|Disk quota exceeded/.test(logText)) return new DatabaseError('disk_full', { detail })
  if (/could not create any Unix-domain sockets|Unix-domain socket path .* is too long/.test(logText))
    return new DatabaseError('socket_unusable', { detail: `${paths.socketDirectory}; ${detail}` })
  if (
    /incompatible with server|invalid permissions|could not read file|invalid checkpoint|could not open file|PANIC/.test(
      logText,
    )
  )
    return new DatabaseError('directory_damaged', { detail })
  return new DatabaseError('server_failed', { detail })
}

const lastErrorLines = (logText: string): string => {
  const lines = logText.split('\n').filter((line) => /FATAL|PANIC|ERROR|HINT|could not/.test(line))
  return (
    lines
      .slice(-3)
      .join(' ')
      .replaceAll(/\d{4}-\d\d-\d\d [\d:.]+ \w+ \[\d+\] /g, '')
      .trim() || 'no log output'
  )
}

/**
 * The settings of the server, passed at each start instead of stored in its files, so that upgrades can change them.
 * Settings for durable commits (fsync, full_page_writes, synchronous_commit) keep the defaults of PostgreSQL.
 */
function serverArguments(paths: ServerPaths): readonly string[] {
  const settings: Readonly<Record<string, string | number>> = {
    // No TCP; reachable only through a socket in a private directory.
    listen_addresses: '',
    port: PORT,
    unix_socket_directories: quoteList(paths.socketDirectory),
    unix_socket_permissions: '0700',
    // Each node uses about ten; unused ones cost almost nothing.
    max_connections: 300,
    // Enough for the hot tables, and small enough for a laptop.
    shared_buffers: '128MB',
    // Our statements are short, so that compiling takes longer than running them.
    jit: 'off',
    // No parallel plans for the same reason; they also need more shared memory than containers have by default.
    max_parallel_workers_per_gather: 0,
    // Statistics of small busy tables age within seconds.
    autovacuum_naptime: '15s',
    // Longer than the default of 5 min, because after each checkpoint every changed page is logged in full.
    checkpoint_timeout: '15min',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_line_prefix: '%m [%p] ',
    // Leaves out messages about connections that ended unexpectedly, which are normal.
    log_min_messages: 'warning',
    log_checkpoints: 'off',
    cluster_name: 'escapement',
  }
  return ['-D', paths.cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}

/** Quotes a path in a list setting, for commas and spaces. */
const quoteList = (directory: string): string => `"${directory.replaceAll('"', '""')}"`

/** The environment of PostgreSQL programs: none of our variables, and English messages. */
const PROGRAM_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/bin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
}

const asAccount = (account: Account | undefined): object => account ?? {}

/** Runs a PostgreSQL program and returns its exit code and output. */
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
    child.once('error', (error) => reject(programError(error, program)))
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** Why a program could not be started. */
export function programError(error: unknown, program: string): DatabaseError {
  const code = codeOf(error)
  // The file exists, so the missing file is its loader, as on a Linux without glibc.
  if (code === 'ENOENT')
    return new DatabaseError('platform_unsupported', { detail: `${program} cannot run on this system`, cause: error })
  const detail =
    code === 'EPERM'
      ? 'this process runs as root, but is not allowed to start a process as another user'
      : `${program} cannot be started (${code ?? String(error)})`
  return new DatabaseError('server_failed', { detail, cause: error })
}

/** Maximum size of the log; one older file is kept. */
const MAX_LOG_BYTES = 5 * 1024 * 1024

/**
 * Opens the log for appending. A file instead of a pipe, because the server may outlive this process; without following
 * links, because this process may be root.
 */
async function openLog(file: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants
  return open(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600).catch((error: unknown) => {
    throw fileError(error, file)
  })
}

/** The text logged since the given offset, at most the last 8 KiB. */
async function readLogSince(handle: FileHandle, start: number): Promise<string> {
  const { size } = await handle.stat()
  const from = Math.max(start, size - 8192, 0)
  const buffer = Buffer.alloc(Math.max(size - from, 0))
  await handle.read(buffer, 0, buffer.length, from)
  return buffer.toString('utf8')
}

/**
 * Rotates the log. The server appends, so truncating the open file is safe; lines written between the copy and the
 * truncation are lost, which is acceptable.
 */
export async function trimLog(file: string, maxBytes = MAX_LOG_BYTES): Promise<void> {
  try {
    if ((await sizeOf(file)) <= maxBytes) return
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
