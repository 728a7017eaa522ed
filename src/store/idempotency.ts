import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Transaction } from './database.ts'
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

/** Binds a key. False when it was bound already: then that answer counts, and this work must not be done. */
export async function insertIdempotency(tx: Transaction, row: IdempotencyRow): Promise<boolean> {
  const rows = await tx.query(
    `insert into idempotency (org_id, principal, route, key, body_hash, answer, created_at)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::timestamptz)
     on conflict (org_id, principal, route, key) do nothing returning key`,
    [
      row.orgId,
      row.principal,
      row.route,
      row.key,
      row.bodyHash,
      JSON.stringify(row.answer ?? null),
      toTimestamp(row.createdAt),
    ],
  )
  return rows.length > 0
}

/** What the key is bound to, or undefined. Bindings older than `since` are over, also before they are removed. */
export async function loadIdempotency(
  connection: Connection,
  wanted: IdempotencyKey & { readonly since: Instant },
): Promise<IdempotencyRow | undefined> {
  const [row] = await connection.query(
    `select body_hash, answer, created_at from idempotency
      where org_id = $1 and principal = $2 and route = $3 and key = $4 and created_at >= $5::timestamptz`,
    [wanted.orgId, wanted.principal, wanted.route, wanted.key, toTimestamp(wanted.since)],
  )
  if (row === undefined) return undefined
  const { orgId, principal, route, key } = wanted
  return {
    ...{ orgId, principal, route, key },
    bodyHash: row['body_hash'] as Uint8Array,
    answer: row['answer'],
    createdAt: row['created_at'] as Instant,
  }
}
