import { describe, expect, it } from 'vitest'
import { laneName, orgId } from '../../../src/domain/ids.ts'
import { noChanges } from '../../../src/engine/org-state/org-state.ts'
import { emptyLoadedOrg, removeRun, type LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import { hasPayloadRoom, keepPayloads } from '../../../src/engine/org-state/payloads.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import { aRun as aRunOf } from './a-run.ts'
import { openCabinet } from '../commands/cabinet.ts'

const MIB = 1_024 * 1_024
const TEXT = 'x'.repeat(MIB)

function open(): LoadedOrg {
  const { desk: like } = openCabinet()
  return emptyLoadedOrg(orgId('default'), {
    ...{ randomSource: like.randomSource, settings: () => like.settings, canExecute: () => true, estimate: null },
    laneNames: () => new Set([laneName('main')]),
  })
}

const aRun = (memory: LoadedOrg, more: Partial<RunRow> = {}): RunRow => aRunOf(memory, { payload: TEXT, ...more })

const isKept = (run: RunRow): boolean => run.payload !== undefined

describe('payloads of pending runs', () => {
  it('stay in memory while there is room, whatever their size', () => {
    const memory = open()
    const runs = [aRun(memory, { payload: 'small' }), aRun(memory)]
    keepPayloads(memory)
    expect(runs.map(isKept)).toEqual([true, true])
  })

  it('never take more than their share of memory: the oldest give way', () => {
    const memory = open()
    const runs = Array.from({ length: 40 }, () => aRun(memory))
    keepPayloads(memory)
    const kept = runs.map(isKept)
    expect(kept.filter(Boolean).length).toBeLessThanOrEqual(32)
    expect(kept).toEqual(kept.toSorted())
    expect(kept.at(-1)).toBe(true)
  })

  it('make room when their runs end', () => {
    const memory = open()
    const runs = Array.from({ length: 30 }, () => aRun(memory))
    keepPayloads(memory)
    expect(hasPayloadRoom(memory.payloads)).toBe(false)
    for (const run of runs) removeRun(memory, run)
    expect(memory.payloads).toEqual({ sizes: new Map(), bytes: 0 })
  })

  it('stay as long as messages are merged into them, and count from then on', () => {
    const memory = open()
    const window = aRun(memory, { state: 'waiting', debouncing: true })
    for (let index = 0; index < 40; index += 1) aRun(memory)
    keepPayloads(memory)
    expect(isKept(window)).toBe(true)
    window.debouncing = false
    memory.state.changes.changed.add(window)
    keepPayloads(memory)
    expect(memory.payloads.sizes.has(window.id)).toBe(true)
  })

  it('are not kept of runs that have ended', () => {
    const memory = open()
    const run = aRun(memory, { state: 'rejected' })
    keepPayloads(memory)
    expect([isKept(run), memory.payloads.bytes]).toEqual([false, 0])
  })

  it('are not measured again when their runs end: that is done for every run', () => {
    const memory = open()
    let measured = 0
    const toJSON = (): string => `${(measured += 1)}`
    const run = aRun(memory, { payload: { toJSON } })
    keepPayloads(memory)
    removeRun(memory, run)
    run.state = 'success'
    memory.state.changes = noChanges()
    memory.state.changes.changed.add(run)
    keepPayloads(memory)
    expect(measured).toBe(1)
  })
})
