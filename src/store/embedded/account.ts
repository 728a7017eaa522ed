import { stat } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseError } from '../../platform/db/database-error.ts'
import { codeOf, refuseFile } from './files.ts'

/** Who the server runs as. `undefined` where we may not choose: as the one who runs us. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** `nobody` on every Linux and close enough elsewhere; PostgreSQL refuses to run as root. */
const NOBODY: Account = { uid: 65534, gid: 65534 }

export const isRoot = (): boolean => process.getuid?.() === 0

export interface AccountChoice {
  readonly account: Account | undefined
  /** Whether nobody chose it, so that it deserves a remark. */
  readonly assumed: boolean
}

/**
 * The account for the server's process. An ordinary user is that account. For root it is the owner of the files that
 * are already there, else the configured one, else `nobody`.
 */
export async function chooseAccount(cluster: string, configured: Account | undefined): Promise<AccountChoice> {
  const owner = await ownerOf(cluster)
  if (!isRoot()) {
    if (owner !== undefined && owner.uid !== process.getuid?.())
      throw new DatabaseError('directory_unusable', { detail: `${cluster} belongs to user ${owner.uid}` })
    return { account: undefined, assumed: false }
  }
  if (owner === undefined) return { account: configured ?? NOBODY, assumed: configured === undefined }
  if (owner.uid === 0 || (configured !== undefined && configured.uid !== owner.uid))
    throw new DatabaseError('directory_unusable', {
      detail: `${cluster} belongs to user ${owner.uid}, and the server is to run as ${(configured ?? NOBODY).uid}`,
    })
  return { account: owner, assumed: configured === undefined }
}

async function ownerOf(directory: string): Promise<Account | undefined> {
  try {
    const { uid, gid } = await stat(directory)
    return { uid, gid }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw refuseFile(error, directory)
  }
}

/**
 * Whether the account can walk to a directory and into it. By mode bits, because only the account itself could try; a
 * wrong "no" (an ACL that would have allowed it) merely costs a copy.
 */
export async function canReach(directory: string, account: Account): Promise<boolean> {
  for (let at = path.resolve(directory); ; at = path.dirname(at)) {
    const found = await stat(at).catch(() => undefined)
    if (found !== undefined && !mayEnter(found, account)) return false
    if (at === path.dirname(at)) return true
  }
}

function mayEnter(
  found: { readonly uid: number; readonly gid: number; readonly mode: number },
  account: Account,
): boolean {
  const bit = found.uid === account.uid ? 0o100 : found.gid === account.gid ? 0o010 : 0o001
  return (found.mode & bit) !== 0
}
