import { hasBudget, type World } from '../shapes.ts'
import type { StoredRun, Tables } from './tables.ts'
import { demand } from './invariants.ts'

/** What counted reports said they used is what the budget of the org has spent: no more, no less, whatever was lost. */
export function checkSpent(world: World, { runs, usage }: Tables): void {
  if (!hasBudget(world.seed)) return
  for (const { id } of world.orgs) {
    let spent = 0
    for (const row of usage) if (row['org_id'] === id) spent += row['used'] as number
    let reported = 0
    for (const run of runs) if (run.orgId === id) reported += reportedBy(world, run)
    demand(spent === reported, 'spent_once', () => `${id} spent ${spent} of ${reported} reported tokens`)
  }
}

/** A report that counted has left its words on record. */
function reportedBy({ journal }: World, run: StoredRun): number {
  let tokens = 0
  for (const { id, errorMessage } of run.attempts) {
    const hasCounted = errorMessage === `by ${id}` || run.output?.['by'] === id
    if (hasCounted) tokens += journal.performances.get(id as never)?.tokens ?? 0
  }
  return tokens
}
