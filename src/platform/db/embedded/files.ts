import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { makeDirectory as make } from '../make-directory.ts'

/** Reads a small text file; `undefined`: it does not exist. */
export async function readTextIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw fileError(error, file)
  })
}

/**
 * Writes a file unless it exists. The first of several writers wins. The file gets its name only when it is complete and
 * on disk, so that no reader sees a part of it.
 */
export async function writeOnce(file: string, text: string): Promise<void> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await link(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw fileError(error, file)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Creates a directory and its parents. */
export async function makeDirectory(directory: string, mode: number): Promise<void> {
  await make(directory, mode).catch((error: unknown) => {
    throw fileError(error, directory)
  })
}

export const fileExists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false
      throw fileError(error, file)
    },
  )

/** Converts a file system error to a database error that names the path. */
export function fileError(error: unknown, target: string): DatabaseError {
  if (error instanceof DatabaseError) return error
  const code = codeOf(error)
  const isDiskFull = code === 'ENOSPC' || code === 'EDQUOT'
  return new DatabaseError(isDiskFull ? 'disk_full' : 'directory_unusable', {
    detail: `${path.resolve(target)} (${error instanceof Error ? error.message : String(error)})`,
    cause: error,
  })
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** The account the server runs as. `undefined`: the user of this process. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** The account `nobody` of every Linux, and close enough elsewhere; PostgreSQL refuses to run as root. */
const UNPRIVILEGED_ACCOUNT: Account = { uid: 65534, gid: 65534 }

export const isRoot = (): boolean => process.getuid?.() === 0

export interface AccountChoice {
  readonly account: Account | undefined
  /** Whether it is the default, which is worth a log message. */
  readonly assumed: boolean
}

/**
 * Chooses the account of the server. Without root it is the current user. As root it is the owner of existing files, else
 * the configured account, else `nobody`.
 */
export async function chooseAccount(cluster: string, configured: Account | undefined): Promise<AccountChoice> {
  const owner = await ownerOf(cluster)
  if (!isRoot()) {
    if (owner !== undefined && owner.uid !== process.getuid?.())
      throw new DatabaseError('directory_unusable', { detail: `${cluster} belongs to user ${owner.uid}` })
    return { account: undefined, assumed: false }
  }
  if (owner === undefined) return { account: configured ?? UNPRIVILEGED_ACCOUNT, assumed: configured === undefined }
  if (owner.uid === 0 || (configured !== undefined && configured.uid !== owner.uid))
    throw new DatabaseError('directory_unusable', {
      detail: `${cluster} belongs to user ${owner.uid}, but the server should run as user ${(configured ?? UNPRIVILEGED_ACCOUNT).uid}`,
    })
  return { account: owner, assumed: configured === undefined }
}

async function ownerOf(directory: string): Promise<Account | undefined> {
  try {
    const { uid, gid } = await stat(directory)
    return { uid, gid }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw fileError(error, directory)
  }
}

/**
 * Whether the account can access a directory. Checks mode bits, because only the account itself could test it; a wrong
 * "no" (an ACL would allow it) only costs a copy.
 */
export async function canReach(directory: string, account: Account): Promise<boolean> {
  for (let at = path.resolve(directory); ; at = path.dirname(at)) {
    const found = await stat(at).catch(() => undefined)
    if (found !== undefined && !mayEnter(found, account)) return false
    if (at === path.dirname(at)) return true
  }
}

function mayEnter(
  found: { readonly uid: number; readonly gid: number; readonly mode: number },
  account: Account,
): boolean {
  const bit = found.uid === account.uid ? 0o100 : found.gid === account.gid ? 0o010 : 0o001
  return (found.mode & bit) !== 0
}
