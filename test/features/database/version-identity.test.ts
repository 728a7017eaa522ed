import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, laneName } from '../../../src/domain/ids.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import { catchUpWithoutLock, StateBehind } from '../../../src/engine/transaction/catch-up.ts'
import { StateTooOld } from '../../../src/engine/transaction/history-store.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { loadOrgState } from '../../../src/engine/org-state/load.ts'
import { runTransaction } from '../../../src/engine/transaction/transaction.ts'
import type { Database, Transaction } from '../../../src/platform/db/database.ts'
import { ORG } from '../../platform/db/records.ts'
import { openNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
beforeAll(async () => {
  world = await createServiceWorld()
})
afterAll(() => world.drop())
beforeEach(() => world.startOver('pending', 'run', 'turn', 'node'))

const one = (text: string): Command<unknown> => ({
  orgId: ORG,
  needs: { agents: [agentId('writer')] },
  apply: (desk) =>
    submit(desk, {
      ...{ trigger: 'message', agentId: agentId('writer'), sessionKey: null, sender: null, sentAt: null },
      ...{ content: { action: text }, lane: laneName('main'), priority: 0, notBefore: null, deadline: null },
      ...{ retryPolicy: null, parentRunId: null, rules: { debounceMs: 0 } },
    }),
})

/** What a failover does to a copy that has not received the last turns. */
const loseTurnsAfter = (no: number): Promise<unknown> =>
  world.db.query(`
    delete from pending where id in (select jsonb_array_elements_text(to_jsonb(array(
      select subject from turn, lateral (select e->>1 as subject from json_array_elements(events) e) s where no > ${no}))));
    delete from run where id not in (select id from pending) and state is null;
    delete from turn where no > ${no};
    update org_version v set no = t.no, at = t.at, node_id = t.node_id
      from turn t where t.org_id = v.org_id and t.no = ${no}`)

describe('a node that remembers turns which were lost', () => {
  it('does not take other turns of the same number for them', async () => {
    const one_ = await openNode(world)
    await one_.turn(one('kept'))
    await one_.turn(one('lost'))
    const { version } = one_.memory
    await loseTurnsAfter(version - 1)
    world.pass(10)
    const other = await openNode(world)
    await other.turn(one('new'))
    expect(other.memory.version).toBe(version)
    await expect(one_.turn()).rejects.toThrow(StateTooOld)
  })

  it('does not follow turns that do not begin where its memory ends', async () => {
    const first = await openNode(world)
    await first.turn(one('kept'))
    await first.turn(one('lost'))
    await loseTurnsAfter(first.memory.version - 1)
    world.pass(10)
    const other = await openNode(world)
    for (const text of ['new', 'newer', 'newest']) await other.turn(one(text))
    await expect(first.turn()).rejects.toThrow(StateTooOld)
  })

  it('loads again when one turn of the history is missing', async () => {
    const first = await openNode(world)
    await first.turn(one('first'))
    const other = await openNode(world)
    for (const text of ['a', 'b', 'c']) await other.turn(one(text))
    await world.db.query(`delete from turn where no = ${first.memory.version + 2}`)
    await expect(first.turn()).rejects.toThrow(StateTooOld)
  })

  it('keeps nothing of a turn whose rows are not on record', async () => {
    const node = await openNode(world, { lane: 'main' })
    await node.turn(one('held'))
    await world.db.query('delete from pending')
    await expect(node.turn(...node.reports(1))).rejects.toMatchObject({ code: 'record_differs' })
    const [row] = await world.rows('select state from run')
    expect(row).toEqual({ state: null })
  })
})

describe('a memory that is loaded while others write', () => {
  it('holds nothing that is newer than its version, because that may be lost with a failover', async () => {
    const other = await openNode(world)
    await other.turn(one('before'))
    const meanwhile: Pick<Database, 'transaction'> = {
      transaction: (work, options) =>
        world.db.transaction((tx) => {
          const query: Transaction['query'] = async (text, params) => {
            const rows = await tx.query(text, params)
            if (text.includes('from org_version')) await other.turn(one('meanwhile'))
            return rows
          }
          return work({ ...tx, query })
        }, options),
    }
    const memory = await loadOrgState(meanwhile, other.facts, ORG)
    expect([memory.version, memory.state.runs.size]).toEqual([other.memory.version - 1, 1])
  })
})

describe('a node whose lease was read in a turn', () => {
  it('is sure of it for as long as it had left, counted from before it asked', async () => {
    const node = await openNode(world)
    const result = await runTransaction(
      { database: world.db, node: node.facts, nodeId: node.id, askedAt: 1_000, syncClock: (said) => said },
      node.memory,
      { ahead: () => [], committing: () => undefined, commands: () => [], offer: () => null },
    )
    const [row] = await world.rows(
      `select extract(epoch from lease_until - clock_timestamp()) * 1000 as left from node where id = '${node.id}'`,
    )
    const left = (result.sureUntil ?? 0) - 1_000
    expect(left).toBeGreaterThan(Number(row?.['left']))
    expect(left).toBeLessThan(Number(row?.['left']) + 60_000)
  })
})

describe('a node that is many turns behind', () => {
  it('takes them in before it takes the lock, and knows all of them', async () => {
    const behind = await openNode(world)
    await behind.turn(one('first'))
    const busy = await openNode(world)
    for (let index = 0; index < 70; index += 1) await busy.turn(one(`more ${index}`))
    await expect(behind.turn()).rejects.toThrow(StateBehind)
    expect(behind.memory.isUnsettled).toBe(false)
    expect(await catchUpWithoutLock(world.db, behind.memory, behind.facts)).toHaveLength(70)
    await behind.turn()
    expect(behind.memory.state.runs.size).toBe(71)
  })
})
