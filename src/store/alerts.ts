import { orgId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `alert`. */
export interface AlertRow {
  readonly orgId: OrgId
  readonly id: string
  readonly kind: string
  readonly subjectKind: string
  readonly subjectId: string
  readonly why: Why
  readonly raisedAt: Instant
  readonly clearedAt: Instant | null
  readonly clearedWhy: Why | null
}

const COLUMNS = 'org_id, id, kind, subject_kind, subject_id, why, raised_at, cleared_at, cleared_why'

/** Raises an alert unless the same one is open. */
export function insertAlert(tx: Transaction, row: AlertRow): void {
  tx.send(
    `insert into alert (org_id, id, kind, subject_kind, subject_id, why, raised_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::timestamptz)
     on conflict (org_id, kind, subject_id) where cleared_at is null do nothing`,
    [
      ...[row.orgId, row.id, row.kind, row.subjectKind, row.subjectId],
      ...[JSON.stringify(row.why), toTimestamp(row.raisedAt)],
    ],
  )
}

/** Clears the open alert of a kind about something. Answers with its id, or null when there is none. */
export async function clearAlert(
  tx: Transaction,
  cleared: {
    readonly orgId: OrgId
    readonly kind: string
    readonly subjectId: string
    readonly now: Instant
    readonly why: Why
  },
): Promise<string | null> {
  const [row] = await tx.query(
    `update alert set cleared_at = $4::timestamptz, cleared_why = $5::jsonb
      where org_id = $1 and kind = $2 and subject_id = $3 and cleared_at is null returning id`,
    [cleared.orgId, cleared.kind, cleared.subjectId, toTimestamp(cleared.now), JSON.stringify(cleared.why)],
  )
  return (row?.['id'] as string | undefined) ?? null
}

/** Alerts of the org, newest first. `open` null: both. */
export async function listAlerts(
  connection: Connection,
  page: {
    readonly orgId: OrgId
    readonly open: boolean | null
    readonly after: { readonly createdAt: Instant; readonly id: string } | null
    readonly limit: number
  },
): Promise<readonly AlertRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from alert
      where org_id = $1 and ($2::boolean is null or (cleared_at is null) = $2::boolean)
        and ($3::timestamptz is null or (raised_at, id) < ($3::timestamptz, $4::text))
      order by raised_at desc, id desc limit $5`,
    [page.orgId, page.open, timestampOrNull(page.after?.createdAt ?? null), page.after?.id ?? '', page.limit],
  )
  return rows.map(alertOf)
}

/** Alerts that were cleared before a moment. Answers with how many. */
export async function deleteOldAlerts(
  connection: Connection,
  old: { readonly orgId: OrgId; readonly before: Instant; readonly limit: number },
): Promise<number> {
  const rows = await connection.query(
    `with doomed as (
       select id from alert where org_id = $1 and raised_at < $2::timestamptz and cleared_at < $2::timestamptz
        order by raised_at, id limit $3 for update skip locked),
     gone as (delete from alert a using doomed d where a.org_id = $1 and a.id = d.id returning 1)
     select count(*) as removed from gone`,
    [old.orgId, toTimestamp(old.before), old.limit],
  )
  return rows[0]?.['removed'] as number
}

const alertOf = (row: Row): AlertRow => ({
  orgId: orgId(row['org_id'] as string),
  id: row['id'] as string,
  kind: row['kind'] as string,
  subjectKind: row['subject_kind'] as string,
  subjectId: row['subject_id'] as string,
  why: row['why'] as Why,
  raisedAt: row['raised_at'] as Instant,
  clearedAt: row['cleared_at'] as Instant | null,
  clearedWhy: row['cleared_why'] as Why | null,
})
