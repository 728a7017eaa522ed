import { attemptId, orgId, runId, type AttemptId, type OrgId, type RunId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { columnsOf } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `attempt`: an execution that another one followed. The last one of a run is in the run itself. */
export interface AttemptRow {
  readonly orgId: OrgId
  readonly runId: RunId
  readonly number: number
  readonly id: AttemptId
  readonly nodeId: string | null
  readonly startedAt: Instant
  readonly finishedAt: Instant
  readonly status: 'failed' | 'timeout'
  readonly errorCode: ErrorCode | null
  readonly errorMessage: string | null
  /** Left out, or null: the runtime gave no code of its own. */
  readonly agentErrorCode?: string | null
}

const COLUMNS = `org_id, run_id, number, id, node_id, started_at, finished_at, status, error_code, error_message,
  agent_error_code`

/** Puts attempts on record that will be retried. */
export function insertAttempts(tx: Transaction, attempts: readonly AttemptRow[]): void {
  tx.send(
    `insert into attempt (${COLUMNS})
     select * from unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::text[], $6::timestamptz[],
                          $7::timestamptz[], $8::text[], $9::text[], $10::text[], $11::text[])`,
    columnsOf(
      attempts,
      (attempt) => attempt.orgId,
      (attempt) => attempt.runId,
      (attempt) => attempt.number,
      (attempt) => attempt.id,
      (attempt) => attempt.nodeId,
      (attempt) => toTimestamp(attempt.startedAt),
      (attempt) => toTimestamp(attempt.finishedAt),
      (attempt) => attempt.status,
      (attempt) => attempt.errorCode,
      (attempt) => attempt.errorMessage,
      (attempt) => attempt.agentErrorCode ?? null,
    ),
  )
}

/** The attempts of a run that others followed, in order. */
export async function loadAttempts(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly runId: RunId },
): Promise<readonly AttemptRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from attempt where org_id = $1 and run_id = $2 order by number`,
    [wanted.orgId, wanted.runId],
  )
  return rows.map(attemptOf)
}

const attemptOf = (row: Row): AttemptRow => ({
  orgId: orgId(row['org_id'] as string),
  runId: runId(row['run_id'] as string),
  number: row['number'] as number,
  id: attemptId(row['id'] as string),
  nodeId: row['node_id'] as string | null,
  startedAt: row['started_at'] as Instant,
  finishedAt: row['finished_at'] as Instant,
  status: row['status'] as AttemptRow['status'],
  errorCode: row['error_code'] as ErrorCode | null,
  errorMessage: row['error_message'] as string | null,
  agentErrorCode: row['agent_error_code'] as string | null,
})
