import { expect, it } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { compareHistory } from './agree.ts'
import { askedSeed } from '../support/seeds.ts'
import { PATIENCE_MS } from './agreeing-histories.ts'

const asked = askedSeed()

it(
  asked === null ? 'the same seed writes the same history' : `the history of seed ${asked}`,
  async () => {
    const test = await createTestDatabase('migrated')
    try {
      const database = await test.open({ pool: 2, pinPlans: true })
      expect((await compareHistory(database, asked ?? 1))?.message ?? null).toBeNull()
    } finally {
      await test.drop()
    }
  },
  PATIENCE_MS,
)
