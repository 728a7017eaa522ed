import { readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second, whatever the machine. */
const TICKS_PER_SECOND = 100

/**
 * Seconds of CPU time, user and system, of all children of this process that have ended, with theirs; `undefined` where
 * the system does not say. Node tells of its own process alone.
 */
export function endedChildrenSeconds() {
  try {
    // The name of the program comes second, in brackets, and may contain anything.
    const [, fields = ''] = /\) (.*)/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
    const [user, system] = fields.split(' ').slice(13, 15).map(Number)
    return (user + system) / TICKS_PER_SECOND
  } catch {
    return undefined
  }
}
