import { parentPort, workerData } from 'node:worker_threads'
import { openPostgres } from '../../src/platform/db/postgres/postgres.ts'
import type { ConnectionTarget } from '../../src/platform/db/postgres/target.ts'
import { compareHistory, nothingMet } from './agree.ts'

/** What a thread is told: its databases, and where the next seed is. */
export interface ThreadTask {
  readonly targets: readonly ConnectionTarget[]
  /** The first number is the next seed. */
  readonly next: Int32Array
  /** Where seeds end. */
  readonly end: number
}

/** What a thread says: a history is over, and how it differs if it does; or what it has met in all of them. */
export type Said =
  | { readonly kind: 'over'; readonly differs: string | null }
  | { readonly kind: 'met'; readonly counts: ReadonlyMap<string, number> }

/** Compares histories until there are none left. */
async function main({ targets, next, end }: ThreadTask): Promise<void> {
  const say = (said: Said): void => parentPort?.postMessage(said)
  const met = nothingMet()
  const streams = targets.map(async (target) => {
    const database = await openPostgres({ target, pool: 2, pinPlans: true })
    for (let seed = Atomics.add(next, 0, 1); seed < end; seed = Atomics.add(next, 0, 1)) {
      const differs = await compareHistory(database, seed, met)
      say({ kind: 'over', differs: differs?.message ?? null })
    }
    await database.close()
  })
  await Promise.all(streams)
  say({ kind: 'met', counts: met.counts })
}

await main(workerData as ThreadTask)
