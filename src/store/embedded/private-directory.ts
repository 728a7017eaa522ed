import { chmod, chown, lstat, mkdir } from 'node:fs/promises'
import { DatabaseError } from '../database-error.ts'
import { type Account } from './account.ts'
import { codeOf, refuseFile } from './files.ts'

/**
 * Makes a private directory for the server's account, or makes sure that an existing one is private and its own:
 * below the temporary directory anybody could have made it first.
 */
export async function makePrivateDirectory(directory: string, account: Account | undefined): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 })
    await chmod(directory, 0o700)
    if (account !== undefined) await chown(directory, account.uid, account.gid)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw refuseFile(error, directory)
    await refuseStrangeDirectory(directory, account)
  }
}

async function refuseStrangeDirectory(directory: string, account: Account | undefined): Promise<void> {
  const found = await lstat(directory).catch((error: unknown) => {
    throw refuseFile(error, directory)
  })
  const owners = [account?.uid, process.getuid?.()]
  if (!found.isDirectory() || !owners.includes(found.uid) || (found.mode & 0o077) !== 0)
    throw new DatabaseError('socket_unusable', { detail: `${directory} is not a private directory of our own` })
  // Another process of ours made it a moment ago and has not given it away yet.
  if (account !== undefined && found.uid !== account.uid) await chown(directory, account.uid, account.gid)
}
