import { Refusal } from '../../contract/refusals.ts'
import { scheduleId, type ScheduleId } from '../../core/ids.ts'
import { judgeDepth } from '../../core/rails/judge-making.ts'
import type { RailAct } from '../../store/rails.ts'
import type { RunRecord } from '../../store/run-record.ts'
import { loadSchedules } from '../../store/schedules.ts'
import { requireRate, type AtWork } from './making.ts'
import { refuse } from './refusals.ts'
import { judgeWake } from './schedules.ts'

/** A run that was asked for. */
export const wokenAct = (id: ScheduleId | null): RailAct => ({ kind: 'woken', scheduleId: id, moment: null })

async function judgeSchedule(at: AtWork, id: ScheduleId): Promise<boolean> {
  const [row] = await loadSchedules(at.tx, { orgId: at.orgId, ids: [id] })
  if (row === undefined) return false
  await judgeWake(at, row)
  return true
}

/** Judges the wish for a run of a schedule now. */
export const judgeRunNow =
  (id: string) =>
  async (at: AtWork): Promise<void> => {
    if (!(await judgeSchedule(at, scheduleId(id)))) throw new Refusal('NOT_FOUND', `There is no schedule ${id}`)
  }

/** Judges the wish for a run to be repeated; one of a schedule counts as one that is asked for. */
export const judgeRetry =
  (record: RunRecord) =>
  async (at: AtWork): Promise<void> => {
    if (record.scheduleId !== null && (await judgeSchedule(at, record.scheduleId))) return
    refuse(judgeDepth(at.railed))
    await requireRate(at, 1)
  }
