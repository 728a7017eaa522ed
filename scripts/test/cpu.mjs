import { readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second on every machine. */
const TICKS_PER_SECOND = 100

/**
 * Seconds of CPU time, user and system, of all descendants of this process that have ended; `undefined` where the system
 * doesn't provide it. Node reports only its own process.
 */
export function endedChildrenSeconds() {
  try {
    // The second field is the name of the program in parentheses, which may contain any character.
    const [, fields = ''] = /\) (.*)/s.exec(readFileSync('/proc/self/stat', 'utf8')) ?? []
    const [user, system] = fields.split(' ').slice(13, 15).map(Number)
    return (user + system) / TICKS_PER_SECOND
  } catch {
    return undefined
  }
}
