import type { PickContext } from '../../domain/queue/fairness.ts'
import { isExpired } from '../../domain/run/timeouts.ts'
import type { RunRow } from '../../features/runs/store.ts'
import { cancelCleared } from '../commands/cancel.ts'
import { clearingOf } from '../commands/cancel-waiting-store.ts'
import { settleDue } from '../commands/settle.ts'
import { reindexRun, type LoadedOrg } from '../org-state/memory.ts'
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
