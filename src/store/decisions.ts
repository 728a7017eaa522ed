import { orgId, scheduleId, type OrgId, type ScheduleId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { Connection, Transaction } from './database.ts'
import { columnsOf } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `decision`: occurrences that were decided together and made no run, or whose skipped runs were folded. */
export interface DecisionRow {
  readonly orgId: OrgId
  readonly scheduleId: ScheduleId
  readonly first: Instant
  readonly last: Instant
  readonly count: number
  readonly why: Why
  readonly decidedAt: Instant
}

/** Puts ranges on record. */
export function insertDecisions(tx: Transaction, decisions: readonly DecisionRow[]): void {
  tx.send(
    `insert into decision (org_id, schedule_id, first_at, last_at, count, why, decided_at)
     select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::bigint[], $6::jsonb[],
                          $7::timestamptz[])`,
    columnsOf(
      decisions,
      (decision) => decision.orgId,
      (decision) => decision.scheduleId,
      (decision) => toTimestamp(decision.first),
      (decision) => toTimestamp(decision.last),
      (decision) => decision.count,
      (decision) => JSON.stringify(decision.why),
      (decision) => toTimestamp(decision.decidedAt),
    ),
  )
}

/** The narrowest range of the schedule that covers the moment, or undefined: the one that begins last. */
export async function loadDecisionAt(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly scheduleId: ScheduleId; readonly at: Instant },
): Promise<DecisionRow | undefined> {
  const [row] = await connection.query(
    `select org_id, schedule_id, first_at, last_at, count, why, decided_at from decision
      where org_id = $1 and schedule_id = $2 and first_at <= $3::timestamptz and last_at >= $3::timestamptz
      order by first_at desc limit 1`,
    [wanted.orgId, wanted.scheduleId, toTimestamp(wanted.at)],
  )
  if (row === undefined) return undefined
  return {
    orgId: orgId(row['org_id'] as string),
    scheduleId: scheduleId(row['schedule_id'] as string),
    first: row['first_at'] as Instant,
    last: row['last_at'] as Instant,
    count: row['count'] as number,
    why: row['why'] as Why,
    decidedAt: row['decided_at'] as Instant,
  }
}
