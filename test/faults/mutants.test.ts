import type * as reports from '../../src/domain/run/reports.ts'
import type * as turns from '../../src/engine/transaction/transaction.ts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Database } from '../../src/platform/db/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { askedSeed } from '../support/seeds.ts'
import { firstToCatch } from './mutants/catching.ts'
import type { Mutant } from './mutants/mutant.ts'
import { STORE_MUTANTS } from './mutants/store.ts'
import { PATIENCE_MS } from './run-seeds.ts'

/** Which of the mutants below is at work. Modules are mocked before anything is imported, so it is made before, too. */
const wrong = vi.hoisted(() => ({ now: '' }))

vi.mock('../../src/domain/run/reports.ts', async (original) => {
  const real = await original<typeof reports>()
  const decideReport: typeof real.decideReport = (run, reported) =>
    wrong.now === 'report' && run.attemptId !== null ? { kind: 'apply' } : real.decideReport(run, reported)
  return { ...real, decideReport } satisfies typeof real
})

vi.mock('../../src/engine/transaction/transaction.ts', async (original) => {
  const real = await original<typeof turns>()
  const wasCommitted: typeof real.wasCommitted = (ctx, orgId, turn) =>
    wrong.now === 'kept' ? Promise.resolve(false) : real.wasCommitted(ctx, orgId, turn)
  return { ...real, wasCommitted } satisfies typeof real
})

const SERVICE_MUTANTS: readonly (Omit<Mutant, 'mutate'> & { readonly wrong: string })[] = [
  { name: 'a late report counts', breaks: ['reports_are_fenced'], seed: 6, wrong: 'report' },
  { name: 'nobody looks what became of a commit', breaks: ['nothing_doubled', 'attempts_are_real'], wrong: 'kept' },
]

describe.skipIf(askedSeed() !== null)('a wrong store or service', () => {
  let test: TestDatabase
  let database: Database
  beforeAll(async () => {
    test = await createTestDatabase('migrated')
    database = await test.open({ pool: 3, pinPlans: true })
  }, PATIENCE_MS)
  afterAll(() => test.drop())

  it.each(STORE_MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    'in which %s is caught',
    async (_, mutant) => {
      expect(await firstToCatch(database, mutant), 'the seed that catches it').toBeDefined()
    },
    PATIENCE_MS,
  )

  it.each(SERVICE_MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    'in which %s is caught',
    async (_, { wrong: which, ...mutant }) => {
      wrong.now = which
      try {
        expect(
          await firstToCatch(database, { ...mutant, mutate: (same) => same }),
          'the seed that catches it',
        ).toBeDefined()
      } finally {
        wrong.now = ''
      }
    },
    PATIENCE_MS,
  )
})
