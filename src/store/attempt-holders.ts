import type { AgentId, OrgId, RunId } from '../core/ids.ts'
import type { ScheduleId, SessionKey } from '../core/ids.ts'
import type { GuardRails } from '../core/rails/guard-rails.ts'
import type { Lineage } from '../core/rails/railed.ts'
import type { Connection } from './database.ts'
import { column, columns, type RowOf } from './table.ts'

const holders = columns({
  agentId: column.text<AgentId>('r.agent_id'),
  sessionKey: column.text<SessionKey | null>('r.session_key'),
  scheduleId: column.text<ScheduleId | null>('r.schedule_id'),
  lineage: column.json<Lineage | null>('r.lineage'),
  parentRunId: column.text<string | null>('r.parent_run_id'),
  /** The present attempt and what it is doing; null: the run has ended. */
  attemptId: column.text<string | null>('p.attempt_id'),
  state: column.text<string | null>('p.state'),
  /** How far what its agent makes by itself may go; null: it makes nothing by itself, or is gone. */
  selfService: column.json<GuardRails | null>('a.self_service'),
})

/** What is to be known of a run to judge the key of one of its attempts. */
export type AttemptHolder = RowOf<typeof holders>

/** The run of an attempt, with its agent; undefined: it, or its org, is gone. */
export async function loadAttemptHolder(
  connection: Connection,
  asked: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<AttemptHolder | undefined> {
  const rows = await connection.query(
    `select ${holders.list}
       from run r join org o on o.id = r.org_id
       left join pending p on p.org_id = r.org_id and p.id = r.id
       left join agent a on a.org_id = r.org_id and a.id = r.agent_id
      where r.org_id = $1 and r.id = $2 and o.deleted_at is null`,
    [asked.orgId, asked.runId],
  )
  return holders.first(rows)
}
