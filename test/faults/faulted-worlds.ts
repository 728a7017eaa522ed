import { expect, it } from 'vitest'
import { RUN_STATES, isTerminal } from '../../src/domain/run/run-machine.ts'
import { createTestDatabase } from '../support/database.ts'
import { askedSeed, seedsFrom } from '../support/seeds.ts'
import { FAULT_KINDS } from './faults.ts'
import { noTotals, PATIENCE_MS, printTotals, runSeeds } from './run-seeds.ts'
import { OPERATION_KINDS } from './traffic.ts'

const WORLDS = 48

/** Worlds side by side: while one waits for its database, another has the core. */
const STREAMS = 3

/** Half of the worlds of the suite. */
export function expectSoundWorlds(name: string, first: number): void {
  it.skipIf(askedSeed() !== null)(
    `no invariant is broken in ${WORLDS} worlds in which things go wrong (${name})`,
    async () => {
      const totals = noTotals()
      const streams = Array.from({ length: STREAMS }, async (_, stream) => {
        const test = await createTestDatabase('migrated')
        try {
          const database = await test.open({ pool: 2, pinPlans: true })
          await runSeeds(database, seedsFrom(first + 2 * stream, WORLDS / STREAMS, 2 * STREAMS), totals)
        } finally {
          await test.drop()
        }
      })
      // All have to be over before anything is said: a failing seed must not leave others behind.
      const ends = await Promise.allSettled(streams)
      process.stdout.write(`${printTotals(totals)}\n`)
      for (const end of ends) if (end.status === 'rejected') throw end.reason
      for (const kind of FAULT_KINDS) expect(totals.faults[kind], kind).toBeGreaterThan(0)
      for (const kind of OPERATION_KINDS) expect(totals.operations[kind], kind).toBeGreaterThan(0)
      for (const state of RUN_STATES.filter(isTerminal)) expect(totals.endings[state], state).toBeGreaterThan(0)
      for (const code of ['node_lost', 'timeout']) expect(totals.errors[code], code).toBeGreaterThan(0)
    },
    PATIENCE_MS,
  )
}
