import type { AgentId, OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { SealedKind } from '../../domain/secret/secret-names.ts'
import type { AgentExecutor } from '../agents/store.ts'
import { LOCK_SPACE } from '../../platform/db/advisory-locks.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import { column, columns, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

const secrets = table('secret', {
  orgId: column.text<OrgId>(),
  name: column.text(),
  hosts: column.texts(),
  sealedValue: column.text(),
  version: column.int(),
  createdBy: column.text<string | null>(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
  valueSetAt: column.instant(),
})

/** A row of `secret`; its value is sealed. */
export type SecretRow = RowOf<typeof secrets>

/** Inserts a new secret. False: the name is taken. */
export async function insertSecret(tx: Transaction, row: SecretRow): Promise<boolean> {
  const rows = await tx.query(
    `${secrets.insert} on conflict (org_id, name) do nothing returning 1`,
    secrets.values(row),
  )
  return rows.length > 0
}

/** Updates the changeable columns of a secret. A null value keeps the sealed value that is stored now. */
export async function updateSecretRow(
  tx: Transaction,
  row: Omit<SecretRow, 'sealedValue'> & { readonly sealedValue: string | null },
): Promise<void> {
  await tx.query(
    `update secret set hosts = $3::text[], sealed_value = coalesce($4, sealed_value), version = $5,
       updated_at = $6::timestamptz, value_set_at = $7::timestamptz
     where org_id = $1 and name = $2`,
    [
      ...[row.orgId, row.name, row.hosts, row.sealedValue, row.version],
      ...[toTimestamp(row.updatedAt), toTimestamp(row.valueSetAt)],
    ],
  )
}

/** Deletes a secret. */
export async function deleteSecretRow(
  tx: Transaction,
  secret: { readonly orgId: OrgId; readonly name: string },
): Promise<void> {
  await tx.query('delete from secret where org_id = $1 and name = $2', [secret.orgId, secret.name])
}

/** Secrets of an org by their names; names that do not exist are omitted. */
export async function loadSecrets(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly names: readonly string[] },
): Promise<readonly SecretRow[]> {
  return secrets.read(
    await connection.query(
      `select ${secrets.list} from secret where org_id = $1 and name = any ($2::text[]) order by name`,
      [query.orgId, query.names],
    ),
  )
}

/** A page of an org's secrets, by name. */
export async function listSecrets(
  connection: Connection,
  query: { readonly orgId: OrgId; readonly after: string; readonly limit: number },
): Promise<readonly SecretRow[]> {
  return secrets.read(
    await connection.query(
      `select ${secrets.list} from secret where org_id = $1 and name > $2 order by name limit $3`,
      [query.orgId, query.after, query.limit],
    ),
  )
}

const secretUserColumns = columns({ id: column.text<AgentId>(), executor: column.json<AgentExecutor>() })

/** An agent whose executor refers to secrets. */
export type SecretUser = RowOf<typeof secretUserColumns>

/** The agents of an org that refer to any secret, by id. */
export async function loadSecretUsers(connection: Connection, org: OrgId): Promise<readonly SecretUser[]> {
  return secretUserColumns.read(
    await connection.query(
      `select ${secretUserColumns.list} from agent where org_id = $1 and executor::text like '%{{%secret:%' order by id`,
      [org],
    ),
  )
}

/** The agent of a run, if it refers to any secret. */
export async function loadSecretUserOfRun(
  connection: Connection,
  run: { readonly orgId: OrgId; readonly runId: string },
): Promise<SecretUser | undefined> {
  return secretUserColumns.first(
    await connection.query(
      `select ${secretUserColumns.of('a')} from run r join agent a on a.org_id = r.org_id and a.id = r.agent_id
      where r.org_id = $1 and r.id = $2 and a.executor::text like '%{{%secret:%'`,
      [run.orgId, run.runId],
    ),
  )
}

/**
 * Every column with a sealed text, with the column that identifies its row within the org and the kind it is bound to.
 * A new sealed column must be added here, else a key rotation misses it.
 */
export const SEALED_COLUMNS = [
  { table: 'secret', column: 'sealed_value', name: 'name', kind: 'secret' },
  { table: 'signing_secret', column: 'sealed', name: 'org_id', kind: 'signing_secret' },
  { table: 'signing_secret', column: 'previous_sealed', name: 'org_id', kind: 'signing_secret' },
  { table: 'target', column: 'sealed_url', name: 'id', kind: 'target.url' },
  { table: 'channel', column: 'sealed_credentials', name: 'id', kind: 'channel.credentials' },
] as const satisfies readonly { readonly kind: SealedKind; readonly [part: string]: string }[]

export type SealedColumn = (typeof SEALED_COLUMNS)[number]

const sealedRowColumns = columns({ orgId: column.text(), name: column.text(), sealed: column.text() })

/** A sealed text and the row it is bound to. */
export type SealedRow = RowOf<typeof sealedRowColumns>

/** A page of the texts that other keys have sealed, in the order of their rows. */
export async function loadSealedByOtherKeys(
  connection: Connection,
  { table, column: sealed, name }: SealedColumn,
  query: { readonly keyId: string; readonly after: SealedRow | null; readonly limit: number },
): Promise<readonly SealedRow[]> {
  const rows = await connection.query(
    `select ${sealedRowColumns.list} from (select org_id, ${name} as name, ${sealed} as sealed from ${table}) one
      where sealed is not null and not starts_with(sealed, $1)
        and ($2::text is null or (org_id, name) > ($2::text, $3::text))
      order by org_id, name limit $4`,
    [`v1.${query.keyId}.`, query.after?.orgId ?? null, query.after?.name ?? null, query.limit],
  )
  return sealedRowColumns.read(rows)
}

/** Replaces a sealed text. False: it was changed since it was read. */
export async function replaceSealed(
  connection: Connection,
  { table, column: columnName, name }: SealedColumn,
  { row, sealed }: { readonly row: SealedRow; readonly sealed: string },
): Promise<boolean> {
  const rows = await connection.query(
    `update ${table} set ${columnName} = $4 where org_id = $1 and ${name} = $2 and ${columnName} = $3 returning 1`,
    [row.orgId, row.name, row.sealed, sealed],
  )
  return rows.length > 0
}

/** Held while the sealing key is selected and its file is written, so that only one process selects it. */
export const SEALING_KEY_LOCK = [LOCK_SPACE.sealingKey, 0] as const

const idColumns = columns({ id: column.text() })

/** Id of the current sealing key. Null: nothing has ever been sealed. */
export async function loadSealingKey(connection: Connection): Promise<string | null> {
  const rows = await connection.query(`select ${idColumns.list} from sealing_key where replaced_at is null`, [])
  return idColumns.first(rows)?.id ?? null
}

/** Makes a key the sealing key if there is none yet. Returns the id of the current one. */
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

/** Replaces the sealing key. False: `from` is no longer the current one. */
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

/** Live nodes, except one, that do not have a key. */
export async function loadLiveNodesWithoutKey(
  connection: Connection,
  query: { readonly keyId: string; readonly now: Instant; readonly except: string },
): Promise<readonly string[]> {
  const rows = await connection.query(
    `select ${idColumns.list} from node
      where not lost and lease_until > $2::timestamptz and not ($1 = any (key_ids)) and id <> $3 order by id`,
    [query.keyId, toTimestamp(query.now), query.except],
  )
  return idColumns.read(rows).map(({ id }) => id)
}

/** Live nodes that have a key. */
export async function loadLiveNodesWithKey(
  connection: Connection,
  query: { readonly keyId: string; readonly now: Instant },
): Promise<readonly string[]> {
  const rows = await connection.query(
    `select ${idColumns.list} from node
      where not lost and lease_until > $2::timestamptz and $1 = any (key_ids) order by id`,
    [query.keyId, toTimestamp(query.now)],
  )
  return idColumns.read(rows).map(({ id }) => id)
}
