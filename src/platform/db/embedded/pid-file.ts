import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { link, readFile, readlink, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { codeOf, readTextIfThere, refuseFile } from '../../../store/embedded/files.ts'

/** Who holds the server's files, as far as `postmaster.pid` and the process table say. */
export type Holder =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'server'; readonly pid: number }
  /** The file names a process that is gone, that is something else by now, or it cannot be read at all. */
  | { readonly kind: 'stale'; readonly text: string }
  /** A process has this number, and we are not allowed to see what it is. */
  | { readonly kind: 'unknown'; readonly pid: number }

const pidFileOf = (cluster: string): string => path.join(cluster, 'postmaster.pid')

export async function findHolder(cluster: string): Promise<Holder> {
  const text = await readTextIfThere(pidFileOf(cluster))
  if (text === undefined) return { kind: 'nobody' }
  const pid = parsePid(text)
  if (pid === undefined || !isAlive(pid)) return { kind: 'stale', text }
  const serves = await isServerOf(pid, cluster)
  if (serves === undefined) return { kind: 'unknown', pid }
  return serves ? { kind: 'server', pid } : { kind: 'stale', text }
}

/** The process number in the first line of a `postmaster.pid`. */
export function parsePid(text: string): number | undefined {
  const line = text.split('\n', 1)[0] ?? ''
  const pid = Number(line)
  return /^\d+$/.test(line) && Number.isSafeInteger(pid) && pid > 1 ? pid : undefined
}

/** Whether a process with this number exists, ours or not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/**
 * Whether this process is the server of these files and not something that was given its number later. The server works
 * in the directory of its files and was told it on its command line.
 */
export async function isServerOf(pid: number, cluster: string): Promise<boolean | undefined> {
  const [place, command] = await Promise.all([
    readlink(`/proc/${pid}/cwd`).catch(() => undefined),
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => commandByPs(pid)),
  ])
  if (place !== undefined) return place === cluster
  return command === undefined
    ? isAlive(pid)
      ? undefined
      : false
    : command.split(/[\0 ]/).join(' ').includes(`-D ${cluster}`)
}

const commandByPs = (pid: number): Promise<string | undefined> =>
  promisify(execFile)('/bin/ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(
    ({ stdout }) => stdout,
    () => undefined,
  )

/**
 * Takes a stale file out of the way, because PostgreSQL believes any living process it names. Should a server have
 * started in the meantime, it gets its own file back.
 */
export async function moveStaleAside(cluster: string, stale: string): Promise<void> {
  const file = pidFileOf(cluster)
  const aside = `${file}.${randomBytes(4).toString('hex')}`
  try {
    await rename(file, aside)
    if ((await readFile(aside, 'utf8')) !== stale) await link(aside, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error) ?? '')) throw refuseFile(error, file)
  } finally {
    await rm(aside, { force: true })
  }
}
