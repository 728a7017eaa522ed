import type { PickingMoment } from '../../core/picking/line-up-next.ts'
import { isExpired } from '../../domain/run/timeouts.ts'
import type { RunRow } from '../../store/run-row.ts'
import { clearingOf } from '../desk/cleared.ts'
import { cancelCleared } from '../desk/clearing.ts'
import { passTime } from '../desk/settle.ts'
import { noteRun, type Memory } from './memory.ts'
import type { Allowance } from './turn-limits.ts'

/**
 * The first run that may really start. Timers and clearings are worked off a piece per turn, so a run may be first in line
 * whose deadline has passed or that is to be cancelled: it ends instead. Undefined when nothing is left, or when enough
 * has ended in this turn.
 */
export function firstToStart(memory: Memory, at: PickingMoment, allowance: Allowance): RunRow | undefined {
  const { desk, lineUp } = memory
  while (lineUp.hasReady(at.lane.name)) {
    const found = lineUp.next(at)
    const run = found === null ? undefined : desk.runs.get(found.id)
    if (run === undefined) return undefined
    const clearing = clearingOf(desk.clearings, run)
    if (clearing === undefined && !isExpired(run, desk.now)) return run
    if (allowance.left <= 0) return undefined
    allowance.left -= 1
    if (clearing === undefined) passTime(desk, run, null)
    else cancelCleared(desk, run, clearing)
    noteRun(memory, run)
  }
  return undefined
}
