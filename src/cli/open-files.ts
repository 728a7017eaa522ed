import { readFileSync } from 'node:fs'

/** With fewer, not even the modules of a server can be loaded, and the loader's errors name the wrong cause. */
const MIN_OPEN_FILES = 256

/** Why a server cannot start with this limit of open files; null: it can, or the limit is not known. */
export function tooFewOpenFiles(limit: number | null): string | null {
  if (limit === null || limit >= MIN_OPEN_FILES) return null
  return `The limit of open files is ${limit}, and a server needs ${MIN_OPEN_FILES} or more: ulimit -n 4096, or LimitNOFILE in the unit of systemd.`
}

/** The limit of open files of this process; null: the system does not say. */
export function readOpenFileLimit(file = '/proc/self/limits'): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(file, 'utf8')) ?? []
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}
