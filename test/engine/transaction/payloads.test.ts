import { describe, expect, it } from 'vitest'
import { laneName, orgId } from '../../../src/domain/ids.ts'
import { noChanges } from '../../../src/service/desk/desk.ts'
import { emptyMemory, forgetRun, type Memory } from '../../../src/service/turn/memory.ts'
import { hasRoom, keepPayloads } from '../../../src/service/turn/payloads.ts'
import type { RunRow } from '../../../src/store/run-row.ts'
import { aRun as aRunOf } from './a-run.ts'
import { openCabinet } from '../commands/cabinet.ts'

const MIB = 1_024 * 1_024
const TEXT = 'x'.repeat(MIB)

function open(): Memory {
  const { desk: like } = openCabinet()
  return emptyMemory(orgId('default'), {
    ...{ chance: like.chance, settings: () => like.settings, canExecute: () => true, estimate: null },
    laneNames: () => new Set([laneName('main')]),
  })
}

const aRun = (memory: Memory, more: Partial<RunRow> = {}): RunRow => aRunOf(memory, { payload: TEXT, ...more })

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
    expect(hasRoom(memory.payloads)).toBe(false)
    for (const run of runs) forgetRun(memory, run)
    expect(memory.payloads).toEqual({ sizes: new Map(), bytes: 0 })
  })

  it('stay as long as messages are merged into them, and count from then on', () => {
    const memory = open()
    const window = aRun(memory, { state: 'waiting', debouncing: true })
    for (let index = 0; index < 40; index += 1) aRun(memory)
    keepPayloads(memory)
    expect(isKept(window)).toBe(true)
    window.debouncing = false
    memory.desk.changes.changed.add(window)
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
    forgetRun(memory, run)
    run.state = 'success'
    memory.desk.changes = noChanges()
    memory.desk.changes.changed.add(run)
    keepPayloads(memory)
    expect(measured).toBe(1)
  })
})
