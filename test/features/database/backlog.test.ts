import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { agentId, laneName, type SessionKey, sessionKey } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { cancelRun, stopSession, type StopResult } from '../../../src/engine/commands/cancel.ts'
import { submit, type Submission, type SubmitResult } from '../../../src/engine/commands/submit.ts'
import type { Command } from '../../../src/engine/commands-port.ts'
import type { LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import { loadOrgState } from '../../../src/engine/org-state/load.ts'
import { ensureSession } from '../../../src/engine/transaction/transaction.ts'
import { nextDueTime } from '../../../src/engine/transaction/pass-time.ts'
import { DEFAULT_SETTINGS } from '../../../src/features/config/settings.ts'
import { runId } from '../../../src/domain/ids.ts'
import { ORG } from '../../platform/db/records.ts'
import { openNode, type TestNode } from './node.ts'
import { createServiceWorld, type ServiceWorld } from './world.ts'

/** Long queues with nodes that keep very little of them in memory, on a real database. */
const WINDOW = { line: 4, session: 3, org: 50_000 }
const CHAT = sessionKey('agent:writer:test:direct:many')

let world: ServiceWorld
beforeAll(async () => {
  world = await createServiceWorld()
  const tasks = { ...DEFAULT_SETTINGS.tasks, maxQueue: 1_000, maxPerAgent: 1_000 }
  world.settings = { ...DEFAULT_SETTINGS, tasks, sessions: { ...DEFAULT_SETTINGS.sessions, cap: 1_000 } }
})
afterAll(() => world.drop())
beforeEach(() =>
  world.startOver('clearing', 'pending', 'backlog', 'backlog_line', 'attempt', 'run', 'session', 'turn', 'node'),
)

const handIn = (names: readonly string[], more: Partial<Submission> = {}): Command<readonly SubmitResult[]> => ({
  orgId: ORG,
  needs: {
    agents: [agentId('writer')],
    sessions: more.sessionKey ? names.map(() => more.sessionKey as SessionKey) : [],
  },
  apply: (state) => {
    if (more.sessionKey) ensureSession({ state }, more.sessionKey)
    return names.map((name) =>
      submit(state, {
        ...{ trigger: 'task', agentId: agentId('writer'), sessionKey: null, sender: null, sentAt: null },
        ...{ content: { action: name }, lane: laneName('task'), priority: 0, notBefore: null },
        ...{ deadline: null, retryPolicy: null, parentRunId: null, rules: { debounceMs: 0 } },
        ...more,
      }),
    )
  },
})

const stopAll: Command<StopResult> = {
  orgId: ORG,
  needs: { sessions: [CHAT] },
  apply: (state) => stopSession(state, CHAT, { how: 'stopall' }),
}

const names = (count: number, prefix = ''): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(3, '0')}`)

const count = async (table: string): Promise<unknown> =>
  (await world.rows(`select count(*)::int as count from ${table}`))[0]?.['count']

const turn = (node: TestNode, command: unknown): Promise<readonly unknown[]> => node.turn(command as Command<unknown>)

const idsIn = ({ state }: LoadedOrg): readonly string[] => [...state.runs.values()].map(({ id }) => id).sort()

/** What a node believes of the backlog is what another one finds that loads the org. */
async function expectSameBacklog({ memory, facts }: TestNode): Promise<void> {
  const fresh = await loadOrgState(world.db, facts, ORG)
  const { lines, ...counts } = memory.state.backlog
  const { lines: loaded, ...loadedCounts } = fresh.state.backlog
  expect([...lines.values()]).toEqual([...loaded.values()])
  expect({ ...counts, wakesAt: null }).toEqual({ ...loadedCounts, wakesAt: null })
  if (fresh.state.backlog.wakesAt !== null) {
    expect(counts.wakesAt).not.toBeNull()
    expect(counts.wakesAt).toBeLessThanOrEqual(fresh.state.backlog.wakesAt)
  }
  expect(idsIn(memory)).toEqual(idsIn(fresh))
}

describe('a queue that is longer than what nodes keep in memory', () => {
  it('is drained in order by two nodes, each run once', async () => {
    const [one, two] = [await openNode(world, { window: WINDOW }), await openNode(world, { window: WINDOW })]
    await turn(one, handIn(names(60)))
    // Nine have started, and four are next.
    expect(await count('pending')).toBe(13)
    expect(await count('backlog')).toBe(47)
    const nodes = [one, two]
    const order = [...one.started]
    for (let round = 0; (await count('run where state is null')) !== 0; round += 1) {
      const node = nodes[round % 2] as TestNode
      const other = nodes[(round + 1) % 2] as TestNode
      const before = node.started.length
      await node.turn(...other.reports(1), ...node.reports(1))
      order.push(...node.started.slice(before))
      await expectSameBacklog(node)
      expect(round).toBeLessThan(100)
    }
    expect(order).toEqual(names(60))
    expect(await count('backlog')).toBe(0)
    expect(await count('backlog_line')).toBe(0)
    expect(await count('pending')).toBe(0)
  })

  it('lets a better priority go first, wherever it waits', async () => {
    // It serves another lane.
    const idle = await openNode(world, { window: WINDOW, lane: 'main' })
    await turn(idle, handIn(names(30, 'usual ')))
    await turn(idle, handIn(names(20, 'late '), { priority: 5 }))
    await turn(idle, handIn(names(20, 'urgent '), { priority: -5 }))
    const node = await openNode(world, { window: WINDOW })
    await node.turn()
    while ((await count('run where state is null')) !== 0) await node.turn(...node.reports(1))
    expect(node.started).toEqual([...names(20, 'urgent '), ...names(30, 'usual '), ...names(20, 'late ')])
  })

  it('ends what has passed its deadline there, in pieces', async () => {
    const node = await openNode(world, { window: WINDOW, maxChanges: 7, lane: 'main' })
    await turn(node, handIn(names(40), { deadline: later(world.now, 1_000) }))
    expect(nextDueTime(node.memory)).toBe(later(world.now, 1_000))
    world.pass(1_001)
    let turns = 0
    for (let at = nextDueTime(node.memory); at !== null && at <= world.now; at = nextDueTime(node.memory)) {
      await node.turn()
      turns += 1
      expect(turns).toBeLessThan(50)
    }
    expect(turns).toBeGreaterThanOrEqual(6)
    expect(await count(`run where state = 'expired'`)).toBe(40)
    expect(await count('backlog')).toBe(0)
  })

  it('has deadlines that every node knows of', async () => {
    const [one, two] = [await openNode(world, { window: WINDOW }), await openNode(world, { window: WINDOW })]
    await turn(one, handIn(names(30), { deadline: later(world.now, 1_000) }))
    await two.turn()
    await expectSameBacklog(two)
    await turn(one, handIn(names(5)))
    await two.turn()
    await expectSameBacklog(two)
    for (let node = one; (await count('run where state is null')) !== 0; node = node === one ? two : one)
      await node.turn(...one.reports(1), ...two.reports(1))
    await one.turn()
    await two.turn()
    expect([nextDueTime(one.memory), nextDueTime(two.memory)]).toEqual([null, null])
  })

  it('waits for no deadline once nothing is there', async () => {
    const node = await openNode(world, { window: WINDOW })
    await turn(node, handIn(names(30), { deadline: later(world.now, 1_000) }))
    while ((await count('run where state is null')) !== 0) await node.turn(...node.reports(1))
    expect(node.started).toEqual(names(30))
    expect(nextDueTime(node.memory)).toBeNull()
  })

  it('cancels a run that is not in memory, by its id', async () => {
    const node = await openNode(world, { window: WINDOW, lane: 'main' })
    const [answers] = (await turn(node, handIn(names(20)))) as [readonly SubmitResult[]]
    const last = runId(answers.at(-1)?.runId ?? '')
    expect(node.memory.state.runs.has(last)).toBe(false)
    const cancel: Command<unknown> = {
      orgId: ORG,
      needs: { runs: [last] },
      apply: (state) => cancelRun(state, last, because('cancelled', 'request')),
    }
    await node.turn(cancel)
    expect(await world.rows(`select state from run where id = '${last}'`)).toEqual([{ state: 'cancelled' }])
    expect(await count('backlog')).toBe(15)
    await expectSameBacklog(node)
  })
})

describe('a session that is longer than what nodes keep in memory', () => {
  const message = { trigger: 'message', sessionKey: CHAT } as const

  it('goes on in its order', async () => {
    const node = await openNode(world, { window: WINDOW })
    await turn(node, handIn(names(25), message))
    // One has started, and three are next.
    expect(await count('pending')).toBe(4)
    while ((await count('run where state is null')) !== 0) {
      await node.turn(...node.reports(1))
      await expectSameBacklog(node)
    }
    expect(node.started).toEqual(names(25))
    expect(await world.rows('select behind from session')).toEqual([{ behind: 0 }])
  })

  it('is cleared by /stopall in pieces, and what comes next does not wait for them', async () => {
    const node = await openNode(world, { window: WINDOW, maxChanges: 7 })
    await turn(node, handIn(names(40), message))
    const [stopped] = (await turn(node, stopAll)) as [StopResult]
    expect(stopped).toEqual({ stopped: 1, drained: 39 })
    await turn(node, handIn(['next'], message))
    const other = await openNode(world, { window: WINDOW, maxChanges: 7 })
    let turns = 0
    for (let at = nextDueTime(other.memory); at !== null && at <= world.now; at = nextDueTime(other.memory)) {
      await other.turn()
      turns += 1
      expect(turns).toBeLessThan(50)
    }
    expect(turns).toBeGreaterThanOrEqual(4)
    expect(await count('backlog')).toBe(0)
    expect(await count('clearing')).toBe(0)
    expect(await count(`run where state = 'cancelled'`)).toBe(39)
    expect([...node.started, ...other.started]).toEqual(['000'])
  })

  it('drops its oldest message at its cap, also when that is not in memory', async () => {
    const node = await openNode(world, { window: WINDOW, lane: 'main' })
    // Its line is full, so the whole session waits in the backlog.
    await turn(node, handIn(names(8, 'others '), { trigger: 'message' }))
    const limit: Command<void> = {
      orgId: ORG,
      needs: { sessions: [CHAT] },
      apply: (state) => {
        ensureSession({ state }, CHAT)
        const session = state.sessions.get(CHAT)
        if (session === undefined) return
        session.own = { cap: 5, drop: 'old' }
        state.changes.sessions.add(session)
      },
    }
    await turn(node, limit)
    await turn(node, handIn(names(5), message))
    expect(node.memory.state.bySession.get(CHAT)).toBeUndefined()
    await turn(node, handIn(['one', 'two'], message))
    const dropped = await world.rows(
      `select payload ->> 'action' as name, state from run where session_key = '${CHAT}' and state is not null order by 1`,
    )
    expect(dropped).toEqual([
      { name: '000', state: 'dropped' },
      { name: '001', state: 'dropped' },
    ])
    await expectSameBacklog(node)
  })
})
