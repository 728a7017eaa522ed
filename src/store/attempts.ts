import type { AgentId, AttemptId, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { GuardRails } from '../core/rails/guard-rails.ts'
import type { Lineage } from '../core/rails/railed.ts'
import type { ErrorCode } from '../domain/run/error-codes.ts'
import type { Connection, Transaction } from './database.ts'
import { column, columns, type RowOf, table } from '../platform/db/table.ts'

const attempts = table('attempt', {
  orgId: column.text<OrgId>(),
  runId: column.text<RunId>(),
  number: column.int(),
  id: column.text<AttemptId>(),
  nodeId: column.text<string | null>(),
  startedAt: column.instant(),
  finishedAt: column.instant(),
  status: column.text<'failed' | 'timeout'>(),
  errorCode: column.text<ErrorCode | null>(),
  errorMessage: column.text<string | null>(),
  agentErrorCode: column.text<string | null>(),
})

/** A row of `attempt`: an execution that another one followed. The last one of a run is in the run itself. */
export interface AttemptRow extends Omit<RowOf<typeof attempts>, 'agentErrorCode'> {
  /** Left out, or null: the runtime gave no code of its own. */
  readonly agentErrorCode?: string | null
}

/** Puts attempts on record that will be retried. */
export function insertAttempts(tx: Transaction, rows: readonly AttemptRow[]): void {
  tx.send(
    attempts.insertMany,
    attempts.lists(rows.map((row) => ({ ...row, agentErrorCode: row.agentErrorCode ?? null }))),
  )
}

/** The attempts of a run that others followed, in order. */
export async function loadAttempts(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<readonly AttemptRow[]> {
  const rows = await connection.query(
    `select ${attempts.list} from attempt where org_id = $1 and run_id = $2 order by number`,
    [wanted.orgId, wanted.runId],
  )
  return attempts.read(rows)
}

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
