import type { Instant } from '../../../src/domain/instant.ts'
import type { World } from '../shapes.ts'
import { groupBy, type Tables } from './tables.ts'
import { demand } from './invariants.ts'

/** The ledger and the runs say the same, and every moment of a schedule that was left alone has been decided. */
export function checkSchedules(world: World, tables: Tables): void {
  checkLedger(tables)
  for (const org of world.orgs)
    for (const schedule of org.schedules)
      if (schedule.isFixed && schedule.everyMs !== null)
        checkComplete(tables, { ...schedule, everyMs: schedule.everyMs })
}

function checkLedger({ runs, occurrences }: Tables): void {
  const planned = runs.filter(({ trigger }) => trigger === 'schedule' || trigger === 'catchup')
  for (const [key, same] of groupBy(planned, ({ scheduleId, nominal }) => `${scheduleId ?? ''} at ${nominal ?? 0}`))
    demand(same.length === 1, 'one_run_per_occurrence', () => `${key} has ${same.map(({ id }) => id).join()}`)
  const entered = new Map(occurrences.map((occurrence) => [occurrence.runId, occurrence]))
  for (const run of planned) {
    const entry = entered.get(run.id)
    demand(
      entry !== undefined && entry.scheduleId === run.scheduleId && entry.nominal === run.nominal,
      'one_run_per_occurrence',
      () => `${run.id} is not in the ledger`,
    )
  }
  const byId = new Map(runs.map((run) => [run.id, run]))
  for (const { runId, scheduleId } of occurrences)
    demand(byId.get(runId)?.scheduleId === scheduleId, 'one_run_per_occurrence', () => `the ledger names ${runId}`)
}

/** Counts the moments from its first one to its watermark; those in a range of misfires are on record together. */
function checkComplete(tables: Tables, { id, everyMs }: { readonly id: string; readonly everyMs: number }): void {
  const row = tables.schedules.find((one) => one['id'] === id)
  if (row === undefined) return
  const upTo = row['watermark'] as Instant
  const fires = row['fires'] as number
  const maxFires = (row['rules'] as { readonly maxFires: number | null }).maxFires
  if (maxFires !== null && fires >= maxFires) return
  const since = row['created_at'] as Instant
  const due = Math.floor((upTo - since) / everyMs)
  const decided = tables.occurrences.filter(({ scheduleId, kind }) => scheduleId === id && kind === 'occurrence').length
  let ranged = 0
  for (const range of tables.ranges) if (range['schedule_id'] === id) ranged += range['count'] as number
  demand(
    decided + ranged === due,
    'every_occurrence_decided',
    () => `${id} had ${due} moments; ${decided} are in the ledger and ${ranged} in ranges`,
  )
}
