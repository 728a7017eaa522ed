import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { readPage, type Listed } from './page.ts'
import { columnsOf, jsonOrNull, timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `audit`. */
export interface AuditRow {
  readonly no: number
  readonly at: Instant
  readonly actor: string
  readonly action: string
  readonly objectKind: string
  readonly objectId: string
  readonly before: unknown
  readonly after: unknown
  readonly hash: Uint8Array
}

/** The end of an org's chain. */
export interface AuditHead {
  readonly no: number
  readonly hash: Uint8Array
}

/** What is read of a record, in the order in which it is written. */
export const AUDIT_COLUMNS = 'no, at, actor, action, object_kind, object_id, before, after, hash'

/** Both may be larger than a body. */
const LARGE = ['before', 'after']

/** Where the chain of the org ends; undefined before its first record. */
export async function loadAuditHead(connection: Connection, orgId: OrgId): Promise<AuditHead | undefined> {
  const [row] = await connection.query('select no, hash from audit_head where org_id = $1', [orgId])
  return row === undefined ? undefined : { no: row['no'] as number, hash: row['hash'] as Uint8Array }
}

/** Adds records to the chain of the org and moves its head to the last of them, under the org's lock. */
export async function insertAudits(tx: Transaction, orgId: OrgId, rows: readonly AuditRow[]): Promise<void> {
  await tx.query(
    `with added as (
       insert into audit (org_id, ${AUDIT_COLUMNS})
       select $1, * from unnest($2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
         $8::jsonb[], $9::jsonb[], $10::bytea[])
       returning no, hash)
     insert into audit_head (org_id, no, hash)
     select $1, no, hash from added order by no desc limit 1
     on conflict (org_id) do update set no = excluded.no, hash = excluded.hash`,
    [
      orgId,
      ...columnsOf(
        rows,
        (row) => row.no,
        (row) => toTimestamp(row.at),
        (row) => row.actor,
        (row) => row.action,
        (row) => row.objectKind,
        (row) => row.objectId,
        (row) => jsonOrNull(row.before),
        (row) => jsonOrNull(row.after),
        (row) => row.hash,
      ),
    ],
  )
}

/** The chain of the org from a number on, in order. */
export const loadAuditsFrom = (
  connection: Connection,
  { orgId, after, limit }: { readonly orgId: OrgId; readonly after: number; readonly limit: number },
): Promise<Listed<AuditRow>> =>
  readPage(
    connection,
    {
      text: `select ${AUDIT_COLUMNS} from audit where org_id = $1 and no > $2 order by no limit $3`,
      ...{ values: [orgId, after, limit + 1], large: LARGE, limit },
    },
    auditOf,
  )

export interface AuditChoice {
  readonly orgId: OrgId
  readonly actor: string | null
  readonly action: string | null
  readonly objectKind: string | null
  readonly objectId: string | null
  readonly from: Instant | null
  readonly to: Instant | null
  readonly before: number | null
  readonly limit: number
}

/** Records of the org, newest first. */
export const listAudits = (connection: Connection, choice: AuditChoice): Promise<Listed<AuditRow>> =>
  readPage(
    connection,
    {
      text: `select ${AUDIT_COLUMNS} from audit
      where org_id = $1 and ($2::text is null or actor = $2) and ($3::text is null or action = $3)
        and ($4::text is null or object_kind = $4) and ($5::text is null or object_id = $5)
        and ($6::timestamptz is null or at >= $6::timestamptz) and ($7::timestamptz is null or at < $7::timestamptz)
        and ($8::bigint is null or no < $8)
      order by no desc limit $9`,
      values: [
        ...[choice.orgId, choice.actor, choice.action, choice.objectKind, choice.objectId],
        ...[timestampOrNull(choice.from), timestampOrNull(choice.to), choice.before, choice.limit + 1],
      ],
      ...{ large: LARGE, limit: choice.limit },
    },
    auditOf,
  )

/** A record as it is on record. */
export const auditOf = (row: Row): AuditRow => ({
  no: row['no'] as number,
  at: row['at'] as Instant,
  actor: row['actor'] as string,
  action: row['action'] as string,
  objectKind: row['object_kind'] as string,
  objectId: row['object_id'] as string,
  before: row['before'],
  after: row['after'],
  hash: row['hash'] as Uint8Array,
})
