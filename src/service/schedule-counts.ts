import { scheduleId } from '../core/ids.ts'
import { countRunsOfSchedule } from '../store/run-counts.ts'
import { countSchedulesByState } from '../store/stats.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'

type Reading = Pick<Ports, 'database'>

/** How many schedules of the org are switched on. */
export const countActiveSchedules = async ({ database }: Reading, { orgId }: Pick<Caller, 'orgId'>): Promise<number> =>
  (await countSchedulesByState(database, orgId)).active ?? 0

/** How many runs of a schedule are on record. */
export const countScheduleRuns = (
  { database }: Reading,
  { orgId }: Pick<Caller, 'orgId'>,
  id: string,
): Promise<number> => countRunsOfSchedule(database, { orgId, id: scheduleId(id) })
