import type { OrgId } from '../core/ids.ts'
import { DAY_MS, type Instant } from '../core/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { columnsOf } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** Whose key it is: the same text of another principal, or on another route, is another key. */
export interface IdempotencyKey {
  readonly orgId: OrgId
  readonly principal: string
  readonly route: string
  readonly key: string
}

/** A row of `idempotency`: a key that was bound by accepted work, and the answer that repeats get. */
export interface IdempotencyRow extends IdempotencyKey {
  readonly bodyHash: Uint8Array
  readonly answer: unknown
  readonly createdAt: Instant
}

/** A binding counts for this long; afterwards the key can be bound again. */
export const BINDING_MS = DAY_MS

/** Binds keys. One that is bound stays as it is; a binding that is over is replaced, also before it is removed. */
export function insertIdempotencies(tx: Transaction, rows: readonly IdempotencyRow[]): void {
  tx.send(
    `insert into idempotency (org_id, principal, route, key, body_hash, answer, created_at)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::jsonb[], $7::timestamptz[])
     on conflict (org_id, principal, route, key) do update
       set body_hash = excluded.body_hash, answer = excluded.answer, created_at = excluded.created_at
       where idempotency.created_at < excluded.created_at - interval '${BINDING_MS} milliseconds'`,
    columnsOf(
      rows,
      (row) => row.orgId,
      (row) => row.principal,
      (row) => row.route,
      (row) => row.key,
      (row) => row.bodyHash,
      (row) => JSON.stringify(row.answer ?? null),
      (row) => toTimestamp(row.createdAt),
    ),
  )
}

/** What keys of an org are bound to, as far as they are. Bindings older than `since` are over, also before they are removed. */
export async function loadIdempotencies(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly keys: readonly Omit<IdempotencyKey, 'orgId'>[]; readonly since: Instant },
): Promise<readonly IdempotencyRow[]> {
  const rows = await connection.query(
    `select i.principal, i.route, i.key, i.body_hash, i.answer, i.created_at
       from unnest($2::text[], $3::text[], $4::text[]) as wanted (principal, route, key)
       join idempotency i on i.org_id = $1 and i.principal = wanted.principal and i.route = wanted.route
         and i.key = wanted.key and i.created_at >= $5::timestamptz`,
    [
      wanted.orgId,
      ...columnsOf(
        wanted.keys,
        ({ principal }) => principal,
        ({ route }) => route,
        ({ key }) => key,
      ),
      toTimestamp(wanted.since),
    ],
  )
  return rows.map((row) => ({
    orgId: wanted.orgId,
    principal: row['principal'] as string,
    route: row['route'] as string,
    key: row['key'] as string,
    bodyHash: row['body_hash'] as Uint8Array,
    answer: row['answer'],
    createdAt: row['created_at'] as Instant,
  }))
}
