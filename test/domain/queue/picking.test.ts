import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type GateCandidate,
  explainWait,
  type ProviderLoad,
  type ProviderStatus,
  type GateFacts,
} from '../../../src/domain/queue/gates.ts'
import { agentId, budgetId, laneName, orgId, providerName, runId, sessionKey } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import type { PickingFacts } from './picking-facts.ts'
import type { LaneUsage } from '../../../src/domain/queue/ready-lines.ts'
import { explainWhy } from '../../../src/domain/reasons.ts'
import { aCandidate, anOrg, inSession, NOW, pickingFacts } from '../../support/builders.ts'
import { naivePick, positionOf } from './naive-picker.ts'

const main = laneName('main')
const pick = (over: Partial<PickingFacts>): readonly string[] => naivePick(pickingFacts(over)).map((run) => run.id)
const slots = (size: number, held = 0): Map<typeof main, { size: number; held: number }> =>
  new Map([[main, { size, held }]])
const share = (inFlight: number, servedAt = 0): Map<typeof main, LaneUsage> => new Map([[main, { inFlight, servedAt }]])
const load = (inFlight: number, limit: number | null = null): { inFlight: number; limit: number | null } => ({
  inFlight,
  limit,
})
const aged = (id: string, ms: number, over: Partial<GateCandidate> = {}): GateCandidate =>
  aCandidate(id, { createdAt: later(NOW, ms), ...over })

describe('the order of picking', () => {
  it('takes lower priority first, then age, then id', () => {
    const candidates = [
      aged('d', 0, { priority: 5 }),
      aged('b', 0),
      aged('a', 0),
      aged('c', -1),
      aged('e', 9, { priority: 1 }),
    ]
    expect(pick({ candidates })).toEqual(['c', 'a', 'b', 'e', 'd'])
  })

  it('serves different agents before the same one twice', () => {
    const candidates = [
      aged('a1', 0, { agentId: agentId('A') }),
      aged('a2', 1, { agentId: agentId('A') }),
      aged('a3', 2, { agentId: agentId('A') }),
      aged('b1', 3, { agentId: agentId('B') }),
    ]
    expect(pick({ candidates })).toEqual(['a1', 'b1', 'a2', 'a3'])
  })

  it('prefers the agent with the fewest in flight in the lane, whatever the priorities', () => {
    const agents = new Map([
      [agentId('A'), { load: load(2), tasks: load(0), shares: share(2) }],
      [agentId('B'), { load: load(9), tasks: load(0), shares: share(0) }],
    ])
    const candidates = [aged('a', 0, { agentId: agentId('A'), priority: -9 }), aged('b', 5, { agentId: agentId('B') })]
    expect(pick({ candidates, orgs: new Map([[orgId('org'), anOrg({ agents })]]), lanes: slots(1) })).toEqual(['b'])
  })

  it('gives a tie to the agent unserved longest', () => {
    const agents = new Map([
      [agentId('A'), { load: load(0), tasks: load(0), shares: share(0, 20) }],
      [agentId('B'), { load: load(0), tasks: load(0), shares: share(0, 10) }],
    ])
    const candidates = [aged('a', 0, { agentId: agentId('A') }), aged('b', 5, { agentId: agentId('B') })]
    expect(pick({ candidates, orgs: new Map([[orgId('org'), anOrg({ agents })]]) })).toEqual(['b', 'a'])
  })

  it('puts the org before the agent', () => {
    const orgs = new Map([
      [orgId('busy'), anOrg({ shares: share(5) })],
      [orgId('idle'), anOrg({ shares: share(1) })],
    ])
    const candidates = [
      aged('x', 0, { orgId: orgId('busy'), agentId: agentId('A') }),
      aged('y', 9, { orgId: orgId('idle'), agentId: agentId('B') }),
    ]
    expect(pick({ candidates, orgs, lanes: slots(1) })).toEqual(['y'])
  })

  it('starves nobody: the last of many agents is served within one round', () => {
    const candidates = Array.from({ length: 50 }, (_, i) => aged(`a${i}`, i, { agentId: agentId('greedy') }))
    expect(
      pick({ candidates: [...candidates, aged('z', 999, { agentId: agentId('modest') })], lanes: slots(2) }),
    ).toContain('z')
  })

  it('tells a task its place among the queued runs of its agent', () => {
    const queued = [aged('a', 0), aged('b', 1), aged('c', 2, { priority: -1 })]
    expect(queued.map((run) => positionOf(run, queued))).toEqual([2, 3, 1])
  })
})

describe('a session', () => {
  const s = (id: string, seq: number, over: Partial<GateCandidate> = {}): GateCandidate =>
    aged(id, seq, { ...inSession('s', { seq, ...over }) })
  const withSession = (over: object): Partial<PickingFacts> => ({
    orgs: new Map([
      [
        orgId('org'),
        anOrg({
          sessions: new Map([[sessionKey('s'), { active: 0, stopping: 0, maxConcurrent: 1, context: null, ...over }]]),
        }),
      ],
    ]),
  })

  it('starts one run at a time, in order, whatever the priorities', () => {
    expect(pick({ candidates: [s('r2', 2, { priority: -5 }), s('r1', 1)] })).toEqual(['r1'])
  })

  it('keeps its order while its head waits for a lane', () => {
    const candidates = [s('r1', 1, { lane: laneName('cron') }), s('r2', 2)]
    const lanes = new Map([
      [main, { size: 5, held: 0 }],
      [laneName('cron'), { size: 1, held: 1 }],
    ])
    expect(pick({ candidates, lanes, ...withSession({ maxConcurrent: 3 }) })).toEqual([])
  })

  it('of a group starts three of four', () => {
    const candidates = [1, 2, 3, 4].map((seq) => s(`r${seq}`, seq))
    expect(pick({ candidates, ...withSession({ maxConcurrent: 3 }) })).toEqual(['r1', 'r2', 'r3'])
  })

  it('starts nothing new from 60 % context on while anything is active, then one at a time', () => {
    const candidates = [s('r4', 4), s('r5', 5)]
    const context = { tokens: 60, contextWindow: 100 }
    expect(pick({ candidates, ...withSession({ maxConcurrent: 3, active: 1, context }) })).toEqual([])
    expect(pick({ candidates, ...withSession({ maxConcurrent: 3, active: 0, context }) })).toEqual(['r4'])
  })

  it('lets a retry start although the session is full: it holds its slot already', () => {
    const candidates = [s('r1', 1, { retrying: true }), s('r2', 2)]
    expect(pick({ candidates, ...withSession({ active: 1 }) })).toEqual(['r1'])
  })

  it('never lets an interrupting message overlap what it interrupted', () => {
    const candidates = [s('r3', 3, { interrupts: true })]
    expect(pick({ candidates, ...withSession({ maxConcurrent: 3, active: 1, stopping: 1 }) })).toEqual([])
    expect(pick({ candidates, ...withSession({ maxConcurrent: 3 }) })).toEqual(['r3'])
  })
})

describe('limits', () => {
  const tasks = (count: number, agent = 'A'): readonly GateCandidate[] =>
    Array.from({ length: count }, (_, i) => aged(`${agent}${i}`, i, { trigger: 'task', agentId: agentId(agent) }))

  it('of a lane are exact: two slots, six runs', () => {
    expect(pick({ candidates: tasks(6), lanes: slots(2) })).toHaveLength(2)
    expect(pick({ candidates: tasks(6), lanes: slots(2, 2) })).toEqual([])
    expect(pick({ candidates: tasks(6), lanes: slots(2, 5) })).toEqual([])
  })

  it('of tasks in flight hold per agent and per org, and for tasks only', () => {
    const org = anOrg({
      tasks: load(0, 5),
      agents: new Map([[agentId('A'), { load: load(0), tasks: load(0, 3), shares: new Map() }]]),
    })
    const candidates = [...tasks(9), ...tasks(9, 'B'), aged('m', 99, { agentId: agentId('A') })]
    const picked = pick({ candidates, orgs: new Map([[orgId('org'), org]]) })
    expect(picked.filter((id) => id.startsWith('A'))).toHaveLength(3)
    expect(picked.filter((id) => id.startsWith('B'))).toHaveLength(2)
    expect(picked).toContain('m')
  })

  it('of an agent and an org hold for everything', () => {
    const agents = new Map([[agentId('A'), { load: load(1, 2), tasks: load(0), shares: new Map() }]])
    expect(pick({ candidates: tasks(5), orgs: new Map([[orgId('org'), anOrg({ agents })]]) })).toHaveLength(1)
    expect(pick({ candidates: tasks(5), orgs: new Map([[orgId('org'), anOrg({ load: load(3, 4) })]]) })).toHaveLength(1)
  })

  it('of a budget count what the same turn has set aside', () => {
    const b = budgetId('b')
    const candidates = tasks(5).map((run) => ({ ...run, reserves: [{ budgetId: b, amount: 40 }] }))
    const budgets = new Map([[b, { remaining: 100, unit: 'tokens', until: NOW }]])
    expect(pick({ candidates, orgs: new Map([[orgId('org'), anOrg({ budgets })]]) })).toHaveLength(2)
    const spent = new Map([[b, { remaining: 0, unit: 'tokens', until: NOW }]])
    const free = tasks(1).map((run) => ({ ...run, reserves: [{ budgetId: b, amount: 0 }] }))
    expect(pick({ candidates: free, orgs: new Map([[orgId('org'), anOrg({ budgets: spent })]]) })).toEqual([])
  })

  it('keep a restart from being a stampede', () => {
    const candidates = Array.from({ length: 30 }, (_, i) => aged(`c${i}`, i, { trigger: 'catchup' }))
    expect(pick({ candidates })).toHaveLength(10)
  })

  it('send work for an unknown lane to main', () => {
    expect(pick({ candidates: [aged('x', 0, { lane: laneName('nope') })] })).toEqual(['x'])
  })
})

describe('whoever had nothing left to offer', () => {
  const two = { active: 0, stopping: 0, maxConcurrent: 2, context: null }
  const orgs = new Map([[orgId('org'), anOrg({ sessions: new Map([[sessionKey('s'), two]]) })]])
  const [idle, busy] = [agentId('a'), agentId('b')]

  it('competes again when a session comes to a run of that agent', () => {
    const candidates = [
      aged('offline', 0, { agentId: idle, executable: false }),
      aged('first', 1, inSession('s', { seq: 1, agentId: busy })),
      aged('second', 2, inSession('s', { seq: 2, agentId: idle })),
    ]
    expect(pick({ candidates, orgs })).toEqual(['first', 'second'])
  })

  it('competes again when a session comes to a run in another lane', () => {
    const cron = laneName('cron')
    const lanes = new Map([
      [cron, { size: 5, held: 0 }],
      [main, { size: 5, held: 0 }],
    ])
    const candidates = [
      aged('offline', 0, { agentId: idle, executable: false, lane: cron }),
      aged('first', 1, inSession('s', { seq: 1, agentId: busy })),
      aged('second', 2, inSession('s', { seq: 2, agentId: idle, lane: cron })),
    ]
    expect(pick({ candidates, orgs, lanes })).toEqual(['first', 'second'])
  })
})

describe('a run with a time of its own', () => {
  it.each([
    [-1, ['r']],
    [0, ['r']],
    [1, []],
  ])('%i ms from now', (ms, picked) => {
    expect(pick({ candidates: [aged('r', 0, { notBefore: later(NOW, ms) })] })).toEqual(picked)
  })
})

describe('two runs of a session without a place', () => {
  it('start the older first, then by id, in whatever order they were loaded', () => {
    const candidates = [aged('b', 0, inSession('s')), aged('a', 0, inSession('s')), aged('c', -1, inSession('s'))]
    expect(pick({ candidates })).toEqual(['c'])
    expect(pick({ candidates: candidates.toReversed() })).toEqual(['c'])
    expect(pick({ candidates: candidates.slice(0, 2) })).toEqual(['a'])
  })
})

const aProvider = (over: Partial<ProviderLoad>): ProviderStatus => ({
  ...{ inFlight: 2, waiting: 5 },
  load: { name: providerName('p'), quota: 'requests_per_minute', until: null, limit: null, ...over },
})

const openStanding: GateFacts = {
  now: NOW,
  session: { active: 0, stopping: 0, maxConcurrent: 1, context: null, head: runId('r') },
  agent: load(0),
  agentTasks: load(0, 10),
  org: load(0),
  orgTasks: load(0, 20),
  budgets: new Map([[budgetId('b'), { remaining: 5, unit: 'tokens', until: NOW }]]),
  provider: null,
  catchup: load(0, 10),
  lane: { name: laneName('main'), size: 1, held: 0 },
}

describe('why a run has not started', () => {
  const open: GateFacts = openStanding
  const session = open.session
  if (session === null) throw new Error('has a session')

  it.each<[string, Partial<GateCandidate>, Partial<GateFacts>]>([
    ['not_before', { notBefore: later(NOW, 1) }, {}],
    ['awaiting_stop', { interrupts: true }, { session: { ...session, stopping: 1 } }],
    ['session_order', {}, { session: { ...session, head: runId('other') } }],
    ['session_limit', {}, { session: { ...session, active: 1 } }],
    ['context_throttle', {}, { session: { ...session, active: 1, context: { tokens: 6, contextWindow: 10 } } }],
    ['schedule_limit', { parkedBehind: 1 }, {}],
    ['agent_limit', {}, { agent: load(2, 2) }],
    ['agent_limit', { trigger: 'task' }, { agentTasks: load(10, 10) }],
    ['org_limit', {}, { org: load(4, 4) }],
    ['org_limit', { trigger: 'task' }, { orgTasks: load(20, 20) }],
    ['budget', { reserves: [{ budgetId: budgetId('b'), amount: 6 }] }, {}],
    ['provider_quota', {}, { provider: aProvider({ until: later(NOW, 1) }) }],
    ['provider_limit', {}, { provider: aProvider({ limit: 2 }) }],
    ['executor_offline', { executable: false }, {}],
    ['catchup_limit', { trigger: 'catchup' }, { catchup: load(10, 10) }],
    ['lane_full', {}, { lane: { name: laneName('main'), size: 1, held: 1 } }],
    ['in_line', {}, {}],
  ])('%s', (reason, run, standing) => {
    const why = explainWait(aCandidate('r', run), { ...open, ...standing }, 1)
    expect(why.reason).toBe(reason)
    expect(explainWhy(why)).not.toContain('unknown')
    expect(explainWhy(why)).not.toContain('undefined')
  })
})

describe('the sentence about a run that waits', () => {
  const standing = (session: Partial<NonNullable<GateFacts['session']>>, over: Partial<GateFacts> = {}): GateFacts => ({
    now: NOW,
    session: { active: 0, stopping: 0, maxConcurrent: 1, context: null, head: null, ...session },
    agent: load(0),
    agentTasks: load(0),
    org: load(0),
    orgTasks: load(0),
    budgets: new Map(),
    provider: null,
    catchup: load(0),
    lane: { name: laneName('main'), size: 1, held: 0 },
    ...over,
  })
  const run = aCandidate('r', { interrupts: true })

  it.each([
    [standing({ stopping: 2 }), 'It waits for 2 interrupted runs of its session to stop.'],
    [standing({ active: 3, maxConcurrent: 3 }), '3 of 3 runs of its session are active.'],
    [
      standing({ active: 1, maxConcurrent: 3, context: { tokens: 6, contextWindow: 10 } }),
      'The session has used 6 of 10 tokens, so only one run may be active; 1 are.',
    ],
    [
      standing({ active: 3, maxConcurrent: 3, context: { tokens: 5, contextWindow: 10 } }),
      '3 of 3 runs of its session are active.',
    ],
    [standing({}, { agent: load(4, 4) }), '4 of 4 runs of agent agent are in flight.'],
    [standing({}, { lane: { name: laneName('main'), size: 7, held: 7 } }), 'All 7 slots of lane main are in use.'],
  ])('has the numbers it rests on', (at, sentence) => {
    expect(explainWhy(explainWait(run, at, 1))).toBe(sentence)
  })
})

describe('a full lane', () => {
  it('is named as the one that serves the run, not the one it asked for', () => {
    const lane = { name: laneName('main'), size: 2, held: 2 }
    const why = explainWait(aCandidate('r', { lane: laneName('nope') }), { ...openStanding, lane }, 1)
    expect(explainWhy(why)).toBe('All 2 slots of lane main are in use.')
  })
})

describe('picking, whatever the world', () => {
  const name = (prefix: string, max: number): fc.Arbitrary<string> =>
    fc.integer({ min: 0, max }).map((i) => `${prefix}${i}`)
  const candidate = fc.record({
    orgId: name('o', 2).map(orgId),
    agentId: name('a', 3).map(agentId),
    sessionKey: fc.option(name('s', 4).map(sessionKey), { nil: null }),
    trigger: fc.constantFrom('message', 'task', 'catchup', 'schedule'),
    lane: fc.constantFrom('main', 'cron', 'task').map(laneName),
    priority: fc.integer({ min: -1, max: 1 }),
    createdAt: fc.integer({ min: 0, max: 3 }).map((ms) => later(NOW, ms)),
    retrying: fc.constant(false),
    executable: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    parkedBehind: fc.integer({ min: 0, max: 9 }).map((n) => (n > 0 ? null : 1)),
    interrupts: fc.boolean(),
    reserves: fc.constantFrom([], [{ budgetId: budgetId('b'), amount: 3 }]),
  })
  const limits = fc.record({
    inFlight: fc.integer({ min: 0, max: 2 }),
    limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
  })
  const shares = fc
    .array(
      fc.tuple(
        fc.constantFrom('main', 'cron', 'task').map(laneName),
        fc.record({ inFlight: fc.nat(3), servedAt: fc.nat(5) }),
      ),
    )
    .map((pairs) => new Map(pairs))
  const member = fc.record({ load: limits, tasks: limits, shares })
  const org = fc.record({
    load: limits,
    tasks: limits,
    shares,
    agents: fc.array(fc.tuple(name('a', 3).map(agentId), member)).map((pairs) => new Map(pairs)),
    sessions: fc
      .array(
        fc.tuple(
          name('s', 4).map(sessionKey),
          fc.record({
            active: fc.nat(2),
            stopping: fc.nat(1),
            maxConcurrent: fc.integer({ min: 1, max: 3 }),
            context: fc.option(fc.record({ tokens: fc.nat(10), contextWindow: fc.constant(10) }), { nil: null }),
          }),
        ),
      )
      .map((pairs) => new Map(pairs)),
    budgets: fc.nat(12).map((remaining) => new Map([[budgetId('b'), { remaining, unit: 'tokens', until: NOW }]])),
  })
  const world = fc.record({
    now: fc.constant(NOW),
    lanes: fc.tuple(fc.nat(8), fc.nat(4), fc.nat(4)).map(
      ([a, b, c]) =>
        new Map([
          [laneName('main'), { size: a, held: 0 }],
          [laneName('cron'), { size: b, held: 1 }],
          [laneName('task'), { size: c, held: 0 }],
        ]),
    ),
    catchup: fc.record({ inFlight: fc.nat(2), limit: fc.constant(4) }),
    orgs: fc.array(fc.tuple(name('o', 2).map(orgId), org)).map((pairs) => new Map(pairs)),
    candidates: fc
      .array(candidate, { maxLength: 40 })
      .map((list) => list.map((one, index) => ({ ...one, id: runId(`r${index}`), seq: index, notBefore: null }))),
  })

  it('does not depend on the order in which the candidates were loaded', () => {
    fc.assert(
      fc.property(world, (facts) => {
        const reversed = { ...facts, candidates: facts.candidates.toReversed() }
        expect(naivePick(reversed).map((run) => run.id)).toEqual(naivePick(facts).map((run) => run.id))
      }),
      { seed: 3, numRuns: 300 },
    )
  })
})

describe('a run that waits for a slot of its schedule', () => {
  it('has no place in its session yet, so it cannot stand before the run whose slot it waits for', () => {
    const candidates = [
      aged('parked', 1, inSession('s', { seq: null, parkedBehind: 1 })),
      aged('holder', 2, inSession('s', { seq: 2 })),
    ]
    expect(pick({ candidates })).toEqual(['holder'])
  })
})
