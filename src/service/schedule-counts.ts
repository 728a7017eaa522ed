import { scheduleId } from '../domain/ids.ts'
import { confinedTo } from '../core/rails/railed.ts'
import { countRunsOfSchedule } from '../store/run-counts.ts'
import { countSchedules } from '../store/schedules.ts'
import { countSchedulesByState } from '../features/stats/store.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'

type Reading = Pick<Ports, 'database'>

/** How many schedules of the org, or of whoever sees only their own, are switched on. */
export async function countActiveSchedules(
  { database }: Reading,
  { orgId, railed }: Pick<Caller, 'orgId' | 'railed'>,
): Promise<number> {
  const owner = confinedTo(railed)
  if (owner !== null) return countSchedules(database, { orgId, owner, state: 'active' })
  return (await countSchedulesByState(database, orgId)).active ?? 0
}

/** How many runs of a schedule are on record. */
export const countScheduleRuns = (
  { database }: Reading,
  { orgId }: Pick<Caller, 'orgId'>,
  id: string,
): Promise<number> => countRunsOfSchedule(database, { orgId, id: scheduleId(id) })
