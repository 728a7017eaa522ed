import type { AuditAction, AuditedKind } from '../../domain/access/audit-words.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { type ListedRows, readPage } from '../../platform/db/page.ts'
import { column, type RowOf, table, timestampOrNull } from '../../platform/db/table.ts'

export const audits = table('audit', {
  no: column.bigint(),
  at: column.instant(),
  actor: column.text(),
  action: column.text<AuditAction>(),
  objectKind: column.text<AuditedKind>(),
  objectId: column.text(),
  before: column.json(),
  after: column.json(),
  hash: column.bytes(),
})

/** A row of `audit`. */
export type AuditRow = RowOf<typeof audits>

const heads = table('audit_head', { no: column.bigint(), hash: column.bytes() })

/** The end of an org's chain. */
export type AuditHead = RowOf<typeof heads>

/** Either may be larger than a response body. */
const LARGE = ['before', 'after'] as const

/** The last record of the org's chain; undefined before the first one. */
export async function loadAuditHead(connection: Connection, orgId: OrgId): Promise<AuditHead | undefined> {
  return heads.first(await connection.query(`select ${heads.list} from audit_head where org_id = $1`, [orgId]))
}

/** Appends records to the org's chain and moves its head to the last one, under the org's lock. */
export async function insertAudits(tx: Transaction, orgId: OrgId, rows: readonly AuditRow[]): Promise<void> {
  await tx.query(
    `with added as (
       insert into audit (org_id, ${audits.names})
       select $1, * from unnest(${audits.arrays(2)})
       returning no, hash)
     insert into audit_head (org_id, no, hash)
     select $1, no, hash from added order by no desc limit 1
     on conflict (org_id) do update set no = excluded.no, hash = excluded.hash`,
    [orgId, ...audits.lists(rows)],
  )
}

/** The records of the org after a number, in order. */
export const loadAuditsFrom = (
  connection: Connection,
  { orgId, after, limit }: { readonly orgId: OrgId; readonly after: number; readonly limit: number },
): Promise<ListedRows<AuditRow>> =>
  readPage(
    connection,
    {
      text: `select ${audits.list} from audit where org_id = $1 and no > $2 order by no limit $3`,
      ...{ values: [orgId, after, limit + 1], large: LARGE, limit },
    },
    audits,
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
export const listAudits = (connection: Connection, choice: AuditChoice): Promise<ListedRows<AuditRow>> =>
  readPage(
    connection,
    {
      text: `select ${audits.list} from audit
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
    audits,
  )
