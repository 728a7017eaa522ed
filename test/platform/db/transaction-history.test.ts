import { describe, expect, it } from 'vitest'
import { packEvents, unpackEvents, type StoredEvent } from '../../../src/engine/transaction/history-store.ts'

const running = { status: 'running' }
const events: readonly StoredEvent[] = [
  ['run.changed', 'run_1', running],
  ['run.changed', 'run_2', running],
  ['run.changed', 'run_3', running],
  ['run.output', 'run_3', running],
  ['run.changed', 'run_1', { status: 'success' }],
  ['run.changed', 'run_2', { status: 'success' }],
]

describe('packing events', () => {
  it('loses nothing and keeps the order', () => {
    expect(unpackEvents(JSON.parse(packEvents(events)))).toEqual(events)
    expect(unpackEvents(JSON.parse(packEvents([])))).toEqual([])
  })

  it('says once what is the same for neighbours of one kind', () => {
    expect((JSON.parse(packEvents(events)) as unknown[])[0]).toEqual([
      'run.changed',
      ['run_1', 'run_2', 'run_3'],
      running,
    ])
    expect(JSON.parse(packEvents(events))).toHaveLength(4)
  })
})
