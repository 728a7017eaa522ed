import { lstat, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { codeOf } from './files.ts'

interface Link {
  /** The file that is there. */
  readonly source: string
  /** The other name it has to have. */
  readonly target: string
}

/** Makes the symbolic links the package lists. Safe when several processes do it at once: a link is made or is there. */
export async function restoreLinks(packageDirectory: string): Promise<'complete' | 'cannot'> {
  for (const { source, target } of await readLinks(packageDirectory)) {
    const name = path.join(packageDirectory, target)
    try {
      await lstat(name)
    } catch {
      const made = await makeLink(path.relative(path.dirname(target), source), name)
      if (!made) return 'cannot'
    }
  }
  return 'complete'
}

async function makeLink(to: string, name: string): Promise<boolean> {
  try {
    await symlink(to, name)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return true
    if (['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error) ?? '')) return false
    throw new DatabaseError('binaries_missing', { detail: name, cause: error })
  }
}

async function readLinks(packageDirectory: string): Promise<readonly Link[]> {
  const file = path.join(packageDirectory, 'native/pg-symlinks.json')
  try {
    const links = JSON.parse(await readFile(file, 'utf8')) as readonly Link[]
    return links.filter((link) => isInside(link.source) && isInside(link.target))
  } catch (error) {
    // A package without the list needs no links.
    if (codeOf(error) === 'ENOENT') return []
    throw new DatabaseError('binaries_missing', { detail: file, cause: error })
  }
}

const isInside = (file: string): boolean => path.posix.normalize(file).startsWith('native/')
