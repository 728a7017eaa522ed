import { randomBytes } from 'node:crypto'
import { chmod, chown, lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs, RECONNECT_BACKOFF } from '../backoff.ts'
import { DatabaseError } from '../database-error.ts'
import { findBinariesPackage, prepareBinaries } from './binaries.ts'
import {
  type Account,
  type AccountChoice,
  chooseAccount,
  codeOf,
  isRoot,
  fileExists,
  makeDirectory,
  readTextIfThere,
  fileError,
  writeOnce,
} from './files.ts'
import { DATABASE, initCluster, isInitialised, refuseOtherMajor, SUPERUSER } from './init.ts'
import { isAlive, isServerOf } from './pid-file.ts'
import {
  choosePaths,
  defaultHomeOf,
  isOutsideData,
  savePaths,
  type ServerPaths,
  PORT,
  prepareData,
  readPaths,
} from './place.ts'
import { releaseReference, type Reference } from './reference.ts'
import { type EmbeddedEvent, joinOrStart, type RunningContext } from './running.ts'
import { trimLog } from './server-process.ts'
import type { SocketTarget } from '../postgres/target.ts'

interface PrepareOptions {
  /** The data directory; created if missing. */
  readonly data: string
  /** The account of the server if this process runs as root. */
  readonly account?: Account
  /** The package with the binaries; left out: the one for this platform. */
  readonly packageDirectory?: string
  /** As root: where to put files that the account cannot access in the data directory. */
  readonly systemDirectory?: string
  /** Where to put the socket if its path would be too long. */
  readonly temporaryDirectory?: string
  readonly startMs?: number
  readonly onEvent?: (news: EmbeddedEvent) => void
}

/** A permanent directory, because it holds user data. */
export const SYSTEM_DIRECTORY =
  process.platform === 'darwin' ? '/Library/Application Support/escapement' : '/var/lib/escapement'

const DEFAULT_START_MS = 60_000

/** Prepares everything needed to join or start a server: paths, account, binaries, password and files. */
export async function prepareServer(options: PrepareOptions, signal: AbortSignal): Promise<RunningContext> {
  const onEvent = options.onEvent ?? (() => undefined)
  const systemDirectory = options.systemDirectory ?? SYSTEM_DIRECTORY
  const packageDirectory = options.packageDirectory ?? findBinariesPackage()
  const { place: paths, account, isKnown } = await resolvePaths(options, systemDirectory)
  const exists = await isInitialised(paths.cluster)
  // A database existed here; creating an empty one would look like data loss.
  if (isKnown && !exists) throw new DatabaseError('directory_damaged', { detail: `${paths.cluster} is gone or empty` })
  if (isRoot()) await makeSystemDirectory(systemDirectory)
  const copyDirectory = isRoot() ? systemDirectory : paths.data
  const binaries = await prepareBinaries({ packageDirectory, account, copyDirectory })
  if (binaries.copiedTo !== undefined)
    onEvent({ kind: 'binaries_copied', message: `Copied the PostgreSQL binaries to ${binaries.copiedTo}` })
  const password = await loadPassword(paths.passwordFile, !exists)
  const startMs = options.startMs ?? DEFAULT_START_MS
  const ctx: RunningContext = { paths, account, binaries, password, startMs, onEvent, signal }
  await prepareFiles(ctx, exists)
  return ctx
}

/** The paths of the server files and the account that owns them. */
async function resolvePaths(
  options: PrepareOptions,
  systemDirectory: string,
): Promise<{ readonly place: ServerPaths; readonly account: Account | undefined; readonly isKnown: boolean }> {
  const data = await prepareData(options.data)
  const stored = await readPaths(data)
  const savedPaths = stored === 'moved' ? undefined : stored
  const expected = await chooseAccount(savedPaths?.cluster ?? path.join(defaultHomeOf(data), 'data'), options.account)
  const temporaryDirectory = options.temporaryDirectory ?? tmpdir()
  const paths = savedPaths ?? (await choosePaths(data, expected.account, { systemDirectory, temporaryDirectory }))
  const choice = await chooseAccount(paths.cluster, options.account)
  reportAccount(choice, paths, options.onEvent)
  return { place: paths, account: choice.account, isKnown: stored !== undefined }
}

function reportAccount(
  { account, assumed }: AccountChoice,
  paths: ServerPaths,
  onEvent: PrepareOptions['onEvent'],
): void {
  if (account === undefined) return
  if (assumed)
    onEvent?.({
      kind: 'account_assumed',
      message: `PostgreSQL cannot run as root; the embedded server runs as user ${account.uid}`,
    })
  if (isOutsideData(paths))
    onEvent?.({
      kind: 'files_elsewhere',
      message: `User ${account.uid} cannot access ${paths.data}; the files of the embedded server are in ${paths.home}`,
    })
}

async function makeSystemDirectory(directory: string): Promise<void> {
  if (await fileExists(directory)) return
  await makeDirectory(directory, 0o755)
  // The umask may have removed the permissions that the account of the server needs.
  await chmod(directory, 0o755)
}

async function prepareFiles(ctx: RunningContext, exists: boolean): Promise<void> {
  const { paths, account, binaries, password } = ctx
  await makePrivateDirectory(paths.home, account)
  if (paths.socketDirectory !== paths.home) await makePrivateDirectory(paths.socketDirectory, account)
  if (!exists) {
    await initCluster({ paths, account, initdb: binaries.initdb, password })
    ctx.onEvent({ kind: 'initialised', message: `Created a new database in ${paths.cluster}` })
  }
  await refuseOtherMajor(paths.cluster, binaries.major)
  await savePaths(paths)
}

/** Loads the password of the server; the first process creates it. */
async function loadPassword(file: string, isNew: boolean): Promise<string> {
  const known = await readTextIfThere(file)
  if (known !== undefined) return nonEmptyPassword(known, file)
  // An existing server has a password; a new one would not match it.
  if (!isNew) throw new DatabaseError('password_missing', { detail: file })
  await writeOnce(file, `${randomBytes(32).toString('base64url')}\n`)
  return nonEmptyPassword((await readTextIfThere(file)) ?? '', file)
}

function nonEmptyPassword(text: string, file: string): string {
  const password = text.trim()
  if (password === '') throw new DatabaseError('password_missing', { detail: `${file} is empty` })
  return password
}

/**
 * Creates a private directory for the account, or verifies that an existing one is private and owned by it, because any
 * user could have created it in the temporary directory.
 */
async function makePrivateDirectory(directory: string, account: Account | undefined): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 })
    await chmod(directory, 0o700)
    if (account !== undefined) await chown(directory, account.uid, account.gid)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw fileError(error, directory)
    await refuseForeignDirectory(directory, account)
  }
}

async function refuseForeignDirectory(directory: string, account: Account | undefined): Promise<void> {
  const stored = await lstat(directory).catch((error: unknown) => {
    throw fileError(error, directory)
  })
  const owners = [account?.uid, process.getuid?.()]
  if (!stored.isDirectory() || !owners.includes(stored.uid) || (stored.mode & 0o077) !== 0)
    throw new DatabaseError('socket_unusable', { detail: `${directory} is not a private directory of this user` })
  // Another process of ours has just created it and not yet changed its owner.
  if (account !== undefined && stored.uid !== account.uid) await chown(directory, account.uid, account.gid)
}

export interface EmbeddedOptions extends PrepareOptions {
  /** Randomness of retry delays, in [0, 1). */
  readonly random?: () => number
}

export interface EmbeddedServer {
  readonly target: SocketTarget
  /** Releases the server; the last process to leave stops it. Call after closing all connections. */
  readonly leave: () => Promise<'stopped' | 'left'>
}

const TRIM_EVERY_MS = 60_000

/** Joins or starts the embedded PostgreSQL of a data directory, and restarts it after failures until `leave`. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const leaveController = new AbortController()
  const ctx = await prepareServer(options, leaveController.signal)
  const reference = await joinOrStart(ctx)
  const current = keepConnected(ctx, reference, options.random ?? Math.random)
  const trimTimer = setInterval(() => void trimLog(ctx.paths.log), TRIM_EVERY_MS).unref()
  let leaveResult: Promise<'stopped' | 'left'> | undefined
  return {
    target: {
      host: ctx.paths.socketDirectory,
      port: PORT,
      user: SUPERUSER,
      password: ctx.password,
      database: DATABASE,
    },
    leave: () => {
      clearInterval(trimTimer)
      leaveController.abort()
      leaveResult ??= current().then((held) => (held === undefined ? 'left' : releaseServer(held, ctx.paths)))
      return leaveResult
    },
  }
}

async function releaseServer(reference: Reference, paths: ServerPaths): Promise<'stopped' | 'left'> {
  try {
    if ((await releaseReference(reference)) === 'others') return 'left'
    await stopServer(reference, paths)
    return 'stopped'
  } catch {
    // The connection is gone, which also released our reference.
    return 'left'
  } finally {
    await reference.client.end().catch(() => undefined)
  }
}

/**
 * Keeps this process joined: restarts the server if it died, rejoins it if only the connection broke. Returns a function
 * that resolves to the current reference, after a restart if one is in progress; `undefined` after `leave`.
 */
function keepConnected(
  ctx: RunningContext,
  first: Reference,
  random: () => number,
): () => Promise<Reference | undefined> {
  let current: Promise<Reference | undefined> = Promise.resolve(first)
  const watch = (reference: Reference): void => {
    reference.client.once('end', () => {
      if (ctx.signal.aborted) return
      ctx.onEvent({ kind: 'lost', message: 'Lost the connection to the embedded PostgreSQL' })
      current = rejoin(ctx, random).then((again) => {
        if (again !== undefined) watch(again)
        return again
      })
    })
  }
  watch(first)
  return () => current
}

async function rejoin(ctx: RunningContext, random: () => number): Promise<Reference | undefined> {
  for (let failures = 1; !ctx.signal.aborted; failures += 1) {
    try {
      const reference = await joinOrStart(ctx)
      ctx.onEvent({ kind: 'returned', message: 'Reconnected to the embedded PostgreSQL' })
      return reference
    } catch (error) {
      ctx.onEvent({ kind: 'still_away', message: error instanceof Error ? error.message : String(error) })
      const wait = backoffMs(failures, random(), RECONNECT_BACKOFF)
      await sleep(wait, undefined, { signal: ctx.signal, ref: false }).catch(() => undefined)
    }
  }
  return undefined
}

/** Time limit of a shutdown, which writes all data to disk. */
const MAX_STOP_MS = 30_000

/**
 * Stops the server in mode "fast". The reference still holds the exclusive lock, so the server is alive and the process id
 * belongs to it.
 */
async function stopServer({ client, pid }: Reference, paths: ServerPaths): Promise<void> {
  if ((await isServerOf(pid, paths.cluster)) === false) return
  const gone = new Promise<void>((resolve) => client.once('end', resolve))
  try {
    process.kill(pid, 'SIGINT')
  } catch {
    return
  }
  const deadline = performance.now() + MAX_STOP_MS
  await Promise.race([gone, sleep(MAX_STOP_MS, undefined, { ref: false })])
  while (isAlive(pid) && (await isServerOf(pid, paths.cluster)) !== false && performance.now() < deadline)
    await sleep(5)
}
