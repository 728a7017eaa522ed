import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import { trouble, well, type Finding } from './troubles.ts'

const NEEDED = [20, 19] as const

/** Whether this Node can run us. */
export function lookAtNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isFine = major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
  return isFine ? well('node', `Node ${version}`) : trouble('node_old', `Node ${version}`)
}

/** What is kept there for us alone. */
const PRIVATE = ['owner.key', 'secret.key', 'postgres.password'] as const

/** Keys must be readable to us and to nobody else, and the directory must be ours to write. A server may do without. */
export async function lookAtData(data: string, runs: boolean): Promise<Finding> {
  for (const name of PRIVATE) {
    const file = path.join(data, name)
    const found = await stat(file).catch(() => null)
    if (found !== null && (found.mode & 0o077) !== 0)
      return trouble(
        'key_exposed',
        `Others can read ${file}`,
        `chmod 600 ${file}, and make another key if others were there.`,
      )
  }
  const obstacle = await unwritable(data)
  if (obstacle !== null)
    return trouble(
      'data_unwritable',
      `${obstacle} cannot be written by this user`,
      `Give it to the user that runs Escapement (chown -R USER ${obstacle}), or choose another: --data DIRECTORY`,
    )
  const hasKey = await stat(path.join(data, 'owner.key')).then(
    () => true,
    () => false,
  )
  return hasKey || runs ? well('data', data) : trouble('data_missing', `${path.join(data, 'owner.key')} is not there`)
}

/** The directory that stands in the way of writing to this one, which need not be there yet; null: none does. */
async function unwritable(directory: string): Promise<string | null> {
  try {
    await access(directory, constants.W_OK | constants.X_OK)
    return (await stat(directory)).isDirectory() ? null : directory
  } catch (error) {
    const parent = path.dirname(directory)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === directory) return directory
    return unwritable(parent)
  }
}
