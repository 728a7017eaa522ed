import { access, constants, readFile, stat, statfs } from 'node:fs/promises'
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
      `If a server of another user runs there, ask as that user: sudo -u USER escapement doctor. Else give it to the user that runs Escapement (chown -R USER ${obstacle}), or choose another: --data DIRECTORY`,
    )
  for (const directory of [data, await homeOfDatabase(data)]) {
    const full = await lookAtSpace(directory)
    if (full !== null) return full
  }
  const hasKey = await stat(path.join(data, 'owner.key')).then(
    () => true,
    () => false,
  )
  return hasKey || runs ? well('data', data) : trouble('data_missing', `${path.join(data, 'owner.key')} is not there`)
}

const MEGABYTE = 1_000_000

/** Below this PostgreSQL cannot even write down what it is about to do. */
const LEAST_FREE = 100 * MEGABYTE

/** How much space there is where a directory lies. Only a file system that is nearly full is told of. */
export async function lookAtSpace(
  directory: string,
  ask: (directory: string) => Promise<{ readonly bavail: number; readonly bsize: number }> = statfs,
): Promise<Finding | null> {
  // What is not there yet takes no space, and some file systems do not say.
  const told = await ask(directory).catch(() => null)
  if (told === null || told.bavail * told.bsize >= LEAST_FREE) return null
  return trouble(
    'disk_full',
    `${Math.floor((told.bavail * told.bsize) / MEGABYTE)} MB are free where ${directory} lies`,
  )
}

/** As root the embedded database may lie elsewhere; a note says where, unless the directory was moved since. */
async function homeOfDatabase(data: string): Promise<string> {
  try {
    const note = JSON.parse(await readFile(path.join(data, 'postgres.json'), 'utf8')) as Readonly<
      Record<string, unknown>
    >
    return note['data'] === data && typeof note['home'] === 'string' ? note['home'] : data
  } catch {
    return data
  }
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
