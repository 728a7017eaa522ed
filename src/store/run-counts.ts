import type { OrgId, ScheduleId } from '../domain/ids.ts'
import type { Connection } from './database.ts'
import { counted } from '../platform/db/table.ts'

/** How many runs of a schedule are on record. Retention keeps at most 10,000 of them. */
export async function countRunsOfSchedule(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly id: ScheduleId },
): Promise<number> {
  const rows = await connection.query(`select ${counted.list} from run where org_id = $1 and schedule_id = $2`, [
    asked.orgId,
    asked.id,
  ])
  return counted.only(rows).count
}
