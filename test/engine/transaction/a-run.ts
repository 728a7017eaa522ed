import { agentId, laneName, runId } from '../../../src/domain/ids.ts'
import { because } from '../../../src/domain/reasons.ts'
import { createRun } from '../../../src/engine/commands/runs.ts'
import { reindexRun, type LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'

let made = 0

/** A queued run in this memory. */
export function aRun(memory: LoadedOrg, more: Partial<RunRow> = {}): RunRow {
  const id = runId(`run_${String((made += 1)).padStart(6, '0')}`)
  const run = createRun(memory.state, {
    ...{ id, agentId: agentId('a'), executorKey: 'echo', jobRunId: id, trigger: 'message', lane: laneName('main') },
    ...{ state: 'queued', decision: because('accepted', 'test'), payload: 'text' },
    ...more,
  })
  reindexRun(memory, run)
  return run
}
