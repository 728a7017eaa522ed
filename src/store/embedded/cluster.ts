import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../database-error.ts'
import { codeOf, isThere, readTextIfThere, refuseFile } from './files.ts'

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
