import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type * as draws from '../../src/features/simulation/draws.ts'
import { simulate } from '../../src/features/simulation/simulator.ts'
import type * as passing from '../../src/engine/transaction/pass-time.ts'
import type * as worlds from '../../src/features/simulation/world.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { isSame, liveHistory, type LivedHistory } from './agree.ts'
import { askedSeed, seedsFrom } from '../support/seeds.ts'
import { PATIENCE_MS } from './agreeing-histories.ts'
import { MUTANTS } from './mutants.ts'
import { simulatedStory } from './stories.ts'

/** What the simulator does wrong while it simulates; empty: nothing. The services use some of the same functions. */
const wrong = vi.hoisted(() => ({ now: '' }))

vi.mock('../../src/features/simulation/draws.ts', async (original) => {
  const real = await original<typeof draws>()
  const createRetryRandom: typeof real.createRetryRandom = (seed) =>
    wrong.now === 'chance' ? () => 0.5 : real.createRetryRandom(seed)
  return { ...real, createRetryRandom } satisfies typeof real
})

vi.mock('../../src/features/simulation/world.ts', async (original) => {
  const real = await original<typeof worlds>()
  const replaceNode: typeof real.replaceNode = (world) => {
    real.replaceNode(world)
    if (wrong.now === 'recovery') world.memory.byNode.clear()
  }
  return { ...real, replaceNode } satisfies typeof real
})

vi.mock('../../src/engine/transaction/pass-time.ts', async (original) => {
  const real = await original<typeof passing>()
  const unblockHeld: typeof real.unblockHeld = (org, node) => {
    if (wrong.now !== 'places') real.unblockHeld(org, node)
  }
  return { ...real, unblockHeld } satisfies typeof real
})

const SEEDS = [...seedsFrom(500, 40), 1_287, 8_550]

describe.skipIf(askedSeed() !== null)('a simulator in which', () => {
  let test: TestDatabase
  const lived: LivedHistory[] = []
  beforeAll(async () => {
    test = await createTestDatabase('migrated')
    const database = await test.open({ pool: 2, pinPlans: true })
    for (const seed of SEEDS) lived.push(await liveHistory(database, seed))
  }, PATIENCE_MS)
  afterAll(() => test.drop())

  const isCaught = (mistake: (typeof MUTANTS)[number]['mistake']): boolean =>
    lived.some(({ task, recorded }) => !isSame(simulatedStory(simulate(mistake(task))), recorded))

  it('nothing is wrong tells these histories as the tables do', () => {
    expect(isCaught((task) => task)).toBe(false)
  })

  it.each(MUTANTS.map(({ name, mistake }) => [name, mistake] as const))('%s is caught', (_, mistake) => {
    expect(isCaught(mistake)).toBe(true)
  })

  it.each([
    ['retries come without chance', 'chance'],
    ['what a lost node held is forgotten', 'recovery'],
    ['a catch-up place that nothing took stays taken', 'places'],
  ])('%s is caught', (_, which) => {
    wrong.now = which
    try {
      expect(isCaught((task) => task)).toBe(true)
    } finally {
      wrong.now = ''
    }
  })
})
