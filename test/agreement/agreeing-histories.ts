import { expect, it } from 'vitest'
import { createTestDatabase } from '../support/database.ts'
import { askedSeed } from '../support/seeds.ts'
import { compareHistory, nothingMet } from './agree.ts'
import { EXPECTED } from './expected.ts'

const HISTORIES = 100

/** Histories side by side: while one waits for its database, another has the core. */
const STREAMS = 3

/** Only what hangs takes this long, also beside other steps on a machine that others use, too. */
export const PATIENCE_MS = 2_400_000

/** Half of the histories of the suite. */
export function expectAgreement(name: string, first: number): void {
  it.skipIf(askedSeed() !== null)(
    `the simulation tells ${HISTORIES} histories as the tables do (${name})`,
    async () => {
      const met = nothingMet()
      const left = Array.from({ length: HISTORIES }, (_, index) => first + 2 * index)
      const streams = Array.from({ length: STREAMS }, async () => {
        const test = await createTestDatabase('migrated')
        try {
          const database = await test.open({ pool: 2, pinPlans: true })
          for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
            const differs = await compareHistory(database, seed, met)
            if (differs !== null) throw differs
          }
        } finally {
          await test.drop()
        }
      })
      // All have to be over before anything is said: a history that fails must not leave others behind.
      const ends = await Promise.allSettled(streams)
      for (const end of ends) if (end.status === 'rejected') throw end.reason
      expect(met.histories).toBe(HISTORIES)
      for (const what of EXPECTED) expect(met.counts.get(what), what).toBeGreaterThan(0)
    },
    PATIENCE_MS,
  )
}
