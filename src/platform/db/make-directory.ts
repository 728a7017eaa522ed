import { mkdir, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'

/**
 * Creates a directory and those above it, or nothing at all; an existing one keeps its mode. Those above it get the usual
 * mode. Not by Node's own `recursive`: on Node 20 it never answers where nothing can be created, as in /proc.
 */
export async function makeDirectory(directory: string, mode: number): Promise<void> {
  const target = path.resolve(directory)
  const made: string[] = []
  try {
    for (const missing of await missingFrom(target)) {
      await mkdir(missing, missing === target ? { mode } : {}).then(
        () => made.push(missing),
        (error: unknown) => ignoreDirectory(missing, error),
      )
    }
  } catch (error) {
    for (const each of made.toReversed()) await rmdir(each).catch(() => undefined)
    throw error
  }
}

/** The directory and those above it that are not there, the highest first. */
async function missingFrom(directory: string): Promise<readonly string[]> {
  const missing: string[] = []
  for (let at = directory; at !== path.dirname(at); at = path.dirname(at)) {
    const found = await stat(at).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    })
    if (found?.isDirectory() === true) break
    missing.unshift(at)
  }
  return missing
}

/** Another process may have created it meanwhile. */
async function ignoreDirectory(directory: string, error: unknown): Promise<void> {
  const found = await stat(directory).catch(() => undefined)
  if (found?.isDirectory() !== true) throw error
}
