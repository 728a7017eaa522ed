import { describe, expect, it } from 'vitest'
import { seedsFrom } from '../support/seeds.ts'
import { Violation } from '../support/violation.ts'
import { PATIENCE_MS } from './healthy-worlds.ts'
import { INVARIANTS } from './invariants.ts'
import { ENDING_MUTANTS } from './mutants/endings.ts'
import { FIRING_MUTANTS } from './mutants/firing.ts'
import { PICKING_MUTANTS } from './mutants/picking.ts'
import { SESSION_MUTANTS } from './mutants/sessions.ts'
import { runSeed } from './run-seeds.ts'
import type { Mutant } from './mutants/mutant.ts'

const MUTANTS: readonly Mutant[] = [...FIRING_MUTANTS, ...PICKING_MUTANTS, ...SESSION_MUTANTS, ...ENDING_MUTANTS]
const SEEDS = seedsFrom(0, 200)

describe('a wrong core', () => {
  it.each(MUTANTS.map((mutant) => [mutant.name, mutant.breaks, mutant] as const))(
    'in which %s is caught by %s',
    (_, breaks, { core, seed: hint = 0 }) => {
      const caught = [hint, ...SEEDS].find((seed) => {
        const happened = runSeed(seed, core)
        return happened instanceof Violation && happened.invariant === breaks
      })
      expect(caught, 'the seed that catches it').toBeDefined()
    },
    PATIENCE_MS,
  )

  it('exists for every invariant', () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(12)
    expect(new Set(MUTANTS.map((mutant) => mutant.breaks))).toEqual(new Set(INVARIANTS))
  })
})
