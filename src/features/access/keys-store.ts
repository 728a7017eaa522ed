import type { Grant, Role } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Restrictions } from '../../domain/access/restrictions.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import type { OrgPage } from '../../platform/db/page.ts'
import { column, columns, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const apiKeys = table('api_key', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  name: column.text(),
  hint: column.text(),
  role: column.text<Role>(),
  scopes: column.texts<readonly Grant[] | null>(),
  guardRails: column.json<Restrictions | null>(),
  origin: column.text<'person' | 'start' | 'environment'>(),
  createdBy: column.text<string | null>(),
  createdAt: column.instant(),
  expiresAt: column.instant<Instant | null>(),
  revokedAt: column.instant<Instant | null>(),
  lastUsedAt: column.instant<Instant | null>(),
})

/** A row of `api_key`, without the hash of the key. */
export type ApiKeyRow = RowOf<typeof apiKeys>

const CREATED = table('api_key', { ...apiKeys.omit('revokedAt', 'lastUsedAt').definitions, keyHash: column.bytes() })

/** Inserts a new key. False if a key with this text exists. */
export async function insertApiKey(tx: Transaction, row: ApiKeyRow, keyHash: Uint8Array): Promise<boolean> {
  const rows = await tx.query(
    `${CREATED.insert} on conflict (key_hash) do nothing returning id`,
    CREATED.values({ ...row, keyHash }),
  )
  return rows.length > 0
}

/** The key with this text, in any org that is not deleted; revoked and expired keys too. */
export async function loadApiKeyByHash(connection: Connection, keyHash: Uint8Array): Promise<ApiKeyRow | undefined> {
  return apiKeys.first(
    await connection.query(
      `select ${apiKeys.of('k')} from api_key k join org o on o.id = k.org_id
      where k.key_hash = $1 and o.deleted_at is null`,
      [keyHash],
    ),
  )
}

/** The key of the org, or undefined. */
export async function loadApiKey(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<ApiKeyRow | undefined> {
  return apiKeys.first(
    await connection.query(`select ${apiKeys.of('k')} from api_key k where k.org_id = $1 and k.id = $2`, [
      wanted.orgId,
      wanted.id,
    ]),
  )
}

export interface ApiKeyChoice extends OrgPage {
  /** Null: any state. */
  readonly state: 'active' | 'expired' | 'revoked' | null
  readonly now: Instant
}

/** Keys of the org, newest first. */
export async function listApiKeys(connection: Connection, choice: ApiKeyChoice): Promise<readonly ApiKeyRow[]> {
  return apiKeys.read(
    await connection.query(
      `select ${apiKeys.of('k')} from api_key k
      where k.org_id = $1
        and ($2::text is null or $2 = case when k.revoked_at is not null then 'revoked'
                                           when k.expires_at <= $3::timestamptz then 'expired' else 'active' end)
        and ($4::timestamptz is null or (k.created_at, k.id) < ($4::timestamptz, $5::text))
      order by k.created_at desc, k.id desc limit $6`,
      [
        ...[choice.orgId, choice.state, toTimestamp(choice.now)],
        ...[timestampOrNull(choice.after?.createdAt ?? null), choice.after?.id ?? null, choice.limit],
      ],
    ),
  )
}

/** Revokes a key. A key that is revoked already keeps its time. */
export async function revokeApiKey(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: string; readonly at: Instant },
): Promise<void> {
  await tx.query(
    'update api_key set revoked_at = $3::timestamptz where org_id = $1 and id = $2 and revoked_at is null',
    [gone.orgId, gone.id, toTimestamp(gone.at)],
  )
}

/** Restores a revoked key. */
export async function reviveApiKey(
  tx: Transaction,
  key: { readonly orgId: OrgId; readonly id: string },
): Promise<void> {
  await tx.query('update api_key set revoked_at = null where org_id = $1 and id = $2', [key.orgId, key.id])
}

/** The keys of an origin that are not revoked, oldest first. */
export async function loadLiveKeysOf(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly origin: ApiKeyRow['origin'] },
): Promise<readonly ApiKeyRow[]> {
  return apiKeys.read(
    await connection.query(
      `select ${apiKeys.of('k')} from api_key k
      where k.org_id = $1 and k.origin = $2 and k.revoked_at is null order by k.created_at, k.id`,
      [wanted.orgId, wanted.origin],
    ),
  )
}

/** Records the use of a key, unless one was recorded after `unlessSince`, so that only one of several nodes writes. */
export async function touchApiKey(
  connection: Connection,
  used: { readonly orgId: OrgId; readonly id: string; readonly at: Instant; readonly unlessSince: Instant },
): Promise<void> {
  await connection.query(
    `update api_key set last_used_at = $3::timestamptz
      where org_id = $1 and id = $2 and (last_used_at is null or last_used_at <= $4::timestamptz)`,
    [used.orgId, used.id, toTimestamp(used.at), toTimestamp(used.unlessSince)],
  )
}

const keyExists = columns({ found: column.boolean() })

/** Whether a user created a key that still works. */
export async function hasPersonalKeys(connection: Connection, now: Instant): Promise<boolean> {
  const rows = await connection.query(
    `select exists (select 1 from api_key k join org o on o.id = k.org_id
       where k.origin = 'person' and k.revoked_at is null and o.deleted_at is null
         and (k.expires_at is null or k.expires_at > $1::timestamptz)) as found`,
    [toTimestamp(now)],
  )
  return keyExists.only(rows).found
}
