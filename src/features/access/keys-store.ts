import type { Grant, Role } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { GuardRails } from '../../core/rails/guard-rails.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import type { OrgPage } from '../../platform/db/page.ts'
import { column, columns, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const apiKeys = table('api_key', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  name: column.text(),
  hint: column.text(),
  role: column.text<Role>(),
  scopes: column.texts<readonly Grant[] | null>(),
  guardRails: column.json<GuardRails | null>(),
  origin: column.text<'person' | 'start' | 'environment'>(),
  createdBy: column.text<string | null>(),
  createdAt: column.instant(),
  expiresAt: column.instant<Instant | null>(),
  revokedAt: column.instant<Instant | null>(),
  lastUsedAt: column.instant<Instant | null>(),
})

/** A row of `api_key`, without the hash of its text: nothing but the search for it needs that. */
export type ApiKeyRow = RowOf<typeof apiKeys>

const CREATED = table('api_key', { ...apiKeys.omit('revokedAt', 'lastUsedAt').definitions, keyHash: column.bytes() })

/** Keeps a new key. False when there is one with this text already. */
export async function insertApiKey(tx: Transaction, row: ApiKeyRow, keyHash: Uint8Array): Promise<boolean> {
  const rows = await tx.query(
    `${CREATED.insert} on conflict (key_hash) do nothing returning id`,
    CREATED.values({ ...row, keyHash }),
  )
  return rows.length > 0
}

/** The key with this text, in whatever org that is still there; revoked and expired ones too. */
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
  /** Null: in any state. */
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

/** Ends a key. One that has ended keeps the moment at which it did. */
export async function revokeApiKey(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: string; readonly at: Instant },
): Promise<void> {
  await tx.query(
    'update api_key set revoked_at = $3::timestamptz where org_id = $1 and id = $2 and revoked_at is null',
    [gone.orgId, gone.id, toTimestamp(gone.at)],
  )
}

/** Lets a key live again that has ended. */
export async function reviveApiKey(
  tx: Transaction,
  key: { readonly orgId: OrgId; readonly id: string },
): Promise<void> {
  await tx.query('update api_key set revoked_at = null where org_id = $1 and id = $2', [key.orgId, key.id])
}

/** Keys of an origin that have not ended, oldest first. */
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

/** Notes that a key was used, unless that was noted after `unlessSince`: of many nodes one writes. */
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

const found = columns({ found: column.boolean() })

/** Whether a person has made a key that still works. */
export async function hasPersonalKeys(connection: Connection, now: Instant): Promise<boolean> {
  const rows = await connection.query(
    `select exists (select 1 from api_key k join org o on o.id = k.org_id
       where k.origin = 'person' and k.revoked_at is null and o.deleted_at is null
         and (k.expires_at is null or k.expires_at > $1::timestamptz)) as found`,
    [toTimestamp(now)],
  )
  return found.only(rows).found
}
