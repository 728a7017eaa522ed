import { invalid } from '../api/refusals.ts'
import type { OutcomesFilter, ScheduleOutcome, ScheduleOutcomes } from '../contract/schedule-outcome.ts'
import { scheduleId } from '../domain/ids.ts'
import { formatInstant } from '../domain/instant.ts'
import { confinedTo } from '../core/rails/railed.ts'
import { loadOutcomes } from '../store/schedule-outcomes.ts'
import type { Caller } from './caller.ts'
import type { Ports } from './ports.ts'

const MOST_SCHEDULES = 200
const USUAL_RUNS = 20

/** How the last runs of some schedules went, in the order in which they are named; who is not there is left out. */
export async function readOutcomes(
  { database }: Pick<Ports, 'database'>,
  { orgId, railed }: Pick<Caller, 'orgId' | 'railed'>,
  filter: OutcomesFilter,
): Promise<ScheduleOutcomes> {
  const ids = readIds(filter.ids)
  const owner = confinedTo(railed)
  const limit = filter.limit ?? USUAL_RUNS
  const rows = await loadOutcomes(database, { orgId, ids: ids.map(scheduleId), limit, owner })
  const found = new Map<string, ScheduleOutcome[]>()
  for (const { scheduleId: id, run } of rows) {
    const runs = found.get(id) ?? []
    found.set(id, runs)
    if (run !== null) runs.push({ id: run.id, status: run.state, created_at: formatInstant(run.createdAt) })
  }
  return {
    items: ids.flatMap((id) => {
      const runs = found.get(id)
      return runs === undefined ? [] : [{ schedule_id: id, runs }]
    }),
  }
}

function readIds(text: string): readonly string[] {
  const ids = [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== '')
  if (ids.length > 0 && ids.length <= MOST_SCHEDULES) return ids
  const message = ids.length === 0 ? 'names no schedule' : `names ${ids.length} schedules`
  const allowed = `1 to ${MOST_SCHEDULES} ids of schedules with commas between them`
  throw invalid([{ field: 'ids', value: text.slice(0, 200), message, allowed }])
}
