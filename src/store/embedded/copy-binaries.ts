import { randomBytes } from 'node:crypto'
import { chmod, copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { codeOf, isThere, makeDirectory, refuseFile } from './files.ts'
import { restoreLinks } from './links.ts'

/**
 * Copies the package's programs to a directory that is complete as soon as it exists: made under another name, then
 * renamed. Answers whether it was this call that made it.
 */
export async function copyBinaries(packageDirectory: string, to: string): Promise<boolean> {
  if (await isThere(to)) return false
  const draft = `${to}.${randomBytes(6).toString('hex')}`
  try {
    await makeDirectory(draft, 0o755)
    await chmod(draft, 0o755)
    await copyTree(packageDirectory, draft, 'native')
    if ((await restoreLinks(draft)) !== 'complete') throw new DatabaseError('directory_unusable', { detail: draft })
    return await putInPlace(draft, to)
  } catch (error) {
    throw refuseFile(error, to)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Directories and plain files; symbolic links are made afresh afterwards, as they are in the package itself. */
async function copyTree(from: string, to: string, name: string): Promise<void> {
  const place = path.join(to, name)
  await mkdir(place)
  await chmod(place, 0o755)
  const entries = (await readdir(path.join(from, name), { withFileTypes: true })).filter((entry) =>
    isNeeded(entry.name),
  )
  await Promise.all(
    entries.map(async (entry) => {
      const file = path.join(name, entry.name)
      if (entry.isDirectory()) await copyTree(from, to, file)
      else if (entry.isFile()) await copyOne(path.join(from, file), path.join(to, file))
    }),
  )
}

/**
 * A second name for the file is as good as a copy, and saves most of a second, where it is on the same disk, readable
 * for everybody, and belongs to us, so that nobody else can change it.
 */
async function copyOne(from: string, to: string): Promise<void> {
  const { mode, uid } = await stat(from)
  const open = (mode & 0o100) === 0 ? 0o644 : 0o755
  if ((mode & open) === open && uid === process.getuid?.()) {
    const linked = await link(from, to).then(
      () => true,
      () => false,
    )
    if (linked) return
  }
  await copyFile(from, to)
  await chmod(to, open)
}

async function putInPlace(draft: string, to: string): Promise<boolean> {
  try {
    await rename(draft, to)
    return true
  } catch (error) {
    // Another process was first; its copy is as good.
    if (['EEXIST', 'ENOTEMPTY'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** Libraries for linking programs and headers are a quarter of the package, and no server needs them. */
const isNeeded = (name: string): boolean => !/\.a$|^(?:pkgconfig|pgxs|include)$/.test(name)
