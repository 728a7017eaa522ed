import type { RunState } from '../../src/domain/run/run-machine.ts'
import { countsLine } from '../support/seeds.ts'
import { Violation } from '../support/violation.ts'
import { createChecker } from './invariants.ts'
import { simulate } from './simulate.ts'
import type { OperationKind } from './traffic.ts'

/** Operations in every world; timers, reports and occurrences come on top. */
export const EVENTS = 300

export interface Totals {
  readonly worlds: number
  readonly operations: Partial<Record<OperationKind, number>>
  readonly endings: Partial<Record<RunState, number>>
  readonly triggers: Record<string, number>
}

/** Lets worlds happen and adds up what happened in them. The first that breaks an invariant is thrown, with its seed. */
export function runSeeds(seeds: readonly number[]): Totals {
  const operations: Partial<Record<OperationKind, number>> = {}
  const endings: Partial<Record<RunState, number>> = {}
  const triggers: Record<string, number> = {}
  for (const seed of seeds) {
    const happened = runSeed(seed)
    if (happened instanceof Violation)
      throw new Error(`Seed ${seed}: ${happened.message}\nReplay it: ESCAPEMENT_SEED=${seed} npm test simulation`, {
        cause: happened,
      })
    for (const kind of happened.operations) operations[kind] = (operations[kind] ?? 0) + 1
    for (const run of happened.world.runs.values()) {
      endings[run.state] = (endings[run.state] ?? 0) + 1
      triggers[run.trigger] = (triggers[run.trigger] ?? 0) + 1
    }
  }
  return { worlds: seeds.length, operations, endings, triggers }
}

/** One world, or what broke in it. */
export function runSeed(seed: number): ReturnType<typeof simulate> | Violation {
  try {
    return simulate(seed, { events: EVENTS, observer: createChecker() })
  } catch (error) {
    if (error instanceof Violation) return error
    throw error
  }
}

/** The totals as lines for the log: what was not exercised was not tested. */
export function printTotals(totals: Totals): string {
  return [
    `${totals.worlds} worlds of ${EVENTS} events`,
    countsLine('operations', totals.operations),
    countsLine('endings', totals.endings),
    countsLine('triggers', totals.triggers),
  ].join('\n')
}
