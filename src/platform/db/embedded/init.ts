import { randomBytes } from 'node:crypto'
import { chown, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import type { Account } from '../../../store/embedded/account.ts'
import { codeOf, isThere, readTextIfThere, refuseFile } from '../../../store/embedded/files.ts'
import { isAlive } from './pid-file.ts'
import type { Place } from './place.ts'
import { runProgram } from './server-process.ts'

export const SUPERUSER = 'escapement'

/** The one initdb makes. Another one, used by nobody but us either, would add a tenth to the time of a first start. */
export const DATABASE = 'postgres'

export interface InitContext {
  readonly place: Place
  readonly account: Account | undefined
  readonly initdb: string
  readonly password: string
}

/**
 * Makes the server's files. In a directory of this process's own, which is then renamed: what is called `data` is
 * complete, whatever happens to us on the way, and of several processes that do this at once one wins and the others
 * throw theirs away. They all use the same password, so it does not matter which.
 */
export async function initCluster(ctx: InitContext): Promise<void> {
  const draft = path.join(ctx.place.home, `init-${process.pid}-${randomBytes(4).toString('hex')}`)
  try {
    await removeAbandoned(ctx.place.home)
    const passwordFile = path.join(draft, 'password')
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, `${ctx.password}\n`, { mode: 0o600 })
    // Given away only now: whoever owns a directory could put a link where root is about to write.
    if (ctx.account !== undefined)
      for (const file of [passwordFile, draft]) await chown(file, ctx.account.uid, ctx.account.gid)
    await runInitdb(ctx, draft, passwordFile)
    await putInPlace(path.join(draft, 'data'), ctx.place)
  } catch (error) {
    throw refuseFile(error, draft)
  } finally {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function runInitdb(ctx: InitContext, draft: string, passwordFile: string): Promise<void> {
  const { code, output } = await runProgram(
    ctx.initdb,
    [
      ...['-D', path.join(draft, 'data'), '-U', SUPERUSER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256'],
      // Order and case do not depend on what languages the machine has installed.
      ...['--encoding=UTF8', '--no-locale', '--data-checksums', '--no-instructions'],
    ],
    { cwd: draft, account: ctx.account },
  )
  if (code === 0) return
  if (/No space left on device|Disk quota exceeded/.test(output))
    throw new DatabaseError('disk_full', { detail: ctx.place.home })
  // As in containers that run under a number of their own; the server would not mind, but initdb insists.
  if (/could not look up effective user ID/.test(output))
    throw new DatabaseError('account_unknown', { detail: `number ${ctx.account?.uid ?? process.getuid?.() ?? '?'}` })
  throw new DatabaseError('server_failed', { detail: `initdb ended with code ${code}: ${output.trim()}` })
}

async function putInPlace(made: string, { cluster, home }: Place): Promise<void> {
  try {
    await rename(made, cluster)
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

/** What processes left behind that were killed on the way. */
async function removeAbandoned(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = /^init-(\d+)-[0-9a-f]+$/.exec(name)?.[1]
    if (pid !== undefined && Number(pid) !== process.pid && !isAlive(Number(pid)))
      await rm(path.join(home, name), { recursive: true, force: true })
  }
}

/** Whether the server's files are there. Whatever is there and is not complete is refused, never written over. */
export async function isInitialised(cluster: string): Promise<boolean> {
  const names = await readdir(cluster).catch((error: unknown): string[] => {
    if (codeOf(error) === 'ENOENT') return []
    throw refuseFile(error, cluster)
  })
  if (names.length === 0) return false
  if (names.includes('PG_VERSION') && (await isThere(path.join(cluster, 'global/pg_control')))) return true
  throw new DatabaseError('directory_damaged', { detail: cluster })
}

/** Refuses files that another major version wrote: it could not read them, and might damage them. */
export async function refuseOtherMajor(cluster: string, major: number): Promise<void> {
  const found = (await readTextIfThere(path.join(cluster, 'PG_VERSION')))?.trim() ?? ''
  if (!/^\d+(\.\d+)?$/.test(found)) throw new DatabaseError('directory_damaged', { detail: `${cluster}/PG_VERSION` })
  if (found !== String(major))
    throw new DatabaseError('other_major_version', {
      detail: `${cluster} was written by PostgreSQL ${found}, this is PostgreSQL ${major}`,
    })
}
