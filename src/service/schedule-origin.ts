import { invalid } from '../api/refusals.ts'
import { runId, type RunId } from '../domain/ids.ts'
import { breach } from '../core/rails/breach.ts'
import { loadRun } from '../store/run-reads.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'
import { railRefusal } from './rails/refusals.ts'

/** The run that a schedule is made of, as whoever makes it says; null: nobody says. */
export async function madeFrom(
  { database }: Pick<Ports, 'database'>,
  { orgId, railed }: Pick<Caller, 'orgId' | 'railed'>,
  given: string | undefined,
): Promise<RunId | null> {
  if (given === undefined) return null
  if (railed !== undefined)
    throw railRefusal(
      breach(
        'operation',
        'Where a schedule of a key with guard rails comes from is told by the key; leave from_run out',
      ),
    )
  // PostgreSQL takes no NUL in a text, and no id has one.
  const run = given.includes('\u0000') ? undefined : await loadRun(database, { orgId, id: runId(given) })
  if (run === undefined)
    throw invalid([{ field: 'from_run', value: given, message: 'is no run of this org', allowed: 'the id of a run' }])
  return run.id
}
