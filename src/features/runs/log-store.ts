import type { AttemptId, OrgId, RunId } from '../../domain/ids.ts'
import type { Connection } from '../../platform/db/database.ts'
import { column, type RowOf, table } from '../../platform/db/table.ts'

/** Maximum size of the log of an attempt. */
export const MAX_LOG_BYTES = 1_048_576

const logs = table('run_log', {
  orgId: column.text<OrgId>(),
  runId: column.text<RunId>(),
  attemptId: column.text<AttemptId>(),
  /** The id of its first entry. */
  id: column.text(),
  /** The size of its entries. */
  bytes: column.int(),
  /** The entries as JSON: a list of `[id, event]`. */
  entries: column.text(),
})

/** A row of `run_log`: a chunk of what an attempt printed. */
export type RunLogRow = RowOf<typeof logs>

/**
 * Stores chunks. A chunk that is stored already is left out, and so is one above the limit: the events of a worker may
 * arrive at several nodes, and none of them knows the whole size.
 */
export async function insertRunLogs(connection: Connection, chunks: readonly RunLogRow[]): Promise<void> {
  await connection.query(
    `insert into run_log (${logs.names})
     select ${logs.of('c')} from unnest(${logs.arrays(1)}) as c (${logs.names})
      where c.bytes + (select coalesce(sum(l.bytes), 0) from run_log l
                        where l.org_id = c.org_id and l.run_id = c.run_id and l.attempt_id = c.attempt_id) <= $${logs.count + 1}
     on conflict do nothing`,
    [...logs.lists(chunks), MAX_LOG_BYTES],
  )
}

/** Loads chunks of an attempt in order, from the chunk `from` on. */
export async function loadRunLogs(
  connection: Connection,
  query: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly attemptId: AttemptId
    readonly from: string
    readonly limit: number
  },
): Promise<readonly RunLogRow[]> {
  const { orgId, runId, attemptId, from, limit } = query
  const rows = await connection.query(
    `select ${logs.list} from run_log where org_id = $1 and run_id = $2 and attempt_id = $3 and id >= $4
      order by id limit $5`,
    [orgId, runId, attemptId, from, limit],
  )
  return logs.read(rows)
}
