import type { RunState } from '../../src/domain/run/run-machine.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { countsLine } from '../support/seeds.ts'
import { Violation } from '../support/violation.ts'
import { checkWorld } from './checks/world.ts'
import { FAULT_KINDS, NODE_FAULTS, noFaults, SERVER_FAULTS, STORE_FAULTS, type FaultCounts } from './faults.ts'
import { TABLES } from './tables.ts'
import { OPERATIONS, simulate } from './simulate.ts'
import type { WorldOptions } from './world.ts'

export interface Totals {
  worlds: number
  looks: number
  turns: number
  readonly faults: FaultCounts
  readonly operations: Record<string, number>
  readonly endings: Partial<Record<RunState, number>>
  readonly triggers: Record<string, number>
  readonly errors: Record<string, number>
}

export const noTotals = (): Totals => ({
  ...{ worlds: 0, looks: 0, turns: 0, faults: noFaults(), operations: {}, endings: {}, triggers: {}, errors: {} },
})

/** Lets worlds happen and adds up what happened in them. The first that breaks an invariant is thrown, with its seed. */
export async function runSeeds(database: Database, seeds: readonly number[], totals: Totals): Promise<void> {
  for (const seed of seeds) {
    const broken = await runSeed({ seed, database }, totals)
    if (broken !== null)
      throw new Error(`Seed ${seed}: ${broken.message}\nReplay it: ESCAPEMENT_SEED=${seed} npm test faults`, {
        cause: broken,
      })
  }
}

/** Only what hangs takes this long, also beside other steps on a machine that others use, too: all of them come first. */
export const PATIENCE_MS = 2_400_000

/** One world, on empty tables. Answers with what broke in it. */
export async function runSeed(options: WorldOptions, totals: Totals = noTotals()): Promise<Violation | null> {
  await wipe(options.database)
  try {
    const world = await simulate(options)
    const tables = await checkWorld(world)
    totals.worlds += 1
    totals.looks += world.looks
    totals.turns += tables.turns.length
    for (const kind of FAULT_KINDS) totals.faults[kind] += world.faults[kind]
    let faults = 0
    for (const kind of [...STORE_FAULTS, ...NODE_FAULTS, ...SERVER_FAULTS]) faults += world.faults[kind]
    if (faults < FEWEST_FAULTS) throw new Error(`seed ${options.seed} had only ${faults} faults`)
    for (const [kind, count] of world.operations) totals.operations[kind] = (totals.operations[kind] ?? 0) + count
    for (const run of tables.runs) {
      const { state, trigger } = run
      if (state !== null) totals.endings[state] = (totals.endings[state] ?? 0) + 1
      totals.triggers[trigger] = (totals.triggers[trigger] ?? 0) + 1
      for (const { errorCode } of run.attempts)
        if (errorCode !== null) totals.errors[errorCode] = (totals.errors[errorCode] ?? 0) + 1
    }
    return null
  } catch (error) {
    if (error instanceof Violation) return error
    throw error
  }
}

/** A world in which less goes wrong than this, notifications aside, has shown nothing. */
const FEWEST_FAULTS = 1

/** What is only ever added to has to be told that a world is over. */
const KEPT = ['audit', 'audit_head']

/** Nodes and lanes belong to nobody, so a world needs a database for itself. */
const wipe = (database: Database): Promise<unknown> =>
  database.query(
    [
      ...KEPT.map((table) => `alter table ${table} disable trigger user`),
      ...TABLES.map((table) => `delete from ${table}`),
      ...KEPT.map((table) => `alter table ${table} enable trigger user`),
    ].join('; '),
  )

/** The totals as lines for the log: what was not exercised was not tested. */
export function printTotals(totals: Totals): string {
  const { worlds, turns, looks } = totals
  return [
    `${worlds} worlds of ${OPERATIONS} operations, ${turns} turns, ${looks} looks into the memory of a node`,
    countsLine('faults', totals.faults),
    countsLine('operations', totals.operations),
    countsLine('endings', totals.endings),
    countsLine('triggers', totals.triggers),
    countsLine('errors', totals.errors),
  ].join('\n')
}
