import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { makeDirectory } from './db/make-directory.ts'

/** Nobody but the owner of the process reads or writes it. */
const PRIVATE = 0o600

/** Writes a file that only its owner can read, whole or not at all: whoever looks sees the old text or the new one. */
export const writePrivateFile = (file: string, text: string): Promise<void> =>
  place(file, text, async (draft) => {
    await rename(draft, file)
  })

/** The same for a file that must not be there yet. False: it is there, and stays as it is. */
export async function createPrivateFile(file: string, text: string): Promise<boolean> {
  let isNew = true
  await place(file, text, async (draft) => {
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

/** What is in the file when this returns is there after a power cut too: the text and its name are written through. */
async function place(file: string, text: string, put: (draft: string) => Promise<void>): Promise<void> {
  const directory = path.dirname(file)
  await makeDirectory(directory, 0o777)
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  try {
    const handle = await open(draft, 'wx', PRIVATE)
    try {
      // The mode above is cut by the umask, which may be anything.
      await handle.chmod(PRIVATE)
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

/** The text of a file without white space around it; null when there is no file. */
export async function readPrivateFile(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
