import { agentId, runId, type OrgId, type RunId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import { ACCEPTED } from '../core/usual-why.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Connection } from './database.ts'
import { firstStart } from './run-columns.ts'
import type { RunRecord } from './run-record.ts'

/** A task as it is shown: less than half of what there is about a run. */
export type TaskRecord = Pick<
  RunRecord,
  | 'id'
  | 'agentId'
  | 'priority'
  | 'createdAt'
  | 'deadline'
  | 'payload'
  | 'decision'
  | 'state'
  | 'startedAt'
  | 'firstStartedAt'
  | 'finishedAt'
  | 'why'
  | 'errorCode'
  | 'errorMessage'
  | 'output'
>

/** The task, or undefined. Whoever waits for the end of one asks again and again, so it is told briefly. */
export async function loadTask(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: RunId },
): Promise<TaskRecord | undefined> {
  const [row] = await connection.query(
    `select r.id, r.agent_id, r.priority, r.created_at, r.deadline, r.payload, r.decision,
            coalesce(r.state, p.state) as state, coalesce(r.started_at, p.started_at) as started_at,
            ${firstStart('r', 'coalesce(r.attempt, p.attempt, 1)')}, r.finished_at,
            coalesce(r.why, p.why) as why, r.error_code, r.error_message, r.output
       from run r left join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.id = $2 and r.trigger = 'task'`,
    [wanted.orgId, wanted.id],
  )
  if (row === undefined) return undefined
  return {
    id: runId(row['id'] as string),
    agentId: agentId(row['agent_id'] as string),
    priority: row['priority'] as number,
    createdAt: row['created_at'] as Instant,
    deadline: row['deadline'] as Instant | null,
    payload: row['payload'],
    decision: (row['decision'] as Why | null) ?? ACCEPTED,
    state: row['state'] as RunState,
    startedAt: row['started_at'] as Instant | null,
    firstStartedAt: row['first_started_at'] as Instant | null,
    finishedAt: row['finished_at'] as Instant | null,
    why: row['why'] as Why | null,
    errorCode: row['error_code'] as ErrorCode | null,
    errorMessage: row['error_message'] as string | null,
    output: row['output'],
  }
}
