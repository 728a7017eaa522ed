import { createHash } from 'node:crypto'
import { chmod, realpath } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import {
  type Account,
  canReach,
  isRoot,
  fileExists,
  makeDirectory,
  readTextIfThere,
  fileError,
  writeOnce,
} from './files.ts'

/** The paths of an embedded server. */
export interface ServerPaths {
  /** The data directory, without symbolic links. */
  readonly data: string
  /** The directory of the server files: in the data directory or in a system directory. */
  readonly home: string
  /** PostgreSQL's files. */
  readonly cluster: string
  readonly socketDirectory: string
  readonly passwordFile: string
  readonly pathsFile: string
  readonly log: string
}

export interface PathOptions {
  readonly systemDirectory: string
  readonly temporaryDirectory: string
}

/** The paths of the first start, saved in the data directory for later starts. */
interface SavedPaths {
  readonly data: string
  readonly home: string
  readonly socketDirectory: string
}

/** Longer socket paths are silently cut at 107 bytes on Linux, and earlier on other systems. */
const MAX_SOCKET_PATH = 100
const SOCKET_NAME = '.s.PGSQL.5432'

export const PORT = 5432

/** Creates the data directory if needed, and returns its real path. */
export async function prepareData(directory: string): Promise<string> {
  const isNew = !(await fileExists(directory))
  await makeDirectory(directory, 0o700)
  try {
    // The account of the server must pass through it; secret files in it are readable by their owner only.
    if (isNew && isRoot()) await chmod(directory, 0o711)
    return await realpath(directory)
  } catch (error) {
    throw fileError(error, directory)
  }
}

/**
 * The paths saved by an earlier start. `moved`: the data directory was renamed together with the server files, so that only
 * the socket needs a new path; `undefined`: there was no earlier start.
 */
export async function readPaths(data: string): Promise<ServerPaths | 'moved' | undefined> {
  const text = await readTextIfThere(path.join(data, 'postgres.json'))
  if (text === undefined) return undefined
  const saved = parseSavedPaths(text, data)
  if (saved.data === data) return toPaths(saved)
  if (saved.home === defaultHomeOf(saved.data)) return 'moved'
  throw new DatabaseError('directory_moved', {
    detail: `${data} was ${saved.data} when its server files were created in ${saved.home}`,
  })
}

/** Chooses the paths of a new server, or of one that moved with its data directory. */
export async function choosePaths(
  data: string,
  account: Account | undefined,
  options: PathOptions,
): Promise<ServerPaths> {
  const defaultHome = defaultHomeOf(data)
  const reachable = account === undefined || (await canReach(data, account))
  const exists = await fileExists(path.join(defaultHome, 'data'))
  // Existing files are used or refused, never silently replaced by new ones elsewhere.
  if (exists && !reachable)
    throw new DatabaseError('directory_unusable', { detail: `user ${account.uid} cannot access ${defaultHome}` })
  const home = reachable ? defaultHome : path.join(options.systemDirectory, hashOf(data))
  if (!reachable && !(await canReach(options.systemDirectory, account)))
    throw new DatabaseError('directory_unusable', {
      detail: `user ${account.uid} can access neither ${data} nor ${options.systemDirectory}`,
    })
  return toPaths({ data, home, socketDirectory: chooseSocketDirectory(home, options.temporaryDirectory) })
}

/** Saves the paths, once the server files exist. */
export async function savePaths({ data, home, socketDirectory, pathsFile: noteFile }: ServerPaths): Promise<void> {
  await writeOnce(noteFile, `${JSON.stringify({ data, home, socketDirectory })}\n`)
}

export const isOutsideData = (paths: ServerPaths): boolean => paths.home !== defaultHomeOf(paths.data)

export const defaultHomeOf = (data: string): string => path.join(data, 'postgres')

function toPaths({ data, home, socketDirectory }: SavedPaths): ServerPaths {
  return {
    data,
    home,
    socketDirectory,
    cluster: path.join(home, 'data'),
    passwordFile: path.join(data, 'postgres.password'),
    pathsFile: path.join(data, 'postgres.json'),
    log: path.join(data, 'postgres.log'),
  }
}

function chooseSocketDirectory(home: string, temporaryDirectory: string): string {
  const isShortEnough = (directory: string): boolean =>
    Buffer.byteLength(path.join(directory, SOCKET_NAME)) <= MAX_SOCKET_PATH
  if (isShortEnough(home)) return home
  const short = path.join(temporaryDirectory, `escapement-${hashOf(home)}`)
  if (isShortEnough(short)) return short
  throw new DatabaseError('socket_unusable', { detail: `${short} is too long for a socket` })
}

function parseSavedPaths(text: string, data: string): SavedPaths {
  try {
    const { data: savedData, home, socketDirectory } = JSON.parse(text) as Partial<SavedPaths>
    if (typeof savedData === 'string' && typeof home === 'string' && typeof socketDirectory === 'string')
      return { data: savedData, home, socketDirectory }
  } catch {
    // Not JSON: refused below, like an incomplete file.
  }
  throw new DatabaseError('directory_damaged', { detail: path.join(data, 'postgres.json') })
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
