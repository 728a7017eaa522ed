import { verifyAudit } from '../../../src/features/audit/service.ts'
import type { Row } from '../../../src/platform/db/database.ts'
import type { World } from '../shapes.ts'
import type { Tables } from './tables.ts'
import { demand } from './invariants.ts'

/** What somebody did is on record once, in a chain that is whole, whatever became of the answer. */
export async function checkAudit(world: World, { runs, audits }: Tables): Promise<void> {
  for (const { id } of world.orgs) {
    const verdict = await verifyAudit(world, id)
    demand(verdict.ok, 'audit_is_whole', () => `${id}: ${verdict.faults.map(({ message }) => message).join('; ')}`)
  }
  const told = (action: string): readonly string[] =>
    audits
      .filter((row) => row['action'] === action)
      .map((row) => ((row['after'] as Row)['run_id'] as string | undefined) ?? (row['object_id'] as string))
  const demandOnce = (action: string, wanted: readonly string[]): void => {
    const [found, made] = [told(action).toSorted(), wanted.toSorted()]
    demand(
      String(found) === String(made),
      'audit_is_whole',
      () => `${action} told ${String(found)}, were ${String(made)}`,
    )
  }
  const madeBy = (trigger: string) => runs.filter((run) => run.trigger === trigger).map((run) => run.id)
  demandOnce('run.retry', madeBy('retry'))
  demandOnce('schedule.run_now', madeBy('manual'))
  const schedules = told('schedule.create')
  demand(new Set(schedules).size === schedules.length, 'audit_is_whole', () => `made twice: ${String(schedules)}`)
}
