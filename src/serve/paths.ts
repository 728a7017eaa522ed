import { readdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { makeDirectory } from '../platform/db/make-directory.ts'
import { createServerLog, type ServerLog } from '../platform/log/server-log.ts'
import { writePrivateFile } from '../platform/private-file.ts'
import type { Configuration } from './configuration.ts'

/** Opens the log at the configured level. */
export const openLog = (
  { live: keeper }: Configuration,
  out: { readonly pretty: boolean; readonly to: number | ((text: string) => void) },
): ServerLog => createServerLog({ ...out, level: keeper.current().config.log.level })

/** A server that runs on a data directory, recorded for commands on the same machine. */
export interface RunningServer {
  readonly url: string
  readonly pid: number
  readonly started_at: string
}

/** One file per server, because several may share a data directory. */
const directoryOf = (data: string): string => path.join(data, 'servers')

/** Records a running server. Returns a function that removes the record. */
export async function recordServer(data: string, server: RunningServer): Promise<() => Promise<void>> {
  const directory = directoryOf(data)
  await makeDirectory(directory, 0o700)
  // Removes the records of killed servers.
  for (const other of await findServers(data)) if (!isAlive(other.pid)) await rm(fileOf(data, other), { force: true })
  const file = fileOf(data, server)
  await writePrivateFile(file, `${JSON.stringify(server)}\n`)
  return () => rm(file, { force: true })
}

const fileOf = (data: string, { pid, url }: RunningServer): string =>
  path.join(directoryOf(data), `${pid}.${new URL(url).port}.json`)

/** The servers of a data directory: live ones first, then the newest. */
export async function findServers(data: string): Promise<readonly RunningServer[]> {
  const directory = directoryOf(data)
  const files = await readdir(directory).catch(() => [])
  const found: RunningServer[] = []
  for (const file of files.filter((name) => /^\d+\.\d*\.json$/.test(name))) {
    const server = await readServer(path.join(directory, file))
    if (server !== null) found.push(server)
  }
  const rank = ({ pid }: RunningServer): number => (isAlive(pid) ? 0 : 1)
  return found.toSorted((a, b) => rank(a) - rank(b) || b.started_at.localeCompare(a.started_at))
}

async function readServer(file: string): Promise<RunningServer | null> {
  try {
    const { url, pid, started_at } = JSON.parse(await readFile(file, 'utf8')) as Partial<RunningServer>
    return typeof url === 'string' && URL.canParse(url) && typeof pid === 'number' && typeof started_at === 'string'
      ? { url, pid, started_at }
      : null
  } catch {
    // Removed meanwhile, or written by another version.
    return null
  }
}

/** Whether a process exists, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
