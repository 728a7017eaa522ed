import { describe, expect, it } from 'vitest'
import { agentId, laneName, orgId, runId, sessionKey } from '../../../src/domain/ids.ts'
import { because } from '../../../src/domain/reasons.ts'
import { createRun, applyEvent } from '../../../src/engine/commands/runs.ts'
import { beginOrgTransaction } from '../../../src/engine/transaction/pass-time.ts'
import {
  emptyLoadedOrg,
  reindexRun,
  evictIdleRows,
  type LoadedOrg,
  type NodeCapabilities,
} from '../../../src/engine/org-state/memory.ts'
import { applyChanges } from '../../../src/engine/org-state/changes.ts'
import { ensureSession, ensureTaskAgent } from '../../../src/engine/transaction/transaction.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import { NOW } from '../../support/builders.ts'
import { openCabinet } from '../commands/cabinet.ts'

const { desk: like } = openCabinet()
const node: NodeCapabilities = {
  ...{ randomSource: like.randomSource, settings: () => like.settings, canExecute: () => true, estimate: null },
  laneNames: () => new Set([laneName('main')]),
}

const WHY = because('accepted', 'test')
let made = 0

function aTaskOf(memory: LoadedOrg, agent: string, state: 'queued' | 'waiting' = 'queued'): RunRow {
  const id = runId(`tsk_${String((made += 1)).padStart(6, '0')}`)
  ensureTaskAgent(memory, agentId(agent))
  const run = createRun(memory.state, {
    ...{ id, agentId: agentId(agent), executorKey: 'tab-action', jobRunId: id, trigger: 'task' },
    ...{ lane: laneName('main'), state, decision: WHY, payload: null },
  })
  reindexRun(memory, run)
  return run
}

/** Turns in each of which some agents are named by a task that ends in it. */
function nameAgents(memory: LoadedOrg, { turns, each }: { readonly turns: number; readonly each: number }): void {
  for (let no = 1; no <= turns; no += 1) {
    beginOrgTransaction(memory, { now: NOW, no })
    for (let index = 0; index < each; index += 1)
      applyEvent(memory.state, aTaskOf(memory, `once-${no}-${index}`), { event: 'cancel', why: WHY })
    applyChanges(memory, node)
    evictIdleRows(memory)
  }
}

describe('agents that tasks name once', () => {
  it('are not remembered for ever', () => {
    const memory = emptyLoadedOrg(orgId('default'), node)
    nameAgents(memory, { turns: 24, each: 500 })
    expect(memory.state.runs.size).toBe(0)
    expect(memory.state.agents.size).toBeLessThanOrEqual(10_000)
    expect(memory.readyQueue.agents()).toBe(0)
  })

  it('stay as long as anything of them is pending, whatever it waits for', () => {
    const memory = emptyLoadedOrg(orgId('default'), node)
    aTaskOf(memory, 'queued')
    aTaskOf(memory, 'waiting', 'waiting')
    nameAgents(memory, { turns: 24, each: 500 })
    expect(['queued', 'waiting'].map((id) => memory.state.agents.has(agentId(id)))).toEqual([true, true])
  })
})

describe('sessions in which nothing is pending', () => {
  it('are let go of a thousand at a time, those that are needed least recently first', () => {
    const memory = emptyLoadedOrg(orgId('default'), node)
    for (let index = 0; index < 13_000; index += 1) ensureSession(memory, sessionKey(`s${index}`))
    evictIdleRows(memory)
    expect(memory.state.sessions.size).toBe(12_000)
    for (let turn = 0; turn < 5; turn += 1) evictIdleRows(memory)
    expect(memory.state.sessions.size).toBe(10_000)
    expect(['s2999', 's3000'].map((key) => memory.state.sessions.has(sessionKey(key)))).toEqual([false, true])
  })
})
