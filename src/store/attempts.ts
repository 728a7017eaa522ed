import type { AttemptId, OrgId, RunId } from '../core/ids.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import type { Connection, Transaction } from './database.ts'
import { column, table, type RowOf } from './table.ts'

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
