import { agentId, laneName, runId } from '../../../src/domain/ids.ts'
import { because } from '../../../src/domain/reasons.ts'
import { makeRun } from '../../../src/service/desk/runs.ts'
import { noteRun, type Memory } from '../../../src/service/turn/memory.ts'
import type { RunRow } from '../../../src/store/run-row.ts'

let made = 0

/** A queued run in this memory. */
export function aRun(memory: Memory, more: Partial<RunRow> = {}): RunRow {
  const id = runId(`run_${String((made += 1)).padStart(6, '0')}`)
  const run = makeRun(memory.desk, {
    ...{ id, agentId: agentId('a'), executorKey: 'echo', jobRunId: id, trigger: 'message', lane: laneName('main') },
    ...{ state: 'queued', decision: because('accepted', 'test'), payload: 'text' },
    ...more,
  })
  noteRun(memory, run)
  return run
}
