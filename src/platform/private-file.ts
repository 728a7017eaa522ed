import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { makeDirectory } from './db/make-directory.ts'

/** Read and write for the owner only. */
const PRIVATE_MODE = 0o600

/** Writes a private file atomically: readers see the old or the new text. */
export const writePrivateFile = (file: string, text: string): Promise<void> =>
  writeThroughDraft(file, text, async (draft) => {
    await rename(draft, file)
  })

/** Creates a private file. False: it exists already and is unchanged. */
export async function createPrivateFile(file: string, text: string): Promise<boolean> {
  let isNew = true
  await writeThroughDraft(file, text, async (draft) => {
    try {
      await link(draft, file)
    } catch (error) {
      if (codeOf(error) === 'EEXIST') isNew = false
      // Some file systems have no hard links.
      else if ((await readPrivateFile(file)) === null) await rename(draft, file)
      else isNew = false
    }
  })
  return isNew
}

/** Writes a draft, syncs it, and moves it into place, so that it survives a power failure. */
async function writeThroughDraft(file: string, text: string, put: (draft: string) => Promise<void>): Promise<void> {
  const directory = path.dirname(file)
  await makeDirectory(directory, 0o777)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(draft, 'wx', PRIVATE_MODE)
    try {
      // The umask may have reduced the mode above.
      await handle.chmod(PRIVATE_MODE)
      await handle.writeFile(text)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await put(draft)
  } finally {
    await rm(draft, { force: true })
  }
  await syncDirectory(directory)
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open a directory as a file.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : null)

/** The trimmed text of a file; null: it does not exist. */
export async function readPrivateFile(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
