import type { Database } from '../../../src/platform/db/database.ts'
import { seedsFrom } from '../../support/seeds.ts'
import { serverFaultOf, type ServerFault } from '../faults.ts'
import { runSeed } from '../run-seeds.ts'
import type { Mutant } from './mutant.ts'

const SEEDS = seedsFrom(0, 40)

/** Worlds with what happens to the server that the mutant cannot cope with. */
const seedsWith = (fault: ServerFault): readonly number[] =>
  seedsFrom(0, 160).filter((seed) => serverFaultOf(seed) === fault)

/** The first world that notices the mutant; undefined when none does. */
export async function firstToCatch(
  database: Database,
  { breaks, mutate, needs, seed: hint }: Omit<Mutant, 'name'>,
): Promise<number | undefined> {
  const seeds = needs === undefined ? SEEDS : seedsWith(needs)
  for (const seed of new Set([hint ?? seeds[0] ?? 0, ...seeds])) {
    const broken = await runSeed({ seed, database, mutate, isHarsh: true })
    if (broken !== null && breaks.some((one) => one === broken.invariant)) return seed
  }
  return undefined
}
