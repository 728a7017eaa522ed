import { mkdir, rmdir, stat } from 'node:fs/promises'
import path from 'node:path'

/**
 * Creates a directory and its parents, or nothing at all; an existing one keeps its mode, and parents get the default mode.
 * Does not use `recursive` of Node, which on Node 20 never returns where nothing can be created, as in /proc.
 */
export async function makeDirectory(directory: string, mode: number): Promise<void> {
  const target = path.resolve(directory)
  const created: string[] = []
  try {
    for (const missing of await missingFrom(target)) {
      await mkdir(missing, missing === target ? { mode } : {}).then(
        () => created.push(missing),
        (error: unknown) => ignoreDirectory(missing, error),
      )
    }
  } catch (error) {
    for (const each of created.toReversed()) await rmdir(each).catch(() => undefined)
    throw error
  }
}

/** The missing directories on a path, topmost first. */
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

/** Ignores the error if another process has created the directory meanwhile. */
async function ignoreDirectory(directory: string, error: unknown): Promise<void> {
  const found = await stat(directory).catch(() => undefined)
  if (found?.isDirectory() !== true) throw error
}
