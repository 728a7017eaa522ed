import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import type { Flaw } from '../../domain/input.ts'

/**
 * Lowers the priority of the calling thread below that of the thread that answers requests. Only Linux has priorities
 * per thread; elsewhere nothing happens.
 */
export function lowerThreadPriority(): void {
  try {
    const threadId = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    if (threadId > 0 && threadId !== process.pid) setPriority(threadId, constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Without /proc, or where a container forbids it, the computation only runs at normal priority.
  }
}

/** A message of a thread: progress, and once the outcome or the reason why there is none. */
export type ThreadMessage<Outcome, Progress> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'invalid'; readonly flaws: readonly Flaw[] }
  | { readonly kind: 'failed'; readonly error: string }
