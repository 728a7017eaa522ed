import type { OrgId, RunId } from '../domain/ids.ts'
import { ACCEPTED } from '../core/usual-why.ts'
import type { Connection } from './database.ts'
import { type RunRecord, runs } from './run-record.ts'
import { amended, columns, type RowOf } from '../platform/db/table.ts'

const { definitions } = runs
const tasks = columns({
  id: definitions.id,
  agentId: definitions.agentId,
  priority: definitions.priority,
  createdAt: definitions.createdAt,
  deadline: definitions.deadline,
  payload: definitions.payload,
  decision: definitions.decision,
  state: definitions.state,
  startedAt: definitions.startedAt,
  firstStartedAt: definitions.firstStartedAt,
  finishedAt: definitions.finishedAt,
  why: definitions.why,
  errorCode: definitions.errorCode,
  errorMessage: definitions.errorMessage,
  output: definitions.output,
})

/** A task as it is shown: less than half of what there is about a run. */
export type TaskRecord = Pick<RunRecord, keyof RowOf<typeof tasks>>

/** The task, or undefined. Whoever waits for the end of one asks again and again, so it is told briefly. */
export async function loadTask(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: RunId },
): Promise<TaskRecord | undefined> {
  const rows = await connection.query(
    `select ${tasks.list}
       from run r left join pending p on p.org_id = r.org_id and p.id = r.id
      where r.org_id = $1 and r.id = $2 and r.trigger = 'task'`,
    [wanted.orgId, wanted.id],
  )
  const task = tasks.first(rows)
  return task === undefined ? undefined : amended(task, { decision: task.decision ?? ACCEPTED })
}
