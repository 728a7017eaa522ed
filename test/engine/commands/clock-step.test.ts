import { describe, expect, it } from 'vitest'
import { agentId, laneName, orgId, runId } from '../../../src/domain/ids.ts'
import { HOUR_MS, later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { createRun } from '../../../src/engine/commands/runs.ts'
import {
  emptyLoadedOrg,
  type LoadedOrg,
  type NodeCapabilities,
  reindexRun,
} from '../../../src/engine/org-state/memory.ts'
import { beginOrgTransaction, advanceTime, nextDueTime } from '../../../src/engine/transaction/pass-time.ts'
import { isUnchanged } from '../../../src/engine/transaction/save.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import { NOW } from '../../support/builders.ts'
import { openCabinet } from './cabinet.ts'

const AHEAD = later(NOW, 2 * HOUR_MS)

function open(): { readonly memory: LoadedOrg; readonly node: NodeCapabilities } {
  const { desk: like } = openCabinet()
  const node: NodeCapabilities = {
    ...{ randomSource: like.randomSource, settings: () => like.settings, canExecute: () => true, estimate: null },
    laneNames: () => new Set([laneName('main')]),
  }
  return { memory: emptyLoadedOrg(orgId('default'), node), node }
}

let made = 0
function aRun(memory: LoadedOrg, more: Partial<RunRow>): RunRow {
  const id = runId(`run_${(made += 1)}`)
  const run = createRun(memory.state, {
    ...{ id, agentId: agentId('a'), executorKey: 'echo', jobRunId: id, trigger: 'message', payload: null },
    ...{ lane: laneName('main'), state: 'waiting', decision: because('accepted', 'test') },
    ...more,
  })
  reindexRun(memory, run)
  return run
}

describe("a server's clock that is set back", () => {
  const step = (more: Partial<RunRow>): RunRow => {
    const { memory, node } = open()
    beginOrgTransaction(memory, { now: AHEAD, no: 1 })
    const run = aRun(memory, more)
    beginOrgTransaction(memory, { now: NOW, no: 2, newestAt: AHEAD })
    advanceTime(memory, node)
    return run
  }

  it('takes the time of the org with it, and the wait of a message that was debounced by the clock before', () => {
    const run = step({ debouncing: true, notBefore: later(AHEAD, 800) })
    expect(run.notBefore).toBe(later(NOW, 800))
  })

  it('moves the wait before a retry', () => {
    expect(step({ attempt: 2, notBefore: later(AHEAD, 4_000) }).notBefore).toBe(later(NOW, 4_000))
  })

  it('leaves a time alone that a caller has named', () => {
    const decision = because('delayed', 'not_before', { not_before: 'then' })
    expect(step({ decision, notBefore: later(AHEAD, HOUR_MS) }).notBefore).toBe(later(AHEAD, HOUR_MS))
  })

  it('gives what is stopping its grace and no more', () => {
    const run = step({ state: 'stopping', attemptId: null, graceUntil: later(AHEAD, 5_000) })
    expect(run.graceUntil).toBe(later(NOW, 5_000))
  })

  it('is noticed by a node that has just loaded the org, from the time of its newest turn', () => {
    const { memory, node } = open()
    const run = aRun(memory, { debouncing: true, notBefore: later(AHEAD, 800) })
    beginOrgTransaction(memory, { now: NOW, no: 2, newestAt: AHEAD })
    advanceTime(memory, node)
    expect([memory.state.now, run.notBefore, nextDueTime(memory)]).toEqual([NOW, later(NOW, 800), later(NOW, 800)])
  })

  it('is worked off a piece per turn when many wait', () => {
    const { memory, node } = open()
    beginOrgTransaction(memory, { now: AHEAD, no: 1 })
    const runs = Array.from({ length: 10 }, () => aRun(memory, { debouncing: true, notBefore: later(AHEAD, 800) }))
    const left = (): number => runs.filter(({ notBefore }) => (notBefore ?? 0) > AHEAD).length
    const seen: number[] = []
    for (let no = 2; no < 6; no += 1) {
      beginOrgTransaction(memory, { now: NOW, no, newestAt: no === 2 ? AHEAD : NOW })
      advanceTime(memory, node, { allowance: { left: 4, isOver: () => false }, between: () => undefined })
      seen.push(left())
    }
    expect(seen).toEqual([6, 2, 0, 0])
  })

  it('is worked off also while no turn is kept, because what was looked at first waits for nothing', () => {
    const { memory, node } = open()
    beginOrgTransaction(memory, { now: AHEAD, no: 1 })
    const run = aRun(memory, { attempt: 2, notBefore: later(AHEAD, 4_000) })
    for (let count = 0; count < 10; count += 1) aRun(memory, { state: 'queued' })
    for (let [turns, newestAt] = [0, AHEAD]; turns < 3; turns += 1) {
      beginOrgTransaction(memory, { now: NOW, no: 2, newestAt })
      advanceTime(memory, node, { allowance: { left: 4, isOver: () => false }, between: () => undefined })
      if (!isUnchanged(memory.state.changes)) newestAt = NOW
    }
    expect(run.notBefore).toBe(later(NOW, 4_000))
  })

  it('moves nothing a second time on a node that hears of it after another one has', () => {
    const { memory, node } = open()
    beginOrgTransaction(memory, { now: AHEAD, no: 1 })
    const retried = aRun(memory, { attempt: 2, notBefore: later(NOW, 4_000) })
    const working = aRun(memory, { state: 'running', startedAt: AHEAD, endsBy: later(NOW, HOUR_MS) })
    beginOrgTransaction(memory, { now: NOW, no: 3, newestAt: NOW })
    advanceTime(memory, node)
    expect([memory.state.now, retried.notBefore, working.endsBy]).toEqual([NOW, later(NOW, 4_000), later(NOW, HOUR_MS)])
  })

  it('is no step when it is behind by less than a second: then time stands still for so long', () => {
    const { memory } = open()
    beginOrgTransaction(memory, { now: later(NOW, 900), no: 1 })
    beginOrgTransaction(memory, { now: NOW, no: 2, newestAt: later(NOW, 900) })
    expect([memory.state.now, memory.state.clockSteps]).toEqual([later(NOW, 900), []])
  })
})
