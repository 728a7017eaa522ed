import { describe, expect, it } from 'vitest'
import { agentId, budgetId, laneName, providerName, runId, sessionKey, type AgentId } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { createReadyQueue, type ReadyQueue } from '../../../src/domain/queue/ready-queue.ts'
import type { PickContext } from '../../../src/domain/queue/fairness.ts'
import type { QueuedRun } from '../../../src/domain/queue/queued-run.ts'
import { NOW } from '../../support/builders.ts'
import { aStandee, ORG, type Mutable } from './ready-queue-world.ts'

/** How often anything was compared or asked about: what the time of a pick is made of. */
interface Tally {
  looks: number
}

/** A value that counts whenever it is compared, so that work can be counted without a hook in what does it. */
function watched<T extends number | string>(value: T, tally: Tally): T {
  const use = (): T => {
    tally.looks += 1
    return value
  }
  return { valueOf: use } as unknown as T
}

const main = laneName('main')
const at = (size = 1_000_000): PickContext => ({
  now: NOW,
  lane: { name: main, size, held: 0 },
  catchup: { inFlight: 10, limit: 10 },
})

/** Priority, seq and agents count comparisons, not-before every walk through the gates. No two priorities are equal. */
const spied = (index: number, tally: Tally, over: Partial<QueuedRun>): Mutable<QueuedRun> =>
  aStandee(`r${index}`, {
    priority: watched((index * 7_919) % 1_000_003, tally),
    seq: watched((index * 104_729) % 1_000_003, tally),
    notBefore: watched(later(NOW, -1), tally),
    ...over,
  })

type Layout = (index: number, agents: readonly AgentId[]) => Partial<QueuedRun>

interface Measured {
  readonly looks: number
  readonly picked: number
}

const PICKS = 500
const AGENTS = 10_000
const B = budgetId('b')

/** What it costs, per pick, to start, end and replace runs while so many are queued. */
function costOfPicks(queued: number, layout: Layout, prepare: (lineUp: ReadyQueue) => void): Measured {
  const tally: Tally = { looks: 0 }
  const lineUp = createReadyQueue(ORG)
  const agents = Array.from({ length: AGENTS }, (_, index) => watched(agentId(`a${index}`), tally))
  const arrive = (index: number): void => lineUp.put(spied(index, tally, layout(index, agents)))
  prepare(lineUp)
  for (let index = 0; index < queued; index += 1) arrive(index)
  // What is found out once may be found out before.
  lineUp.next(at())
  tally.looks = 0
  let picked = 0
  for (let turn = 0; turn < PICKS; turn += 1) {
    const run = lineUp.next(at())
    if (run !== null) {
      picked += 1
      lineUp.put({ ...run, state: 'running' })
      lineUp.put({ ...run, state: 'success' })
    }
    arrive(queued + turn)
    lineUp.reviewProviders(NOW)
    lineUp.setBudgets(new Map([[B, { remaining: turn % 2, unit: 'tokens', until: NOW }]]))
    lineUp.remove(runId(`r${turn * 2 + 1}`))
  }
  return { looks: tally.looks / PICKS, picked }
}

const agentAmong = (agents: readonly AgentId[], index: number): Partial<QueuedRun> => {
  const id = agents[index % AGENTS]
  return id === undefined ? {} : { agentId: id }
}

describe('what a pick costs', () => {
  const A = agentId('full')
  const layouts: readonly (readonly [string, Layout, (lineUp: ReadyQueue) => void])[] = [
    ['one agent', () => ({}), () => undefined],
    [
      'a full agent beside one with work',
      (index) => ({ agentId: index % 100 === 0 ? agentId('free') : A }),
      (lineUp) => {
        lineUp.setAgent(A, { maxConcurrent: 1 })
        lineUp.put(aStandee('running', { agentId: A, state: 'running' }))
      },
    ],
    ['one session', () => ({ sessionKey: sessionKey('s') }), () => undefined],
    ['a session for every run', (index) => ({ sessionKey: sessionKey(`s${index}`) }), () => undefined],
    ['ten thousand agents', (index, agents) => agentAmong(agents, index), () => undefined],
    [
      'tasks of ten thousand agents behind the task limit of the org',
      (index, agents) => (index % 100 === 0 ? {} : { ...agentAmong(agents, index), trigger: 'task' }),
      (lineUp) => lineUp.setLimits({ maxConcurrent: null, tasksInflight: 0, tasksPerAgentInflight: null }),
    ],
    ['catch-ups behind their limit', (index) => (index % 100 === 0 ? {} : { trigger: 'catchup' }), () => undefined],
    [
      'work behind a budget that is used up',
      (index) => ({ reserves: index % 100 === 0 ? [] : [{ budgetId: B, amount: 2 }] }),
      () => undefined,
    ],
    [
      'work behind a provider that lets nothing through',
      (index) => ({ agentId: index % 100 === 0 ? agentId('free') : A }),
      (lineUp) => {
        const P = providerName('p')
        lineUp.setAgent(A, { maxConcurrent: null, provider: P })
        lineUp.setProviders(new Map([[P, { name: P, quota: 'retry_after', until: later(NOW, 1), limit: null }]]))
      },
    ],
    [
      'work for which nobody is connected',
      (index) => ({ executorKey: index % 100 === 0 ? 'here' : 'there' }),
      (lineUp) => lineUp.setExecutable((key) => key === 'here'),
    ],
  ]

  it.each(layouts)('grows with the logarithm of what is queued: %s', (_, layout, prepare) => {
    const few = costOfPicks(1_000, layout, prepare)
    const many = costOfPicks(50_000, layout, prepare)
    expect(many.picked).toBeGreaterThan(0)
    expect(many.looks).toBeLessThan(5 * few.looks + 50)
    // Twice the height of the heaps on the way, each looked at a few times: nothing that grows with 50,000.
    expect(many.looks).toBeLessThan(1_000)
  })
})

/** What it costs to ask for the place of a queued run, while so many are queued. */
function costOfPlaces(queued: number): number {
  const tally: Tally = { looks: 0 }
  const lineUp = createReadyQueue(ORG)
  for (let index = 0; index < queued; index += 1) lineUp.put(spied(index, tally, {}))
  tally.looks = 0
  for (let asked = 0; asked < PICKS; asked += 1) lineUp.positionOf(runId(`r${(asked * 31) % queued}`))
  return tally.looks / PICKS
}

describe('what asking for a position costs', () => {
  it('grows with the logarithm of what is queued', () => {
    expect(costOfPlaces(50_000)).toBeLessThan(5 * costOfPlaces(1_000) + 50)
  })
})
