import {
  agentId,
  runId,
  scheduleId,
  sessionKey,
  type AgentId,
  type OrgId,
  type RunId,
  type ScheduleId,
  type SessionKey,
} from '../core/ids.ts'
import type { Connection } from './database.ts'
import { brandOrNull } from './rows.ts'

/** Whose a run is. None of it ever changes. */
export interface RunOwnersRow {
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  /** The key or the agent under whose guard rails it was made. */
  readonly owner: string | null
}

/** Whose runs these are; those that are gone are left out. */
export async function loadRunOwners(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly ids: readonly RunId[] },
): Promise<ReadonlyMap<RunId, RunOwnersRow>> {
  const rows = await connection.query(
    'select id, agent_id, session_key, schedule_id, owner from run where org_id = $1 and id = any($2::text[])',
    [asked.orgId, asked.ids],
  )
  return new Map(
    rows.map((row) => [
      runId(row['id'] as string),
      {
        agentId: agentId(row['agent_id'] as string),
        sessionKey: brandOrNull(row['session_key'], sessionKey),
        scheduleId: brandOrNull(row['schedule_id'], scheduleId),
        owner: row['owner'] as string | null,
      },
    ]),
  )
}
