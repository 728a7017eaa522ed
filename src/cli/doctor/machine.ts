import { access, constants, readFile, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import { problemText, okFinding, type Finding } from './problems.ts'

const MIN_NODE_VERSION = [20, 19] as const

/** Checks that this version of Node is supported. */
export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isFine = major > MIN_NODE_VERSION[0] || (major === MIN_NODE_VERSION[0] && minor >= MIN_NODE_VERSION[1])
  return isFine ? okFinding('node', `Node ${version}`) : problemText('node_old', `Node ${version}`)
}

/** Files that only the owner of the process may read. */
const PRIVATE_FILES = ['owner.key', 'secret.key', 'postgres.password'] as const

/** Checks that keys are private and the directory is writable. A running server does not need the key file. */
export async function checkDataDirectory(data: string, isRunning: boolean): Promise<Finding> {
  for (const name of PRIVATE_FILES) {
    const file = path.join(data, name)
    const found = await stat(file).catch(() => null)
    if (found !== null && (found.mode & 0o077) !== 0)
      return problemText(
        'key_exposed',
        `Other users can read ${file}`,
        `Run chmod 600 ${file}, and create a new key if another user may have read it.`,
      )
  }
  const obstacle = await findUnwritable(data)
  if (obstacle !== null)
    return problemText(
      'data_unwritable',
      `This user cannot write to ${obstacle}`,
      `If another user runs a server there, run doctor as that user: sudo -u USER escapement doctor. Otherwise give the directory to the user that runs Escapement (chown -R USER ${obstacle}), or choose another one: --data DIRECTORY`,
    )
  for (const directory of [data, await databaseHomeOf(data)]) {
    const spaceFinding = await checkDiskSpace(directory)
    if (spaceFinding !== null) return spaceFinding
  }
  const hasKey = await stat(path.join(data, 'owner.key')).then(
    () => true,
    () => false,
  )
  return hasKey || isRunning
    ? okFinding('data', data)
    : problemText('data_missing', `${path.join(data, 'owner.key')} does not exist`)
}

const MEGABYTE = 1_000_000

/** With less free space PostgreSQL cannot write its write-ahead log. */
const MIN_FREE_BYTES = 100 * MEGABYTE

/** Reports a file system that is almost full; null: enough space is free. */
export async function checkDiskSpace(
  directory: string,
  ask: (directory: string) => Promise<{ readonly bavail: number; readonly bsize: number }> = statfs,
): Promise<Finding | null> {
  // The directory may not exist yet, and some file systems do not report free space.
  const told = await ask(directory).catch(() => null)
  if (told === null || told.bavail * told.bsize >= MIN_FREE_BYTES) return null
  return problemText(
    'disk_full',
    `${Math.floor((told.bavail * told.bsize) / MEGABYTE)} MB are free on the disk of ${directory}`,
  )
}

/** Where the embedded database lies: as root maybe outside the data directory, as `postgres.json` says. */
async function databaseHomeOf(data: string): Promise<string> {
  try {
    const saved = JSON.parse(await readFile(path.join(data, 'postgres.json'), 'utf8')) as Readonly<
      Record<string, unknown>
    >
    return saved['data'] === data && typeof saved['home'] === 'string' ? saved['home'] : data
  } catch {
    return data
  }
}

/** The directory that prevents writing to this one, which may not exist yet; null: none does. */
async function findUnwritable(directory: string): Promise<string | null> {
  try {
    await access(directory, constants.W_OK | constants.X_OK)
    return (await stat(directory)).isDirectory() ? null : directory
  } catch (error) {
    const parent = path.dirname(directory)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === directory) return directory
    return findUnwritable(parent)
  }
}
