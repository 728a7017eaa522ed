import { createHash } from 'node:crypto'
import { chmod, realpath } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { type Account, canReach, isRoot } from '../../../store/embedded/account.ts'
import { isThere, makeDirectory, readTextIfThere, refuseFile, writeOnce } from '../../../store/embedded/files.ts'

/** Where everything of one embedded server is. */
export interface Place {
  /** The data directory, without symbolic links. */
  readonly data: string
  /** The directory of the server's own files: below the data directory, or in a system directory. */
  readonly home: string
  /** PostgreSQL's files. */
  readonly cluster: string
  readonly socketDirectory: string
  readonly passwordFile: string
  readonly noteFile: string
  readonly log: string
}

export interface PlaceOptions {
  readonly systemDirectory: string
  readonly temporaryDirectory: string
}

/** Kept in the data directory, so that a later start looks where the first one put things. */
interface Note {
  readonly data: string
  readonly home: string
  readonly socketDirectory: string
}

/** A socket's path is cut off in silence at 107 bytes; some systems have a little less. */
const LONGEST_SOCKET_PATH = 100
const SOCKET_NAME = '.s.PGSQL.5432'

export const PORT = 5432

/** Makes the data directory unless it exists, and answers its real path. */
export async function prepareData(directory: string): Promise<string> {
  const isNew = !(await isThere(directory))
  await makeDirectory(directory, 0o700)
  try {
    // The server's account has to walk through it; what is secret in it are files only their owner can read.
    if (isNew && isRoot()) await chmod(directory, 0o711)
    return await realpath(directory)
  } catch (error) {
    throw refuseFile(error, directory)
  }
}

/**
 * The place as an earlier start noted it. `moved` when the data directory has another name since and its server's files
 * came along, so that only the socket needs a new place; `undefined` when there was no earlier start.
 */
export async function readPlace(data: string): Promise<Place | 'moved' | undefined> {
  const text = await readTextIfThere(path.join(data, 'postgres.json'))
  if (text === undefined) return undefined
  const note = parseNote(text, data)
  if (note.data === data) return toPlace(note)
  if (note.home === homeInside(note.data)) return 'moved'
  throw new DatabaseError('directory_moved', {
    detail: `${data} was ${note.data} when the files of its server were put into ${note.home}`,
  })
}

/** The place for a server that does not exist yet, or that moved along with its data directory. */
export async function choosePlace(data: string, account: Account | undefined, options: PlaceOptions): Promise<Place> {
  const inside = homeInside(data)
  const reachable = account === undefined || (await canReach(data, account))
  const exists = await isThere(path.join(inside, 'data'))
  // Files that are there are used or refused, never silently replaced by new ones in another place.
  if (exists && !reachable)
    throw new DatabaseError('directory_unusable', { detail: `user ${account.uid} cannot reach ${inside}` })
  const home = reachable ? inside : path.join(options.systemDirectory, hashOf(data))
  if (!reachable && !(await canReach(options.systemDirectory, account)))
    throw new DatabaseError('directory_unusable', {
      detail: `user ${account.uid} can reach neither ${data} nor ${options.systemDirectory}`,
    })
  return toPlace({ data, home, socketDirectory: chooseSocketDirectory(home, options.temporaryDirectory) })
}

/** Writes down where things are, once there are things. */
export async function notePlace({ data, home, socketDirectory, noteFile }: Place): Promise<void> {
  await writeOnce(noteFile, `${JSON.stringify({ data, home, socketDirectory })}\n`)
}

export const isElsewhere = (place: Place): boolean => place.home !== homeInside(place.data)

export const homeInside = (data: string): string => path.join(data, 'postgres')

function toPlace({ data, home, socketDirectory }: Note): Place {
  return {
    data,
    home,
    socketDirectory,
    cluster: path.join(home, 'data'),
    passwordFile: path.join(data, 'postgres.password'),
    noteFile: path.join(data, 'postgres.json'),
    log: path.join(data, 'postgres.log'),
  }
}

function chooseSocketDirectory(home: string, temporaryDirectory: string): string {
  const fits = (directory: string): boolean =>
    Buffer.byteLength(path.join(directory, SOCKET_NAME)) <= LONGEST_SOCKET_PATH
  if (fits(home)) return home
  const short = path.join(temporaryDirectory, `escapement-${hashOf(home)}`)
  if (fits(short)) return short
  throw new DatabaseError('socket_unusable', { detail: `${short} is too long for a socket` })
}

function parseNote(text: string, data: string): Note {
  try {
    const { data: noted, home, socketDirectory } = JSON.parse(text) as Partial<Note>
    if (typeof noted === 'string' && typeof home === 'string' && typeof socketDirectory === 'string')
      return { data: noted, home, socketDirectory }
  } catch {
    // Not JSON: refused below, like a note that lacks something.
  }
  throw new DatabaseError('directory_damaged', { detail: path.join(data, 'postgres.json') })
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
