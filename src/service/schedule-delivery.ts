import { invalid } from '../api/refusals.ts'
import type { ScheduleInput } from '../contract/schedule.ts'
import { targetId, type OrgId } from '../domain/ids.ts'
import type { Connection } from '../store/database.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { loadTargets, type TargetRow } from '../store/targets.ts'
import { deliveryOf } from './desk/announce.ts'
import type { TurnReads } from './turn/turn-reads.ts'

/** The target that an input names, null when it names none. One that delivers to nobody would look as if it did. */
export async function targetFor(reads: TurnReads, { delivery }: ScheduleInput): Promise<TargetRow | null> {
  if (delivery === undefined || delivery === null) return null
  const found = await reads.target(targetId(delivery.target_id))
  if (found === undefined)
    throw invalid([
      {
        ...{ field: 'delivery.target_id', value: delivery.target_id, message: 'names no target of the org' },
        allowed: 'the id of a target, as the list of targets has it',
      },
    ])
  return found
}

/** The targets of these schedules that are switched off. */
export async function disabledTargets(
  connection: Connection,
  orgId: OrgId,
  rows: readonly ScheduleRow[],
): Promise<ReadonlySet<string>> {
  const ids = rows.flatMap((row) => {
    const to = deliveryOf(row)
    return to !== null && 'target' in to ? [to.target] : []
  })
  if (ids.length === 0) return new Set()
  const targets = await loadTargets(connection, { orgId, ids: [...new Set(ids)] })
  return new Set(targets.filter(({ disabledAt }) => disabledAt !== null).map(({ id }) => id))
}
