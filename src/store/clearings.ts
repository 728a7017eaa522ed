import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Why } from '../core/reasons.ts'
import type { Connection, Transaction } from './database.ts'
import { columnsOf } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** What has waiting runs that are being cancelled in pieces. */
export interface ClearingSubject {
  readonly subject: 'session' | 'schedule'
  readonly key: string
}

/** A row of `clearing`: waiting runs of the subject that were created before a time are to be cancelled. */
export interface Clearing extends ClearingSubject {
  readonly before: Instant
  /** They are superseded by a newer run of their schedule. */
  readonly superseded: boolean
  readonly why: Why
}

/** The clearings of an org. Nearly every org has none. */
export async function loadClearings(connection: Connection, orgId: OrgId): Promise<readonly Clearing[]> {
  const rows = await connection.query('select subject, key, before, superseded, why from clearing where org_id = $1', [
    orgId,
  ])
  return rows.map((row) => ({
    subject: row['subject'] as Clearing['subject'],
    key: row['key'] as string,
    before: row['before'] as Instant,
    superseded: row['superseded'] as boolean,
    why: row['why'] as Why,
  }))
}

/** Records clearings; a newer one of the same subject takes the place of the one before. */
export function saveClearings(tx: Transaction, orgId: OrgId, clearings: readonly Clearing[]): void {
  tx.send(
    `insert into clearing (org_id, subject, key, before, superseded, why)
     select $1, * from unnest($2::text[], $3::text[], $4::timestamptz[], $5::boolean[], $6::jsonb[])
     on conflict (org_id, subject, key) do update
       set before = excluded.before, superseded = excluded.superseded, why = excluded.why`,
    [
      orgId,
      ...columnsOf(
        clearings,
        ({ subject }) => subject,
        ({ key }) => key,
        ({ before }) => toTimestamp(before),
        ({ superseded }) => superseded,
        ({ why }) => JSON.stringify(why),
      ),
    ],
  )
}

/** Removes clearings that have nothing left to cancel. */
export function deleteClearings(tx: Transaction, orgId: OrgId, done: readonly ClearingSubject[]): void {
  tx.send(
    `delete from clearing c using unnest($2::text[], $3::text[]) as d (subject, key)
      where c.org_id = $1 and c.subject = d.subject and c.key = d.key`,
    [
      orgId,
      ...columnsOf(
        done,
        ({ subject }) => subject,
        ({ key }) => key,
      ),
    ],
  )
}
