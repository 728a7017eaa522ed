import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/platform/db/database.ts'
import { simulate } from '../../src/features/simulation/simulator.ts'
import { createRandom } from '../simulation/random.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { askedSeed } from '../support/seeds.ts'
import { compareHistory, liveHistory } from './agree.ts'
import { PATIENCE_MS } from './agreeing-histories.ts'
import { createLateDatabase } from './late-database.ts'
import { simulatedStory, type Story } from './stories.ts'

const asked = askedSeed()

/** Seeds whose histories once depended on how fast the server answered. */
const PINNED = [1, 1_287, 8_550]

describe('a history', () => {
  let test: TestDatabase
  let database: Database
  beforeAll(async () => {
    test = await createTestDatabase('migrated')
    database = await test.open({ pool: 2, pinPlans: true })
  }, PATIENCE_MS)
  afterAll(() => test.drop())

  it.skipIf(asked === null)(
    `of seed ${asked}`,
    async () => {
      expect((await compareHistory(database, asked ?? 1))?.message ?? null).toBeNull()
    },
    PATIENCE_MS,
  )

  it.skipIf(asked !== null).each(PINNED)(
    'of seed %i is told as simulated, whether its org is woken in vain or not',
    async (seed) => {
      for (const wakesInVain of [false, true]) {
        const { task, recorded } = await liveHistory(database, seed, wakesInVain)
        expect(recorded).toEqual(simulatedStory(simulate(task)))
      }
    },
    PATIENCE_MS,
  )
})

describe.skipIf(asked !== null)('the same seed writes the same history', () => {
  it.each(PINNED)(
    'of seed %i, however late the server answers',
    async (seed) => {
      const histories: { readonly recorded: Story; readonly transactions: number }[] = []
      for (const lateness of [null, 1, 2]) {
        const test = await createTestDatabase('migrated')
        try {
          const real = await test.open({ pool: 2, pinPlans: true })
          const { database, transactions } = createLateDatabase(real, lateness === null ? null : createRandom(lateness))
          const { recorded } = await liveHistory(database, seed)
          histories.push({ recorded, transactions: transactions() })
        } finally {
          await test.drop()
        }
      }
      const [first, ...others] = histories
      expect(others).toEqual([first, first])
    },
    PATIENCE_MS,
  )
})
