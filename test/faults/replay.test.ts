import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../src/platform/db/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { askedSeed } from '../support/seeds.ts'
import { PATIENCE_MS, runSeed } from './run-seeds.ts'

let test: TestDatabase
let database: Database
beforeAll(async () => {
  test = await createTestDatabase('migrated')
  database = await test.open({ pool: 3, pinPlans: true })
}, PATIENCE_MS)
afterAll(() => test.drop())

const traceOf = async (seed: number): Promise<readonly string[]> => {
  const lines: string[] = []
  const broken = await runSeed({ seed, database, tell: (line) => lines.push(line) })
  return [...lines, broken === null ? 'came to rest' : broken.message]
}

const asked = askedSeed()

/** Two worlds without anything that happens to the server, and one with. */
const REPLAYED = [0, 1, 2]

it.skipIf(asked !== null)(
  'the same seed gives the same world, to the last line',
  async () => {
    for (const seed of REPLAYED) expect(await traceOf(seed)).toEqual(await traceOf(seed))
  },
  PATIENCE_MS,
)

if (asked !== null)
  it(
    `the world of seed ${asked}`,
    async () => {
      const lines = await traceOf(asked)
      process.stdout.write(`${lines.join('\n')}\n`)
      expect(lines.at(-1)).toBe('came to rest')
    },
    PATIENCE_MS,
  )
