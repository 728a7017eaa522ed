import { expect, it } from 'vitest'
import { RUN_STATES, isTerminal } from '../../src/domain/run/run-machine.ts'
import { seedsFrom } from '../support/seeds.ts'
import { printTotals, runSeeds } from './run-seeds.ts'
import { OPERATION_KINDS } from './traffic.ts'

const WORLDS = 1_000

/** Only what hangs takes this long, also beside other steps on a machine that others use, too: all of them come first. */
export const PATIENCE_MS = 2_400_000

/** Half of the worlds of the suite. */
export function expectHealthyWorlds(name: string, first: number): void {
  it(
    `no invariant is broken in ${WORLDS} random worlds (${name})`,
    () => {
      const totals = runSeeds(seedsFrom(first, WORLDS, 2))
      console.log(printTotals(totals))
      for (const kind of OPERATION_KINDS) expect(totals.operations[kind], kind).toBeGreaterThan(0)
      for (const state of RUN_STATES.filter(isTerminal)) expect(totals.endings[state], state).toBeGreaterThan(0)
    },
    PATIENCE_MS,
  )
}
