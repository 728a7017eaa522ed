import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import { PRESENT } from './clock.ts'
import type { Connection } from './database.ts'
import { timestampOrNull } from './rows.ts'

/** When a node last looked at what is due, and the open alert that it does not. */
export interface ScanRow {
  readonly nodeId: string
  /** Whether the node is on record. */
  readonly known: boolean
  /** Null: it does not say, as nodes of an earlier release do not. */
  readonly scannedAt: Instant | null
  readonly draining: boolean
  readonly lost: boolean
  readonly alertId: string | null
}

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
     select coalesce(n.id, a.subject_id) as node_id, n.id is not null as known, n.scanned_at,
       coalesce(n.draining, false) as draining, coalesce(n.lost, false) as lost, a.id as alert_id,
       ${PRESENT} as now
     from node n full join (
       select id, subject_id from alert where org_id = $3 and kind = 'engine_stalled' and cleared_at is null) a
       on a.subject_id = n.id`,
    [mine.nodeId, timestampOrNull(mine.scannedAt), mine.orgId],
  )
  return {
    now: (rows[0]?.['now'] as Instant | undefined) ?? null,
    rows: rows.map((row) => ({
      nodeId: row['node_id'] as string,
      known: row['known'] as boolean,
      scannedAt: row['scanned_at'] as Instant | null,
      draining: row['draining'] as boolean,
      lost: row['lost'] as boolean,
      alertId: row['alert_id'] as string | null,
    })),
  }
}
