import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import type { Flaw } from '../../domain/input.ts'

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

/** What a thread says: how far it is, and once what came of it, or why nothing did. */
export type ThreadMessage<Outcome, Progress> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'invalid'; readonly flaws: readonly Flaw[] }
  | { readonly kind: 'failed'; readonly error: string }
