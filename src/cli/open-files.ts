import { readFileSync } from 'node:fs'

/** With a lower limit, loading the modules of a server fails with errors that name the wrong cause. */
const MIN_OPEN_FILES = 256

/** Why a server cannot start with this limit of open files; null: it can, or the limit is unknown. */
export function tooFewOpenFiles(limit: number | null): string | null {
  if (limit === null || limit >= MIN_OPEN_FILES) return null
  return `The open file limit is ${limit}; a server requires at least ${MIN_OPEN_FILES}. Raise it with ulimit -n 4096, or LimitNOFILE in the systemd unit.`
}

/** The limit of open files of this process; null: unknown on this system. */
export function readOpenFileLimit(file = '/proc/self/limits'): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync(file, 'utf8')) ?? []
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}
