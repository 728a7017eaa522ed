import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { link, readFile, readlink, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { codeOf, readTextIfThere, fileError } from './files.ts'

/** The process that uses the database files, according to `postmaster.pid` and the process table. */
export type ClusterHolder =
  | { readonly kind: 'none' }
  | { readonly kind: 'server'; readonly pid: number }
  /** The file is unreadable, or its process is gone or another program. */
  | { readonly kind: 'stale'; readonly text: string }
  /** A process with this id exists, but its command is hidden from this user. */
  | { readonly kind: 'unknown'; readonly pid: number }

const pidFileOf = (cluster: string): string => path.join(cluster, 'postmaster.pid')

export async function findHolder(cluster: string): Promise<ClusterHolder> {
  const text = await readTextIfThere(pidFileOf(cluster))
  if (text === undefined) return { kind: 'none' }
  const pid = parsePid(text)
  if (pid === undefined || !isAlive(pid)) return { kind: 'stale', text }
  const serves = await isServerOf(pid, cluster)
  if (serves === undefined) return { kind: 'unknown', pid }
  return serves ? { kind: 'server', pid } : { kind: 'stale', text }
}

/** The process id in the first line of `postmaster.pid`. */
export function parsePid(text: string): number | undefined {
  const line = text.split('\n', 1)[0] ?? ''
  const pid = Number(line)
  return /^\d+$/.test(line) && Number.isSafeInteger(pid) && pid > 1 ? pid : undefined
}

/** Whether a process with this id exists, of any user. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/**
 * Whether this process is the server of these files, and not another program with a reused process id. The server has the
 * directory as its working directory and on its command line.
 */
export async function isServerOf(pid: number, cluster: string): Promise<boolean | undefined> {
  const [workingDirectory, command] = await Promise.all([
    readlink(`/proc/${pid}/cwd`).catch(() => undefined),
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => commandByPs(pid)),
  ])
  if (workingDirectory !== undefined) return workingDirectory === cluster
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
 * Removes a stale pid file, because PostgreSQL trusts any live process it names. If a server has started in the meantime,
 * its file is put back.
 */
export async function moveStaleSocket(cluster: string, stale: string): Promise<void> {
  const file = pidFileOf(cluster)
  const moved = `${file}.${randomBytes(4).toString('hex')}`
  try {
    await rename(file, moved)
    if ((await readFile(moved, 'utf8')) !== stale) await link(moved, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes(codeOf(error) ?? '')) throw fileError(error, file)
  } finally {
    await rm(moved, { force: true })
  }
}
