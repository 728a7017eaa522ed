import { agentId, scheduleId, sessionKey, type AgentId, type OrgId, type RunId } from '../core/ids.ts'
import type { ScheduleId, SessionKey } from '../core/ids.ts'
import type { GuardRails } from '../core/rails/guard-rails.ts'
import type { Lineage } from '../core/rails/railed.ts'
import type { Connection } from './database.ts'
import { brandOrNull } from './rows.ts'

/** What is to be known of a run to judge the key of one of its attempts. */
export interface AttemptHolder {
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  readonly lineage: Lineage | null
  readonly parentRunId: string | null
  /** The present attempt and what it is doing; null: the run has ended. */
  readonly attemptId: string | null
  readonly state: string | null
  /** How far what its agent makes by itself may go; null: it makes nothing by itself, or is gone. */
  readonly selfService: GuardRails | null
}

/** The run of an attempt, with its agent; undefined: it, or its org, is gone. */
export async function loadAttemptHolder(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<AttemptHolder | undefined> {
  const [row] = await connection.query(
    `select r.agent_id, r.session_key, r.schedule_id, r.lineage, r.parent_run_id, p.attempt_id, p.state, a.self_service
       from run r join org o on o.id = r.org_id
       left join pending p on p.org_id = r.org_id and p.id = r.id
       left join agent a on a.org_id = r.org_id and a.id = r.agent_id
      where r.org_id = $1 and r.id = $2 and o.deleted_at is null`,
    [asked.orgId, asked.runId],
  )
  if (row === undefined) return undefined
  return {
    agentId: agentId(row['agent_id'] as string),
    sessionKey: brandOrNull(row['session_key'], sessionKey),
    scheduleId: brandOrNull(row['schedule_id'], scheduleId),
    lineage: row['lineage'] as Lineage | null,
    parentRunId: row['parent_run_id'] as string | null,
    attemptId: row['attempt_id'] as string | null,
    state: row['state'] as string | null,
    selfService: row['self_service'] as GuardRails | null,
  }
}
