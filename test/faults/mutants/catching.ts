import type { Database } from '../../../src/store/database.ts'
import { seedsFrom } from '../../support/seeds.ts'
import { runSeed } from '../run-seeds.ts'
import type { Mutant } from './mutant.ts'

const SEEDS = seedsFrom(0, 40)

/** The first world that notices the mutant; undefined when none does. */
export async function firstToCatch(
  database: Database,
  { breaks, mutate, seed: hint = 0 }: Omit<Mutant, 'name'>,
): Promise<number | undefined> {
  for (const seed of new Set([hint, ...SEEDS])) {
    const broken = await runSeed({ seed, database, mutate, isHarsh: true })
    if (process.env['MUTANTS'] !== undefined)
      process.stdout.write(`  seed ${seed}: ${broken?.message.slice(0, 120) ?? 'ok'}\n`)
    if (broken !== null && breaks.some((one) => one === broken.invariant)) return seed
  }
  return undefined
}
