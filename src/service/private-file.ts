import { randomBytes } from 'node:crypto'
import { chmod, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeDirectory } from '../store/make-directory.ts'

/** Nobody but the owner of the process reads or writes it. */
const PRIVATE = 0o600

/** Writes a file that only its owner can read, whole or not at all: whoever looks sees the old text or the new one. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  await makeDirectory(path.dirname(file), 0o777)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(draft, text, { mode: PRIVATE, flag: 'wx' })
    // The mode above is cut by the umask, which may be anything.
    await chmod(draft, PRIVATE)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** The text of a file without white space around it; null when there is no file. */
export async function readPrivateFile(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
