import type { AgentId, OrgId, RunId, ScheduleId, SessionKey } from '../core/ids.ts'
import type { Connection } from './database.ts'
import { column, columns, type RowOf } from './table.ts'

const owners = columns({
  id: column.text<RunId>(),
  agentId: column.text<AgentId>(),
  sessionKey: column.text<SessionKey | null>(),
  scheduleId: column.text<ScheduleId | null>(),
  /** The key or the agent under whose guard rails it was made. */
  owner: column.text<string | null>(),
})

/** Whose a run is. None of it ever changes. */
export type RunOwnersRow = Omit<RowOf<typeof owners>, 'id'>

/** Whose runs these are; those that are gone are left out. */
export async function loadRunOwners(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, RunOwnersRow>> {
  const rows = await connection.query(`select ${owners.list} from run where org_id = $1 and id = any($2::text[])`, [
    asked.orgId,
    asked.ids,
  ])
  return new Map(owners.read(rows).map(({ id, ...row }) => [id, row]))
}
