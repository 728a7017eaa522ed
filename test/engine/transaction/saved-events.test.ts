import { describe, expect, it } from 'vitest'
import { sessionKey } from '../../../src/domain/ids.ts'
import { ensureSession } from '../../../src/engine/transaction/transaction.ts'
import { saveTransaction } from '../../../src/engine/transaction/save.ts'
import type { OrgState } from '../../../src/engine/org-state/org-state.ts'
import type { Transaction } from '../../../src/platform/db/database.ts'
import type { StoredEvent } from '../../../src/engine/transaction/history-store.ts'
import { openCabinet } from '../commands/cabinet.ts'

/** A connection that accepts every statement. */
const ANY: Transaction = { inTransaction: true, query: () => Promise.resolve([]), send: () => undefined }

const save = (desk: OrgState): readonly StoredEvent[] =>
  saveTransaction(ANY, desk, { nodeId: 'nod_1', changedBefore: 0 })

/** A turn in which each of `count` sessions begins with a message; counts how often an event is looked at. */
function firstMessages(count: number): { readonly events: readonly StoredEvent[]; readonly looks: number } {
  const { desk } = openCabinet()
  let looks = 0
  for (let index = 0; index < count; index += 1) {
    ensureSession({ state: desk }, sessionKey(`s${index}`))
    desk.changes.events.push({
      kind: 'run.changed',
      get subject() {
        looks += 1
        return `r${index}`
      },
      data: {},
    })
  }
  return { events: save(desk), looks }
}

describe('the events of a turn in which many sessions begin', () => {
  it('name every session', () => {
    expect(firstMessages(3).events.slice(3)).toEqual(['s0', 's1', 's2'].map((key) => ['session.changed', key, {}]))
  })

  it('are written in time that grows with their number, not with its square', () => {
    expect(firstMessages(2_000).looks).toBeLessThanOrEqual(4 * 2_000)
  })
})

describe('a session that has the name of an agent', () => {
  it('is named beside the agent when both change in one turn', () => {
    const { desk } = openCabinet()
    desk.changes.events.push({ kind: 'agent.changed', subject: 'helper', data: {} })
    ensureSession({ state: desk }, sessionKey('helper'))
    expect(save(desk).map(([kind, subject]) => [kind, subject])).toEqual([
      ['agent.changed', 'helper'],
      ['session.changed', 'helper'],
    ])
  })

  it('is named once when an event tells of it already', () => {
    const { desk } = openCabinet()
    desk.changes.events.push({ kind: 'session.changed', subject: 'helper', data: { paused: true } })
    ensureSession({ state: desk }, sessionKey('helper'))
    expect(save(desk)).toHaveLength(1)
  })
})
