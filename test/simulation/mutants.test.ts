import { describe, expect, it, vi } from 'vitest'
import { seedsFrom } from '../support/seeds.ts'
import { Violation } from '../support/violation.ts'
import { PATIENCE_MS } from './healthy-worlds.ts'
import { INVARIANTS } from './invariants.ts'
import { BACKLOG_MUTANTS } from './mutants/backlog.ts'
import { ENDING_MUTANTS } from './mutants/endings.ts'
import { FIRING_MUTANTS } from './mutants/firing.ts'
import { PICKING_MUTANTS } from './mutants/picking.ts'
import { SESSION_MUTANTS } from './mutants/sessions.ts'
import { runSeed } from './run-seeds.ts'
import type { Mutant } from './mutants/mutant.ts'

const { mistakable, withMistakes } = await vi.hoisted(() => import('./mutants/at-work.ts'))

vi.mock('../../src/domain/admission/admission.ts', mistakable)
vi.mock('../../src/domain/queue/ready-queue.ts', mistakable)
vi.mock('../../src/domain/run/cancellation.ts', mistakable)
vi.mock('../../src/domain/run/outcome.ts', mistakable)
vi.mock('../../src/domain/run/reports.ts', mistakable)
vi.mock('../../src/domain/run/run-machine.ts', mistakable)
vi.mock('../../src/domain/run/timeouts.ts', mistakable)
vi.mock('../../src/domain/schedule/concurrency.ts', mistakable)
vi.mock('../../src/domain/schedule/occurrences.ts', mistakable)
vi.mock('../../src/domain/schedule/overlap.ts', mistakable)
vi.mock('../../src/domain/session/stop.ts', mistakable)
vi.mock('../../src/engine/commands/cancel.ts', mistakable)
vi.mock('../../src/engine/commands/held.ts', mistakable)
vi.mock('../../src/engine/org-state/backlog.ts', mistakable)
vi.mock('../../src/features/lanes/node-lanes.ts', mistakable)
vi.mock('../../src/engine/transaction/claim.ts', mistakable)

const MUTANTS: readonly Mutant[] = [
  ...FIRING_MUTANTS,
  ...PICKING_MUTANTS,
  ...SESSION_MUTANTS,
  ...ENDING_MUTANTS,
  ...BACKLOG_MUTANTS,
]
const SEEDS = seedsFrom(0, 200)

describe('a product', () => {
  it.each(MUTANTS.map((mutant) => [mutant.name, mutant.breaks, mutant] as const))(
    'in which %s is caught by %s',
    (_, breaks, { mistakes }) => {
      const caught = SEEDS.find((seed) => {
        const happened = withMistakes(mistakes, () => runSeed(seed))
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
