import { expect, it } from 'vitest'
import { askedSeed, seedsFrom } from '../support/seeds.ts'
import { Violation } from '../support/violation.ts'
import { createChecker } from './invariants.ts'
import { simulate } from './simulate.ts'
import { withTrace } from './trace.ts'

const traceOf = (seed: number): readonly string[] => {
  const lines: string[] = []
  try {
    simulate(seed, { events: 300, observer: withTrace(createChecker(), (line) => lines.push(line)) })
  } catch (error) {
    if (!(error instanceof Violation)) throw error
    lines.push(error.message)
  }
  return lines
}

it('the same seed gives the same world, to the last line', () => {
  for (const seed of seedsFrom(1, 3)) expect(traceOf(seed)).toEqual(traceOf(seed))
  expect(traceOf(1)).not.toEqual(traceOf(2))
})

// For people: ESCAPEMENT_SEED=123 npm test simulation prints what happened in world 123.
const asked = askedSeed()
if (asked !== null)
  it(`the world of seed ${asked}`, () => {
    const lines = traceOf(asked)
    console.log(lines.join('\n'))
    expect(lines.at(-1)).toMatch(/^came to rest/)
  })
