import type * as changes from '../../src/engine/loops/changes.ts'
import type * as loops from '../../src/engine/loops/loops.ts'
import type * as nodeWatch from '../../src/engine/loops/node-watch.ts'
import type * as workQueue from '../../src/engine/work-queue.ts'
import type * as leaseWatch from '../../src/features/nodes/lease.ts'
import type * as membership from '../../src/features/nodes/membership.ts'
import type * as nodeLanes from '../../src/features/lanes/node-lanes.ts'
import type * as catchUp from '../../src/engine/transaction/catch-up.ts'
import type * as clockStep from '../../src/engine/transaction/clock-step.ts'
import type * as passing from '../../src/engine/transaction/pass-time.ts'
import type * as startable from '../../src/engine/transaction/startable.ts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Instant } from '../../src/domain/instant.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { askedSeed } from '../support/seeds.ts'
import { firstToCatch } from './mutants/catching.ts'
import { forgetting, uncounted, type Mutant } from './mutants/mutant.ts'
import { PATIENCE_MS } from './run-seeds.ts'

/** Which of the mutants below is at work. Modules are mocked before anything is imported, so it is made before, too. */
const wrong = vi.hoisted(() => ({ now: '', serverNow: 0 }))

vi.mock('../../src/engine/transaction/catch-up.ts', async (original) => {
  const real = await original<typeof catchUp>()
  const engine = await import('./mutants/engine.ts')
  const wronged: typeof real.catchUp = async (tx, memory, at) => {
    if (wrong.now === 'number') await engine.believeNumber(tx, memory, at.newest)
    return real.catchUp(wrong.now === 'hole' ? engine.withoutHoles(tx, at.newest) : tx, memory, at)
  }
  return { ...real, catchUp: wronged } satisfies typeof real
})

vi.mock('../../src/engine/transaction/pass-time.ts', async (original) => {
  const real = await original<typeof passing>()
  const advanceTime: typeof real.advanceTime = (memory, node, limits) => {
    real.advanceTime(memory, node, wrong.now === 'unbound' ? undefined : limits)
  }
  return { ...real, advanceTime } satisfies typeof real
})

vi.mock('../../src/engine/transaction/startable.ts', async (original) => {
  const real = await original<typeof startable>()
  const firstToStart: typeof real.firstToStart = (memory, at, allowance) => {
    if (wrong.now !== 'expired') return real.firstToStart(memory, at, allowance)
    const found = memory.readyQueue.next(at)
    return found === null ? undefined : memory.state.runs.get(found.id)
  }
  return { ...real, firstToStart } satisfies typeof real
})

vi.mock('../../src/engine/loops/loops.ts', async (original) => {
  const real = await original<typeof loops>()
  const { waitForOrgs } = await import('./mutants/engine.ts')
  const firePass: typeof real.firePass = async (parts) => {
    const waitMs = await real.firePass(parts)
    if (wrong.now === 'waiting') await waitForOrgs(parts)
    return waitMs
  }
  return { ...real, firePass } satisfies typeof real
})

vi.mock('../../src/features/lanes/node-lanes.ts', async (original) => {
  const real = await original<typeof nodeLanes>()
  const { reserveAll, shareNothing } = await import('./mutants/engine.ts')
  const createNodeLanes: typeof real.createNodeLanes = (first, onFree) => {
    const lanes = real.createNodeLanes(first, onFree)
    if (wrong.now === 'shares') return shareNothing(lanes)
    return wrong.now === 'slots' ? reserveAll(lanes) : lanes
  }
  return { ...real, createNodeLanes } satisfies typeof real
})

vi.mock('../../src/engine/loops/node-watch.ts', async (original) => {
  const real = await original<typeof nodeWatch>()
  const { watchNodesFirst } = await import('./mutants/engine.ts')
  const watchNodes: typeof real.watchNodes = (parts) =>
    wrong.now === 'holders' ? watchNodesFirst(parts) : real.watchNodes(parts)
  return { ...real, watchNodes } satisfies typeof real
})

vi.mock('../../src/features/nodes/membership.ts', async (original) => {
  const real = await original<typeof membership>()
  const lookAtNodes: typeof real.lookAtNodes = async (connection) => {
    const seen = await real.lookAtNodes(connection)
    wrong.serverNow = seen.now
    return seen
  }
  return { ...real, lookAtNodes } satisfies typeof real
})

vi.mock('../../src/features/nodes/lease.ts', async (original) => {
  const real = await original<typeof leaseWatch>()
  const createLeaseWatch: typeof real.createLeaseWatch = () => {
    const watch = real.createLeaseWatch()
    const lapsed = ({ leaseUntil }: { readonly leaseUntil: Instant }): boolean => leaseUntil <= wrong.serverNow
    return {
      observe: (seen, at) =>
        wrong.now === 'leases' ? new Set(seen.filter(lapsed).map(({ id }) => id)) : watch.observe(seen, at),
    }
  }
  return { ...real, createLeaseWatch } satisfies typeof real
})

vi.mock('../../src/engine/work-queue.ts', async (original) => {
  const real = await original<typeof workQueue>()
  const { serveRefused } = await import('./mutants/engine.ts')
  const createCommandQueue: typeof real.createCommandQueue = (ctx) =>
    wrong.now === 'refused' ? serveRefused(real.createCommandQueue, ctx) : real.createCommandQueue(ctx)
  return { ...real, createCommandQueue } satisfies typeof real
})

vi.mock('../../src/engine/transaction/clock-step.ts', async (original) => {
  const real = await original<typeof clockStep>()
  const orgTime: typeof real.orgTime = (desk, now, newestAt) => {
    if (wrong.now !== 'standstill') return real.orgTime(desk, now, newestAt)
    return { now: Math.max(now, desk.now, newestAt ?? 0) as Instant, stepMs: 0 }
  }
  return { ...real, orgTime } satisfies typeof real
})

vi.mock('../../src/engine/loops/changes.ts', async (original) => {
  const real = await original<typeof changes>()
  const unless = <Answer>(look: () => Promise<Answer>, answer: Answer): Promise<Answer> =>
    wrong.now === 'deaf' ? Promise.resolve(answer) : look()
  const applyChangedOrgs: typeof real.applyChangedOrgs = (parts) =>
    unless(() => real.applyChangedOrgs(parts), undefined)
  const compareLoaded: typeof real.compareLoaded = (parts) => unless(() => real.compareLoaded(parts), undefined)
  return { ...real, applyChangedOrgs, compareLoaded } satisfies typeof real
})

const same = (database: Database): Database => database

const MUTANTS: readonly (Mutant & { readonly wrong: string })[] = [
  {
    name: 'a version is compared by its number alone',
    breaks: ['memory_is_true', 'record_knows_attempts'],
    ...{ wrong: 'number', needs: 'tail_lost', mutate: same },
  },
  {
    name: 'a version is compared by its number alone and rows that were not there are not missed',
    breaks: ['memory_is_true', 'attempts_are_real', 'settles_once', 'record_knows_attempts'],
    ...{ wrong: 'number', needs: 'tail_lost', mutate: uncounted },
  },
  {
    name: 'a hole in the history is taken for whole',
    breaks: ['memory_is_true', 'limits', 'attempts_are_real'],
    ...{ wrong: 'hole', seed: 1, mutate: same },
  },
  {
    name: 'everything that is due ends in one transaction',
    breaks: ['transactions_are_bounded'],
    ...{ wrong: 'unbound', seed: 31, needs: 'many_due', mutate: same },
  },
  {
    name: 'a run starts although its deadline has passed',
    breaks: ['expired_never_starts'],
    ...{ wrong: 'expired', seed: 15, needs: 'many_due', mutate: same },
  },
  {
    name: 'a loop waits for an org',
    breaks: ['others_on_time'],
    ...{ wrong: 'waiting', seed: 6, needs: 'lock_held', mutate: same },
  },
  {
    name: 'a transaction reserves every free slot until it is answered',
    breaks: ['starts_on_time'],
    ...{ wrong: 'slots', seed: 27, mutate: same },
  },
  {
    name: 'an org may hold a whole lane beside others',
    breaks: ['org_shares'],
    ...{ wrong: 'shares', seed: 1, mutate: same },
  },
  {
    name: 'the nodes are looked at before the holders',
    breaks: ['alive_is_not_lost'],
    ...{ wrong: 'holders', seed: 1, mutate: same },
  },
  {
    name: 'leases are compared with the clock of the server',
    breaks: ['alive_is_not_lost'],
    ...{ wrong: 'leases', seed: 10, needs: 'clock_step', mutate: same },
  },
  {
    name: 'work is carried out after it was refused',
    breaks: ['nothing_doubled'],
    ...{ wrong: 'refused', seed: 4, mutate: same },
  },
  {
    name: 'the time of an org stands still until the clock has come as far',
    breaks: ['nothing_stuck'],
    ...{ wrong: 'standstill', seed: 11, needs: 'clock_step', mutate: same },
  },
  {
    name: 'what is left to move after the clock was set back is not put on record',
    breaks: ['memory_is_true', 'nothing_stuck'],
    ...{ wrong: '', seed: 26, needs: 'clock_step', mutate: forgetting('insert into clock_step') },
  },
  {
    name: 'nobody looks whether others have changed an org',
    breaks: ['changes_are_heard', 'nothing_stuck'],
    ...{ wrong: 'deaf', seed: 1, mutate: same },
  },
]

describe.skipIf(askedSeed() !== null)('a wrong engine', () => {
  let test: TestDatabase
  let database: Database
  beforeAll(async () => {
    test = await createTestDatabase('migrated')
    database = await test.open({ pool: 3, pinPlans: true })
  }, PATIENCE_MS)
  afterAll(() => test.drop())

  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    'in which %s is caught',
    async (_, { wrong: which, ...mutant }) => {
      wrong.now = which
      try {
        expect(await firstToCatch(database, mutant), 'the seed that catches it').toBeDefined()
      } finally {
        wrong.now = ''
      }
    },
    PATIENCE_MS,
  )
})
