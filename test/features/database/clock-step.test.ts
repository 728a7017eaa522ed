import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, laneName, sessionKey } from '../../../src/domain/ids.ts'
import { HOUR_MS } from '../../../src/domain/instant.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import { nextDueTime } from '../../../src/engine/transaction/pass-time.ts'
import { ensureSession } from '../../../src/engine/transaction/transaction.ts'
import { reportCommand } from '../../../src/engine/commands/engine-commands.ts'
import { ORG } from '../../platform/db/records.ts'
import { openNode, type TestNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

let world: ServiceWorld
beforeAll(async () => {
  world = await createServiceWorld()
})
afterAll(() => world.drop())
beforeEach(() => world.startOver('clock_step', 'pending', 'run', 'session', 'turn', 'node'))

const CHAT = sessionKey('agent:writer:test:direct:one')
const AHEAD_MS = 2 * HOUR_MS
/** Longer than the first wait before a retry, which is two seconds and some chance. */
const FIRST_WAIT_MS = 3_000

const saying = (action: string, chat = CHAT): Command<unknown> => ({
  orgId: ORG,
  needs: { agents: [agentId('writer')], sessions: [chat] },
  apply: (desk) => {
    ensureSession({ state: desk }, chat)
    submit(desk, {
      ...{ trigger: 'message', agentId: agentId('writer'), sessionKey: chat, sender: null, sentAt: null },
      ...{ content: { action }, lane: laneName('main'), priority: 0, notBefore: null },
      ...{ deadline: null, retryPolicy: null, parentRunId: null, rules: { debounceMs: 0 } },
    })
  },
})

/** What the node works on fails, and is to be tried again. */
const fails = ({ held }: TestNode): readonly Command<unknown>[] =>
  held.splice(0).map(({ run: { id }, attemptId }) => {
    const outcome = { kind: 'failed', errorCode: 'agent_error', retryable: true, retryAfterMs: null } as const
    return reportCommand(ORG, id, { attemptId, outcome }) as Command<unknown>
  })

/** Conversations whose first message waits for its second attempt, planned two hours ahead of the right time. */
async function waitingAhead({ maxChanges = Infinity, conversations = 1 } = {}): Promise<TestNode> {
  const node = await openNode(world, { lane: 'main', maxChanges })
  world.pass(AHEAD_MS)
  const chats = [CHAT, ...Array.from({ length: conversations - 1 }, (_, no) => sessionKey(`${CHAT}:${no}`))]
  await node.turn(...chats.map((chat) => saying('first', chat)))
  await node.turn(saying('second'))
  expect(node.started).toEqual(chats.map(() => 'first'))
  await node.turn(...fails(node))
  return node
}

/** When the runs that wait are due, by id. */
const waits = async (): Promise<readonly number[]> => {
  const rows = await world.rows('select not_before from pending where not_before is not null order by id')
  return rows.map((row) => row['not_before'] as number)
}

/** How many runs are still to be moved. */
const left = async (): Promise<unknown> =>
  (await world.rows('select coalesce(sum(cardinality(runs)), 0)::int as left from clock_step'))[0]?.['left']

/** The clock is right again, and the wait of the retry passes by it. */
async function setRight(node: TestNode): Promise<void> {
  world.pass(-AHEAD_MS)
  await node.turn()
  const due = nextDueTime(node.memory) ?? Infinity
  expect(due - world.now).toBeLessThanOrEqual(FIRST_WAIT_MS)
  world.pass(FIRST_WAIT_MS)
  await node.turn()
}

describe('a retry that was planned while the clock of the database was two hours ahead', () => {
  it('begins after its wait by the right clock, and the conversation goes on', async () => {
    const node = await waitingAhead()
    await setRight(node)
    expect(node.started).toEqual(['first', 'first'])
    await node.turn(...node.reports(1))
    await node.turn()
    expect(node.started).toEqual(['first', 'first', 'second'])
  })

  it('does so on a node that has started since', async () => {
    await waitingAhead()
    world.pass(-AHEAD_MS)
    const other = await openNode(world, { lane: 'main' })
    world.pass(AHEAD_MS)
    await setRight(other)
    expect(other.started).toEqual(['first'])
    await other.turn(...other.reports(1))
    await other.turn()
    expect(other.started).toEqual(['first', 'second'])
  })

  it('does so when the clock goes ahead, behind and right again', async () => {
    const node = await waitingAhead()
    world.pass(-2 * AHEAD_MS)
    await node.turn()
    world.pass(AHEAD_MS)
    await node.turn()
    expect(node.started).toEqual(['first', 'first'])
  })

  it('keeps its wait when a second node sees the clock set right, too', async () => {
    const other = await openNode(world, { lane: 'main' })
    const node = await waitingAhead()
    await other.turn()
    world.pass(-AHEAD_MS)
    await node.turn()
    const due = nextDueTime(node.memory)
    await other.turn()
    expect(nextDueTime(other.memory)).toBe(due)
  })

  it('is moved once by whichever node goes on, when more wait than one transaction changes', async () => {
    const first = await waitingAhead({ maxChanges: 2, conversations: 5 })
    const planned = await waits()
    world.pass(-AHEAD_MS)
    await first.turn()
    expect(await left()).toBe(3)
    // The node that has noticed it takes no further turn; one that has started since and one that has heard of it do.
    const heard = await openNode(world, { lane: 'main', maxChanges: 2 })
    await heard.turn()
    const other = await openNode(world, { lane: 'main', maxChanges: 2 })
    await other.turn()
    await heard.turn()
    expect([await waits(), await left()]).toEqual([planned.map((at) => at - AHEAD_MS), 0])
  })

  it('is moved by every step when the clock is set back again before all are moved', async () => {
    const node = await waitingAhead({ maxChanges: 2, conversations: 5 })
    const planned = await waits()
    world.pass(-AHEAD_MS / 2)
    await node.turn()
    world.pass(-AHEAD_MS / 2)
    for (let turns = 0; turns < 6; turns += 1) await node.turn()
    expect([await waits(), await left()]).toEqual([planned.map((at) => at - AHEAD_MS), 0])
  })
})
