import type { OrgId, ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { Connection, Transaction } from './database.ts'
import { column, table, type RowOf } from './table.ts'
import { toTimestamp } from './timestamp.ts'

export const decisions = table('decision', {
  orgId: column.text<OrgId>(),
  scheduleId: column.text<ScheduleId>(),
  first: column.instant('first_at'),
  last: column.instant('last_at'),
  count: column.bigint(),
  why: column.json<Why>(),
  decidedAt: column.instant(),
})

/** A row of `decision`: occurrences that were decided together and made no run, or whose skipped runs were folded. */
export type DecisionRow = RowOf<typeof decisions>

/** Puts ranges on record. */
export function insertDecisions(tx: Transaction, rows: readonly DecisionRow[]): void {
  tx.send(decisions.insertMany, decisions.lists(rows))
}

/** The narrowest range of the schedule that covers the moment, or undefined: the one that begins last. */
export async function loadDecisionAt(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly at: Instant },
): Promise<DecisionRow | undefined> {
  const rows = await connection.query(
    `select ${decisions.list} from decision
      where org_id = $1 and schedule_id = $2 and first_at <= $3::timestamptz and last_at >= $3::timestamptz
      order by first_at desc limit 1`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.at)],
  )
  return decisions.first(rows)
}
