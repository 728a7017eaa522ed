import type { Role } from '../core/access.ts'
import { orgId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { GuardRails } from '../core/rails/guard-rails.ts'
import type { Connection, Row, Transaction } from './database.ts'
import type { OrgPage } from './page.ts'
import { jsonOrNull, timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `api_key`, without the hash of its text: nothing but the search for it needs that. */
export interface ApiKeyRow {
  readonly orgId: OrgId
  readonly id: string
  readonly name: string
  readonly hint: string
  readonly role: Role
  readonly scopes: readonly string[] | null
  readonly guardRails: GuardRails | null
  readonly origin: 'person' | 'start' | 'environment'
  readonly createdBy: string | null
  readonly createdAt: Instant
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
  readonly lastUsedAt: Instant | null
}

const COLUMNS = `k.org_id, k.id, k.name, k.hint, k.role, k.scopes, k.guard_rails, k.origin, k.created_by, k.created_at, k.expires_at,
  k.revoked_at, k.last_used_at`

/** Keeps a new key. False when there is one with this text already. */
export async function insertApiKey(tx: Transaction, row: ApiKeyRow, keyHash: Uint8Array): Promise<boolean> {
  const rows = await tx.query(
    `insert into api_key (org_id, id, name, key_hash, hint, role, scopes, origin, created_by, created_at, expires_at,
       guard_rails)
     values ($1, $2, $3, $4, $5, $6, $7::text[], $8, $9, $10::timestamptz, $11::timestamptz, $12::jsonb)
     on conflict (key_hash) do nothing returning id`,
    [
      ...[row.orgId, row.id, row.name, keyHash, row.hint, row.role, row.scopes, row.origin, row.createdBy],
      ...[toTimestamp(row.createdAt), timestampOrNull(row.expiresAt), jsonOrNull(row.guardRails)],
    ],
  )
  return rows.length > 0
}

/** The key with this text, in whatever org that is still there; revoked and expired ones too. */
export async function loadApiKeyByHash(connection: Connection, keyHash: Uint8Array): Promise<ApiKeyRow | undefined> {
  const [row] = await connection.query(
    `select ${COLUMNS} from api_key k join org o on o.id = k.org_id
      where k.key_hash = $1 and o.deleted_at is null`,
    [keyHash],
  )
  return row === undefined ? undefined : keyOf(row)
}

/** The key of the org, or undefined. */
export async function loadApiKey(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<ApiKeyRow | undefined> {
  const [row] = await connection.query(`select ${COLUMNS} from api_key k where k.org_id = $1 and k.id = $2`, [
    wanted.orgId,
    wanted.id,
  ])
  return row === undefined ? undefined : keyOf(row)
}

export interface ApiKeyChoice extends OrgPage {
  /** Null: in any state. */
  readonly state: 'active' | 'expired' | 'revoked' | null
  readonly now: Instant
}

/** Keys of the org, newest first. */
export async function listApiKeys(connection: Connection, choice: ApiKeyChoice): Promise<readonly ApiKeyRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from api_key k
      where k.org_id = $1
        and ($2::text is null or $2 = case when k.revoked_at is not null then 'revoked'
                                           when k.expires_at <= $3::timestamptz then 'expired' else 'active' end)
        and ($4::timestamptz is null or (k.created_at, k.id) < ($4::timestamptz, $5::text))
      order by k.created_at desc, k.id desc limit $6`,
    [
      ...[choice.orgId, choice.state, toTimestamp(choice.now)],
      ...[timestampOrNull(choice.after?.createdAt ?? null), choice.after?.id ?? null, choice.limit],
    ],
  )
  return rows.map(keyOf)
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
  const rows = await connection.query(
    `select ${COLUMNS} from api_key k
      where k.org_id = $1 and k.origin = $2 and k.revoked_at is null order by k.created_at, k.id`,
    [wanted.orgId, wanted.origin],
  )
  return rows.map(keyOf)
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

/** Whether a person has made a key that still works. */
export async function hasPersonalKeys(connection: Connection, now: Instant): Promise<boolean> {
  const [row] = await connection.query(
    `select exists (select 1 from api_key k join org o on o.id = k.org_id
       where k.origin = 'person' and k.revoked_at is null and o.deleted_at is null
         and (k.expires_at is null or k.expires_at > $1::timestamptz)) as found`,
    [toTimestamp(now)],
  )
  return row?.['found'] === true
}

const keyOf = (row: Row): ApiKeyRow => ({
  orgId: orgId(row['org_id'] as string),
  id: row['id'] as string,
  name: row['name'] as string,
  hint: row['hint'] as string,
  role: row['role'] as Role,
  scopes: row['scopes'] as readonly string[] | null,
  guardRails: row['guard_rails'] as GuardRails | null,
  origin: row['origin'] as ApiKeyRow['origin'],
  createdBy: row['created_by'] as string | null,
  createdAt: row['created_at'] as Instant,
  expiresAt: row['expires_at'] as Instant | null,
  revokedAt: row['revoked_at'] as Instant | null,
  lastUsedAt: row['last_used_at'] as Instant | null,
})
