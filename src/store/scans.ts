import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import { PRESENT } from './clock.ts'
import type { Connection } from './database.ts'
import { timestampOrNull } from './rows.ts'
import { column, columns, type RowOf } from './table.ts'

const scans = columns({
  nodeId: column.text('coalesce(n.id, a.subject_id)'),
  /** Whether the node is on record. */
  known: column.boolean('n.id is not null'),
  /** Null: it does not say, as nodes of an earlier release do not. */
  scannedAt: column.instant<Instant | null>('n.scanned_at'),
  draining: column.boolean('coalesce(n.draining, false)'),
  lost: column.boolean('coalesce(n.lost, false)'),
  alertId: column.text<string | null>('a.id'),
})
const scansNow = columns({ ...scans.definitions, now: column.instant(PRESENT) })

/** When a node last looked at what is due, and the open alert that it does not. */
export type ScanRow = RowOf<typeof scans>

/**
 * Says when this node last looked, and reads when the others did, in one statement. Also answers with the present by the
 * clock of the database, and with open alerts about nodes that are gone.
 */
export async function exchangeScans(
  connection: Connection,
  mine: { readonly nodeId: string; readonly scannedAt: Instant | null; readonly orgId: OrgId },
): Promise<{ readonly now: Instant | null; readonly rows: readonly ScanRow[] }> {
  const rows = await connection.query(
    `with mine as (update node set scanned_at = $2::timestamptz where id = $1 and $2::timestamptz is not null)
     select ${scansNow.list}
     from node n full join (
       select id, subject_id from alert where org_id = $3 and kind = 'engine_stalled' and cleared_at is null) a
       on a.subject_id = n.id`,
    [mine.nodeId, timestampOrNull(mine.scannedAt), mine.orgId],
  )
  const found = scansNow.read(rows)
  return { now: found[0]?.now ?? null, rows: found.map(({ now: _, ...scan }) => scan) }
}
