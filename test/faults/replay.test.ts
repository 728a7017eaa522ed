import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../src/store/database.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { runSeed, seedsFrom } from './run-seeds.ts'

let test: TestDatabase
let database: Database
beforeAll(async () => {
  test = await createTestDatabase('migrated')
  database = await test.open({ pool: 3, pinPlans: true })
})
afterAll(() => test.drop())

const traceOf = async (seed: number): Promise<readonly string[]> => {
  const lines: string[] = []
  const broken = await runSeed({ seed, database, tell: (line) => lines.push(line) })
  return [...lines, broken === null ? 'came to rest' : broken.message]
}

it('the same seed gives the same world, to the last line', async () => {
  for (const seed of seedsFrom(0, 3)) expect(await traceOf(seed)).toEqual(await traceOf(seed))
}, 60_000)

// For people: ESCAPEMENT_SEED=123 npm test faults prints what happened in world 123.
const asked = process.env['ESCAPEMENT_SEED']
if (asked !== undefined)
  it(`the world of seed ${asked}`, async () => {
    const lines = await traceOf(Number(asked))
    process.stdout.write(`${lines.join('\n')}\n`)
    expect(lines.at(-1)).toBe('came to rest')
  }, 60_000)
