import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OperationSpec } from '../../src/api/operation.ts'
import { checkAnswer, recordOf, requestsOf, send, Things, type Exchange } from './contract/exchange.ts'
import { createLook, type Look } from './contract/fingerprint.ts'
import type { Drawn } from './contract/hostile.ts'
import { ALL_OPERATIONS, isStream, makeOwner } from './contract/objects.ts'
import { createHttpWorld, type HttpWorld } from './support.ts'

// Every operation of the table is called with requests that are meant and with requests that are not. Nothing may fail
// on our side, every answer has the shape the table gives it, and what was refused has changed nothing at all.
// Another world: ESCAPEMENT_SEED=123 npm test http

const FEWEST_REQUESTS = 5_000
const FEWEST_DONE = 0.3
const asked = Number(process.env['ESCAPEMENT_SEED'] ?? '')
const SEED = Number.isSafeInteger(asked) && asked > 0 ? asked : 20_260_115

const called = ALL_OPERATIONS.filter(([, spec]) => !isStream(spec))
const eachTimes = Math.ceil(FEWEST_REQUESTS / called.length)

let world: HttpWorld
let things: Things
let everything: Look
const counts = new Map<string, { readonly kinds: Set<string>; done: number; refused: number }>()
const byStatus = new Map<number, number>()

beforeAll(async () => {
  world = await createHttpWorld()
  things = new Things(world)
  everything = await createLook(world.services.db)
  await makeOwner(world)
})
afterAll(async () => {
  process.stdout.write(`${summary()}\n`)
  await world.close()
})

/** What was called how often, and how it ended. */
function summary(): string {
  const all = [...counts.values()]
  const done = all.reduce((sum, one) => sum + one.done, 0)
  const requests = all.reduce((sum, one) => sum + one.done + one.refused, 0)
  const statuses = [...byStatus].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  return [
    `${requests} requests to ${counts.size} operations with seed ${SEED}, ${done} of them done (${((100 * done) / requests).toFixed(1)} %)`,
    statuses.join(', '),
  ].join('\n')
}

function count({ id, drawn, response }: Exchange): void {
  const known = counts.get(id) ?? { kinds: new Set(), done: 0, refused: 0 }
  counts.set(id, known)
  known.kinds.add(drawn.kind)
  if (response.statusCode < 400) known.done += 1
  else known.refused += 1
  byStatus.set(response.statusCode, (byStatus.get(response.statusCode) ?? 0) + 1)
}

let before: string | null = null
let madeBefore = 0

/** Looks at everything, unless nothing can have changed since the last look. */
async function look(): Promise<void> {
  if (before === null || madeBefore !== things.made) before = await everything()
  madeBefore = things.made
}

/** What was refused has changed nothing, but for the run that keeps the record of it. */
async function checkUnchanged(exchange: Exchange): Promise<void> {
  const seen = before
  before = null
  if (exchange.response.statusCode < 400 || recordOf(exchange) !== undefined) return
  const after = await everything()
  expect(after).toBe(seen)
  before = after
}

async function callOnce(id: string, spec: OperationSpec, drawn: Drawn): Promise<void> {
  const exchange = await send(world, { id, spec, drawn, things, look })
  count(exchange)
  await checkUnchanged(exchange)
  checkAnswer(exchange)
}

describe('whatever is asked', () => {
  it.each(called)(
    '%s answers as the table says',
    async (id, spec) => {
      const property = fc.asyncProperty(requestsOf(id, spec), (drawn) => callOnce(id, spec, drawn))
      await fc.assert(property, { numRuns: eachTimes, seed: SEED, endOnFailure: true })
    },
    120_000,
  )

  it('is asked of every operation, and done often enough', () => {
    expect([...counts.keys()].toSorted()).toEqual(called.map(([id]) => id).toSorted())
    expect([...counts].filter(([, { done }]) => done === 0).map(([id]) => id)).toEqual([])
    const all = [...counts.values()]
    const requests = all.reduce((sum, { done, refused }) => sum + done + refused, 0)
    const done = all.reduce((sum, one) => sum + one.done, 0)
    expect(requests).toBeGreaterThanOrEqual(FEWEST_REQUESTS)
    expect(done / requests).toBeGreaterThanOrEqual(FEWEST_DONE)
  })
})
