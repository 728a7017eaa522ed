import type { PickContext } from '../../domain/queue/fairness.ts'
import type { Shortage } from '../../domain/queue/queued-run.ts'
import { isExpired } from '../../domain/run/timeouts.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { cancelCleared } from '../commands/cancel.ts'
import { clearingOf } from '../commands/cancel-waiting-store.ts'
import { settleDue } from '../commands/settle.ts'
import { loadShortage, type Loads } from '../org-state/backlog.ts'
import { reindexRun, type LoadedOrg, type MemoryWindow } from '../org-state/memory.ts'
import type { Allowance } from './limits.ts'

/**
 * The first run that may really start. Timers and clearings are processed in pieces, so the first run in the queue may
 * have passed its deadline or be about to be cancelled: it ends instead. Undefined when no run is left, or when enough
 * have ended in this transaction.
 */
export function firstToStart(org: LoadedOrg, at: PickContext, allowance: Allowance): RunRow | undefined {
  const { state, readyQueue } = org
  while (readyQueue.hasReady(at.lane.name)) {
    const found = readyQueue.next(at)
    const run = found === null ? undefined : state.runs.get(found.id)
    if (run === undefined) return undefined
    const clearing = clearingOf(state.clearings, run)
    if (clearing === undefined && !isExpired(run, state.now)) return run
    if (allowance.left <= 0) return undefined
    allowance.left -= 1
    if (clearing === undefined) settleDue(state, run, null)
    else cancelCleared(state, run, clearing)
    reindexRun(org, run)
  }
  return undefined
}

/** How much may start, and how much of the backlog is loaded at a time. */
export interface StartOptions {
  readonly allowance: Allowance
  readonly window: MemoryWindow
}

/** Loads what is needed to know the first run of the lane that may start, and returns it. */
export function* loadFirst(
  org: LoadedOrg,
  at: PickContext,
  { allowance, window, short: first }: StartOptions & { readonly short: Shortage },
): Loads<RunRow | undefined> {
  for (let short: Shortage | null = first; short !== null; short = org.readyQueue.shortage()) {
    yield* loadShortage(org, window, short)
    const run = firstToStart(org, at, allowance)
    if (run !== undefined) return run
  }
  return undefined
}
