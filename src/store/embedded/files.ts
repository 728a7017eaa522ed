import { randomBytes } from 'node:crypto'
import { link, open, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../../platform/db/database-error.ts'
import { makeDirectory as make } from '../../platform/db/make-directory.ts'

/** Reads a small text file; `undefined` if there is none. */
export async function readTextIfThere(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw refuseFile(error, file)
  })
}

/**
 * Writes a file that is written only once. Of several who try, the first wins, and nobody ever sees half of it: it gets
 * its name when it is complete and on the disk.
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
    if (codeOf(error) !== 'EEXIST') throw refuseFile(error, file)
  } finally {
    await rm(draft, { force: true })
  }
}

/** Makes a directory and those above it. */
export async function makeDirectory(directory: string, mode: number): Promise<void> {
  await make(directory, mode).catch((error: unknown) => {
    throw refuseFile(error, directory)
  })
}

export const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false
      throw refuseFile(error, file)
    },
  )

/** A failure of the file system as a refusal that names the place. */
export function refuseFile(error: unknown, place: string): DatabaseError {
  if (error instanceof DatabaseError) return error
  const code = codeOf(error)
  const full = code === 'ENOSPC' || code === 'EDQUOT'
  return new DatabaseError(full ? 'disk_full' : 'directory_unusable', {
    detail: `${path.resolve(place)} (${error instanceof Error ? error.message : String(error)})`,
    cause: error,
  })
}

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
