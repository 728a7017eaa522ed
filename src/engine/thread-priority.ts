import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/**
 * Gives the thread that calls it less of a busy processor than the thread that answers requests. Only Linux has
 * priorities of threads; elsewhere nothing happens.
 */
export function lowerThreadPriority(): void {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (threadId > 0 && threadId !== process.pid) setPriority(threadId, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Without /proc, or where a container forbids it: the computation is as correct without it.
  }
}
