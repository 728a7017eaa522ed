import { randomBytes } from 'node:crypto'
import { chown, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { type Account, codeOf, fileExists, readTextIfThere, fileError } from './files.ts'
import { isAlive } from './pid-file.ts'
import type { ServerPaths } from './place.ts'
import { runProgram } from './server-process.ts'

export const SUPERUSER = 'escapement'

/** The database that initdb creates. Creating another one would make the first start 10 % slower. */
export const DATABASE = 'postgres'

export interface InitContext {
  readonly paths: ServerPaths
  readonly account: Account | undefined
  readonly initdb: string
  readonly password: string
}

/**
 * Creates the database files in a draft directory and renames it to `data`, so that `data` is always complete. If several
 * processes do this at once, one wins and the others delete their drafts. All use the same password, so any may win.
 */
export async function initCluster(ctx: InitContext): Promise<void> {
  const draft = path.join(ctx.paths.home, `init-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    await removeAbandoned(ctx.paths.home)
    const passwordFile = path.join(draft, 'password')
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, `${ctx.password}\n`, { mode: 0o600 })
    // Changed last, because the owner of a directory could place a link where root is about to write.
    if (ctx.account !== undefined)
      for (const file of [passwordFile, draft]) await chown(file, ctx.account.uid, ctx.account.gid)
    await runInitdb(ctx, draft, passwordFile)
    await publishCluster(path.join(draft, 'data'), ctx.paths)
  } catch (error) {
    throw fileError(error, draft)
  } finally {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function runInitdb(ctx: InitContext, draft: string, passwordFile: string): Promise<void> {
  const { code, output } = await runProgram(
    ctx.initdb,
    [
      ...['-D', path.join(draft, 'data'), '-U', SUPERUSER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
      // Independent of the locales installed on the machine.
      ...['--encoding=UTF8', '--no-locale', '--data-checksums', '--no-instructions'],
    ],
    { cwd: draft, account: ctx.account },
  )
  if (code === 0) return
  if (/No space left on device|Disk quota exceeded/.test(output))
    throw new DatabaseError('disk_full', { detail: ctx.paths.home })
  // Happens in containers with an arbitrary user id; initdb requires a user name, unlike the server.
  if (/could not look up effective user ID/.test(output))
    throw new DatabaseError('account_unknown', { detail: `user id ${ctx.account?.uid ?? process.getuid?.() ?? '?'}` })
  throw new DatabaseError('server_failed', { detail: `initdb ended with code ${code}: ${output.trim()}` })
}

async function publishCluster(draftCluster: string, { cluster, home }: ServerPaths): Promise<void> {
  try {
    await rename(draftCluster, cluster)
  } catch (error) {
    if (['EEXIST', 'ENOTEMPTY'].includes(codeOf(error) ?? '')) return
    throw error
  }
  const directory = await open(home, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Removes drafts of processes that were killed. */
async function removeAbandoned(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = /^init-(\d+)-[0-9a-f]+$/.exec(name)?.[1]
    if (pid !== undefined && Number(pid) !== process.pid && !isAlive(Number(pid)))
      await rm(path.join(home, name), { recursive: true, force: true })
  }
}

/** Whether the database files exist. Throws if they are incomplete, so that they are never overwritten. */
export async function isInitialised(cluster: string): Promise<boolean> {
  const names = await readdir(cluster).catch((error: unknown): string[] => {
    if (codeOf(error) === 'ENOENT') return []
    throw fileError(error, cluster)
  })
  if (names.length === 0) return false
  if (names.includes('PG_VERSION') && (await fileExists(path.join(cluster, 'global/pg_control')))) return true
  throw new DatabaseError('directory_damaged', { detail: cluster })
}

/** Throws if another major version of PostgreSQL wrote the files, which this one cannot read. */
export async function refuseOtherMajor(cluster: string, major: number): Promise<void> {
  const found = (await readTextIfThere(path.join(cluster, 'PG_VERSION')))?.trim() ?? ''
  if (!/^\d+(\.\d+)?$/.test(found)) throw new DatabaseError('directory_damaged', { detail: `${cluster}/PG_VERSION` })
  if (found !== String(major))
    throw new DatabaseError('other_major_version', {
      detail: `${cluster} was written by PostgreSQL ${found}, this is PostgreSQL ${major}`,
    })
}
