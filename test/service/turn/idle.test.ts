import { describe, expect, it } from 'vitest'
import { agentId, laneName, orgId, runId, sessionKey } from '../../../src/domain/ids.ts'
import { because } from '../../../src/domain/reasons.ts'
import { makeRun, move } from '../../../src/service/desk/runs.ts'
import { beginTurn } from '../../../src/service/turn/passing.ts'
import { emptyMemory, noteRun, tidyMemory, type Memory, type NodeFacts } from '../../../src/service/turn/memory.ts'
import { noteChanges } from '../../../src/service/turn/notes.ts'
import { sessionFor, taskAgentFor } from '../../../src/service/turn/turn.ts'
import type { RunRow } from '../../../src/store/run-row.ts'
import { NOW } from '../../support/builders.ts'
import { openCabinet } from '../../engine/commands/cabinet.ts'

const { desk: like } = openCabinet()
const node: NodeFacts = {
  ...{ chance: like.chance, settings: () => like.settings, canExecute: () => true, estimate: null },
  laneNames: () => new Set([laneName('main')]),
}

const WHY = because('accepted', 'test')
let made = 0

function aTaskOf(memory: Memory, agent: string, state: 'queued' | 'waiting' = 'queued'): RunRow {
  const id = runId(`tsk_${String((made += 1)).padStart(6, '0')}`)
  taskAgentFor(memory, agentId(agent))
  const run = makeRun(memory.desk, {
    ...{ id, agentId: agentId(agent), executorKey: 'tab-action', jobRunId: id, trigger: 'task' },
    ...{ lane: laneName('main'), state, decision: WHY, payload: null },
  })
  noteRun(memory, run)
  return run
}

/** Turns in each of which some agents are named by a task that ends in it. */
function nameAgents(memory: Memory, { turns, each }: { readonly turns: number; readonly each: number }): void {
  for (let no = 1; no <= turns; no += 1) {
    beginTurn(memory, { now: NOW, no })
    for (let index = 0; index < each; index += 1)
      move(memory.desk, aTaskOf(memory, `once-${no}-${index}`), { event: 'cancel', why: WHY })
    noteChanges(memory, node)
    tidyMemory(memory)
  }
}

describe('agents that tasks name once', () => {
  it('are not remembered for ever', () => {
    const memory = emptyMemory(orgId('default'), node)
    nameAgents(memory, { turns: 24, each: 500 })
    expect(memory.desk.runs.size).toBe(0)
    expect(memory.desk.agents.size).toBeLessThanOrEqual(10_000)
    expect(memory.lineUp.agents()).toBe(0)
  })

  it('stay as long as anything of them is pending, whatever it waits for', () => {
    const memory = emptyMemory(orgId('default'), node)
    aTaskOf(memory, 'queued')
    aTaskOf(memory, 'waiting', 'waiting')
    nameAgents(memory, { turns: 24, each: 500 })
    expect(['queued', 'waiting'].map((id) => memory.desk.agents.has(agentId(id)))).toEqual([true, true])
  })
})

describe('sessions in which nothing is pending', () => {
  it('are let go of a thousand at a time, those that are needed least recently first', () => {
    const memory = emptyMemory(orgId('default'), node)
    for (let index = 0; index < 13_000; index += 1) sessionFor(memory, sessionKey(`s${index}`))
    tidyMemory(memory)
    expect(memory.desk.sessions.size).toBe(12_000)
    for (let turn = 0; turn < 5; turn += 1) tidyMemory(memory)
    expect(memory.desk.sessions.size).toBe(10_000)
    expect(['s2999', 's3000'].map((key) => memory.desk.sessions.has(sessionKey(key)))).toEqual([false, true])
  })
})
