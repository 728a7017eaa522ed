import type { SealedKind } from '../core/secret/sealed-kinds.ts'
import type { Instant } from '../domain/instant.ts'
import { LOCK_SPACE } from './advisory-locks.ts'
import type { Connection, Transaction } from './database.ts'
import { column, columns, type RowOf, toTimestamp } from '../platform/db/table.ts'

/**
 * Every column that holds a sealed text, with the column that names its row inside the org and the kind it is bound to.
 * Whoever seals something adds a line: what is not here is not sealed anew when the key changes.
 */
export const SEALED_COLUMNS = [
  { table: 'secret', column: 'sealed_value', name: 'name', kind: 'secret' },
  { table: 'signing_secret', column: 'sealed', name: 'org_id', kind: 'signing_secret' },
  { table: 'signing_secret', column: 'previous_sealed', name: 'org_id', kind: 'signing_secret' },
  { table: 'target', column: 'sealed_url', name: 'id', kind: 'target.url' },
  { table: 'channel', column: 'sealed_credentials', name: 'id', kind: 'channel.credentials' },
] as const satisfies readonly { readonly kind: SealedKind; readonly [part: string]: string }[]

export type SealedColumn = (typeof SEALED_COLUMNS)[number]

const sealedRows = columns({ orgId: column.text(), name: column.text(), sealed: column.text() })

/** A sealed text and the place it is bound to. */
export type SealedRow = RowOf<typeof sealedRows>

/** Sealed texts that another key has sealed, in order, after a place. */
export async function loadSealedOtherwise(
  connection: Connection,
  { table, column: sealed, name }: SealedColumn,
  asked: { readonly keyId: string; readonly after: SealedRow | null; readonly limit: number },
): Promise<readonly SealedRow[]> {
  const rows = await connection.query(
    `select ${sealedRows.list} from (select org_id, ${name} as name, ${sealed} as sealed from ${table}) one
      where sealed is not null and not starts_with(sealed, $1)
        and ($2::text is null or (org_id, name) > ($2::text, $3::text))
      order by org_id, name limit $4`,
    [`v1.${asked.keyId}.`, asked.after?.orgId ?? null, asked.after?.name ?? null, asked.limit],
  )
  return sealedRows.read(rows)
}

/** Puts another sealed text in the place of one, unless somebody has changed it since. */
export async function replaceSealed(
  connection: Connection,
  { table, column: place, name }: SealedColumn,
  { row, sealed }: { readonly row: SealedRow; readonly sealed: string },
): Promise<boolean> {
  const rows = await connection.query(
    `update ${table} set ${place} = $4 where org_id = $1 and ${name} = $2 and ${place} = $3 returning 1`,
    [row.orgId, row.name, row.sealed, sealed],
  )
  return rows.length > 0
}

/** Held while it is decided which key seals, and while its file is written: of several processes one decides. */
export const SEALING_KEY_LOCK = [LOCK_SPACE.sealingKey, 0] as const

const ids = columns({ id: column.text() })

/** The key that seals; null: nothing has ever been sealed. */
export async function loadSealingKey(connection: Connection): Promise<string | null> {
  const rows = await connection.query(`select ${ids.list} from sealing_key where replaced_at is null`, [])
  return ids.first(rows)?.id ?? null
}

/** Makes a key the one that seals, if there is none yet. Answers with the one that does. */
export async function ensureSealingKey(
  connection: Connection,
  key: { readonly id: string; readonly at: Instant },
): Promise<string> {
  await connection.query('insert into sealing_key (id, taken_at) values ($1, $2::timestamptz) on conflict do nothing', [
    key.id,
    toTimestamp(key.at),
  ])
  return (await loadSealingKey(connection)) ?? key.id
}

/** Makes a key the one that seals, in the place of another. False: that one does not seal any more. */
export async function replaceSealingKey(
  tx: Transaction,
  { from, id, at }: { readonly from: string; readonly id: string; readonly at: Instant },
): Promise<boolean> {
  const rows = await tx.query(
    'update sealing_key set replaced_at = $2::timestamptz where id = $1 and replaced_at is null returning 1',
    [from, toTimestamp(at)],
  )
  if (rows.length === 0) return false
  await tx.query(
    `insert into sealing_key (id, taken_at) values ($1, $2::timestamptz)
     on conflict (id) do update set replaced_at = null`,
    [id, toTimestamp(at)],
  )
  return true
}

/** Nodes that are alive and do not have a key; one is not asked about. */
export async function loadNodesWithout(
  connection: Connection,
  asked: { readonly keyId: string; readonly now: Instant; readonly except: string },
): Promise<readonly string[]> {
  const rows = await connection.query(
    `select ${ids.list} from node
      where not lost and lease_until > $2::timestamptz and not ($1 = any (key_ids)) and id <> $3 order by id`,
    [asked.keyId, toTimestamp(asked.now), asked.except],
  )
  return ids.read(rows).map(({ id }) => id)
}

/** Nodes that are alive and have a key. */
export async function loadNodesWith(
  connection: Connection,
  asked: { readonly keyId: string; readonly now: Instant },
): Promise<readonly string[]> {
  const rows = await connection.query(
    `select ${ids.list} from node
      where not lost and lease_until > $2::timestamptz and $1 = any (key_ids) order by id`,
    [asked.keyId, toTimestamp(asked.now)],
  )
  return ids.read(rows).map(({ id }) => id)
}
