import { randomBytes } from 'node:crypto'
import { chmod, chown, lstat, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseError } from '../../platform/db/database-error.ts'
import { type Account, type AccountChoice, chooseAccount, isRoot } from './account.ts'
import { findBinariesPackage, prepareBinaries } from '../../platform/db/embedded/binaries.ts'
import { codeOf, isThere, makeDirectory, readTextIfThere, refuseFile, writeOnce } from './files.ts'
import { initCluster, isInitialised, refuseOtherMajor } from '../../platform/db/embedded/init.ts'
import {
  choosePlace,
  homeInside,
  isElsewhere,
  notePlace,
  type Place,
  prepareData,
  readPlace,
} from '../../platform/db/embedded/place.ts'
import type { EmbeddedNews, RunningContext } from '../../platform/db/embedded/running.ts'

export interface PrepareOptions {
  /** The data directory; made if it is missing. */
  readonly data: string
  /** Who the server runs as when we are root. */
  readonly account?: Account
  /** The package with the programs, if not the one for this platform. */
  readonly packageDirectory?: string
  /** For root: where files go that the server's account could not reach in the data directory. */
  readonly systemDirectory?: string
  /** Where a socket goes whose path would be too long. */
  readonly temporaryDirectory?: string
  readonly startMs?: number
  readonly tell?: (news: EmbeddedNews) => void
}

/** Not a temporary directory: what is in here is somebody's data. */
export const SYSTEM_DIRECTORY =
  process.platform === 'darwin' ? '/Library/Application Support/escapement' : '/var/lib/escapement'

const DEFAULT_START_MS = 60_000

/** Everything there has to be before a server can be joined or started: place, account, programs, password, files. */
export async function prepareServer(options: PrepareOptions, signal: AbortSignal): Promise<RunningContext> {
  const tell = options.tell ?? (() => undefined)
  const systemDirectory = options.systemDirectory ?? SYSTEM_DIRECTORY
  const packageDirectory = options.packageDirectory ?? findBinariesPackage()
  const { place, account, isKnown } = await settlePlace(options, systemDirectory)
  const exists = await isInitialised(place.cluster)
  // There was a database here. An empty one in its place would look like the loss of everything.
  if (isKnown && !exists) throw new DatabaseError('directory_damaged', { detail: `${place.cluster} is gone or empty` })
  if (isRoot()) await makeSystemDirectory(systemDirectory)
  const copyDirectory = isRoot() ? systemDirectory : place.data
  const binaries = await prepareBinaries({ packageDirectory, account, copyDirectory })
  if (binaries.copiedTo !== undefined)
    tell({ kind: 'binaries_copied', message: `Copied the programs of PostgreSQL to ${binaries.copiedTo}` })
  const password = await loadPassword(place.passwordFile, !exists)
  const startMs = options.startMs ?? DEFAULT_START_MS
  const ctx = { place, account, binaries, password, startMs, tell, signal }
  await prepareFiles(ctx, exists)
  return ctx
}

/** Where the server's files are or will be, and whose they are. */
async function settlePlace(
  options: PrepareOptions,
  systemDirectory: string,
): Promise<{ readonly place: Place; readonly account: Account | undefined; readonly isKnown: boolean }> {
  const data = await prepareData(options.data)
  const found = await readPlace(data)
  const noted = found === 'moved' ? undefined : found
  const expected = await chooseAccount(noted?.cluster ?? path.join(homeInside(data), 'data'), options.account)
  const temporaryDirectory = options.temporaryDirectory ?? tmpdir()
  const place = noted ?? (await choosePlace(data, expected.account, { systemDirectory, temporaryDirectory }))
  const choice = await chooseAccount(place.cluster, options.account)
  announce(choice, place, options.tell)
  return { place, account: choice.account, isKnown: found !== undefined }
}

function announce({ account, assumed }: AccountChoice, place: Place, tell: PrepareOptions['tell']): void {
  if (account === undefined) return
  if (assumed)
    tell?.({
      kind: 'account_assumed',
      message: `PostgreSQL refuses to run as root; the embedded server runs as user ${account.uid}`,
    })
  if (isElsewhere(place))
    tell?.({
      kind: 'files_elsewhere',
      message: `User ${account.uid} cannot reach ${place.data}; the files of the embedded server are in ${place.home}`,
    })
}

async function makeSystemDirectory(directory: string): Promise<void> {
  if (await isThere(directory)) return
  await makeDirectory(directory, 0o755)
  // Whatever the umask says: the server's account has to get at what is in it.
  await chmod(directory, 0o755)
}

async function prepareFiles(ctx: RunningContext, exists: boolean): Promise<void> {
  const { place, account, binaries, password } = ctx
  await makePrivateDirectory(place.home, account)
  if (place.socketDirectory !== place.home) await makePrivateDirectory(place.socketDirectory, account)
  if (!exists) {
    await initCluster({ place, account, initdb: binaries.initdb, password })
    ctx.tell({ kind: 'initialised', message: `Made a new database in ${place.cluster}` })
  }
  await refuseOtherMajor(place.cluster, binaries.major)
  await notePlace(place)
}

/** The server's password: made by the first process that needs one, the same for all others. */
async function loadPassword(file: string, isNew: boolean): Promise<string> {
  const known = await readTextIfThere(file)
  if (known !== undefined) return checked(known, file)
  // A server that exists has a password; a new one would only lock us out with more certainty.
  if (!isNew) throw new DatabaseError('password_missing', { detail: file })
  await writeOnce(file, `${randomBytes(32).toString('base64url')}\n`)
  return checked((await readTextIfThere(file)) ?? '', file)
}

function checked(text: string, file: string): string {
  const password = text.trim()
  if (password === '') throw new DatabaseError('password_missing', { detail: `${file} is empty` })
  return password
}

/**
 * Makes a private directory for the server's account, or makes sure that an existing one is private and its own:
 * below the temporary directory anybody could have made it first.
 */
async function makePrivateDirectory(directory: string, account: Account | undefined): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 })
    await chmod(directory, 0o700)
    if (account !== undefined) await chown(directory, account.uid, account.gid)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw refuseFile(error, directory)
    await refuseStrangeDirectory(directory, account)
  }
}

async function refuseStrangeDirectory(directory: string, account: Account | undefined): Promise<void> {
  const found = await lstat(directory).catch((error: unknown) => {
    throw refuseFile(error, directory)
  })
  const owners = [account?.uid, process.getuid?.()]
  if (!found.isDirectory() || !owners.includes(found.uid) || (found.mode & 0o077) !== 0)
    throw new DatabaseError('socket_unusable', { detail: `${directory} is not a private directory of our own` })
  // Another process of ours made it a moment ago and has not given it away yet.
  if (account !== undefined && found.uid !== account.uid) await chown(directory, account.uid, account.gid)
}
