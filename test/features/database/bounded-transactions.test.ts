import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, laneName, sessionKey } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { stopSession, type StopResult } from '../../../src/engine/commands/cancel.ts'
import { created } from '../../../src/features/audit/entry.ts'
import { submit, type Submission } from '../../../src/engine/commands/submit.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { ensureSession } from '../../../src/engine/transaction/transaction.ts'
import { nextDueTime } from '../../../src/engine/transaction/pass-time.ts'
import { ORG } from '../../platform/db/records.ts'
import { openNode, type TestNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
beforeAll(async () => {
  world = await createServiceWorld()
})
afterAll(() => world.drop())
beforeEach(() => world.startOver('clearing', 'pending', 'run', 'session', 'turn', 'node'))

const CHAT = sessionKey('agent:writer:test:direct:many')

/** Hands in work of one kind; it starts in no lane that the node serves unless `lane` says so. */
const handIn = (count: number, more: Partial<Submission>): Command<void> => ({
  orgId: ORG,
  needs: { agents: [agentId('writer')], ...(more.sessionKey ? { sessions: [more.sessionKey] } : {}) },
  apply: (desk) => {
    if (more.sessionKey) ensureSession({ state: desk }, more.sessionKey)
    for (let index = 0; index < count; index += 1)
      submit(desk, {
        ...{ trigger: 'message', agentId: agentId('writer'), sessionKey: null, sender: null, sentAt: null },
        ...{ content: { action: `work ${index}` }, lane: laneName('main'), priority: 0, notBefore: null },
        ...{ deadline: null, retryPolicy: null, parentRunId: null, rules: { debounceMs: 0 } },
        ...more,
      })
  },
})

const stopAll: Command<StopResult> = {
  orgId: ORG,
  needs: { sessions: [CHAT] },
  apply: (desk) => stopSession(desk, CHAT, { how: 'stopall' }),
}

const changeOrg: Command<unknown> = {
  orgId: ORG,
  needs: {},
  apply: ({ changes }) => {
    changes.events.push({ kind: 'org.changed', subject: ORG, data: { change: 'updated' } })
    changes.audits.push(created('key_1', { kind: 'org', id: ORG }, {}))
  },
}

const states = async (): Promise<Readonly<Record<string, number>>> => {
  const rows = await world.rows(
    `select coalesce(r.state, p.state) as state, count(*)::int as count
       from run r left join pending p on p.org_id = r.org_id and p.id = r.id group by 1`,
  )
  return Object.fromEntries(rows.map((row) => [row['state'] as string, row['count'] as number]))
}

/** Takes turns until nothing is left that a turn would do by itself now. Answers with how many runs ended in each. */
async function untilQuiet(node: TestNode): Promise<readonly number[]> {
  const ended: number[] = []
  for (let at = nextDueTime(node.memory); at !== null && at <= world.now; at = nextDueTime(node.memory)) {
    const before = node.memory.state.runs.size
    await node.turn()
    ended.push(before - node.memory.state.runs.size)
    if (ended.length > 1_000) throw new Error('it does not come to an end')
  }
  return ended
}

describe('many runs whose deadline has passed', () => {
  it('end in turns of a bounded size, and none of them starts', async () => {
    const node = await openNode(world, { maxChanges: 7 })
    const deadline = later(world.now, 1_000)
    await node.turn(handIn(50, { deadline, notBefore: later(world.now, 500) }) as Command<unknown>)
    world.pass(2_000)
    const ended = await untilQuiet(node)
    expect(Math.max(...ended)).toBeLessThanOrEqual(7)
    expect(await states()).toEqual({ expired: 50 })
    expect(node.started).toEqual([])
  })

  it('end instead of starting when they are first in line', async () => {
    const node = await openNode(world, { maxChanges: 7, lane: 'main' })
    await node.turn(handIn(9, { lane: laneName('task') }) as Command<unknown>)
    await node.turn(handIn(20, { deadline: later(world.now, 1_000) }) as Command<unknown>)
    const before = node.started.length
    world.pass(2_000)
    await node.turn()
    await untilQuiet(node)
    expect(node.started).toHaveLength(before)
  })
})

describe('/stopall in a session with more waiting runs than one turn may change', () => {
  const fill = async (node: TestNode): Promise<void> => {
    await node.turn(handIn(40, { sessionKey: CHAT, rules: { debounceMs: 0, cap: 1_000 } }) as Command<unknown>)
    world.pass(10)
  }

  it('answers with all of them, cancels them in pieces and starts none', async () => {
    const node = await openNode(world, { maxChanges: 7 })
    await fill(node)
    expect(await node.turn(stopAll as Command<unknown>)).toEqual([{ stopped: 0, drained: 40 }])
    const ended = await untilQuiet(node)
    expect(Math.max(...ended)).toBeLessThanOrEqual(7)
    expect(await states()).toEqual({ cancelled: 40 })
    expect(await world.rows('select 1 from clearing')).toEqual([])
    const [reasons] = await world.rows(`select array_agg(distinct why->>'reason') as reasons from run`)
    expect(reasons).toEqual({ reasons: ['stopped_all'] })
  })

  it('goes on at another node when the first one is gone, and lets later messages run', async () => {
    const node = await openNode(world, { maxChanges: 7 })
    await fill(node)
    await node.turn(stopAll as Command<unknown>)
    const other = await openNode(world, { maxChanges: 7, lane: 'main' })
    await other.turn(handIn(1, { sessionKey: CHAT, content: { action: 'later' } }) as Command<unknown>)
    await untilQuiet(other)
    expect(other.started).toEqual(['later'])
    expect(await states()).toEqual({ cancelled: 40, running: 1 })
  })

  it('is remembered when the limits of the org are changed in the same transaction', async () => {
    const node = await openNode(world, { maxChanges: 7 })
    await fill(node)
    await node.turn(stopAll as Command<unknown>, changeOrg)
    expect(node.memory.state.clearings.size).toBe(1)
  })

  it('counts nothing of it against the cap of the session any more', async () => {
    const node = await openNode(world, { maxChanges: 7 })
    await fill(node)
    await node.turn(stopAll as Command<unknown>)
    await node.turn(handIn(1, { sessionKey: CHAT, rules: { debounceMs: 0, cap: 5 } }) as Command<unknown>)
    await untilQuiet(node)
    expect(await states()).toEqual({ cancelled: 40, queued: 1 })
  })
})
