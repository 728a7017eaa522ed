import { orgId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row, Transaction } from './database.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `sign_in`: a link that signs a member in, once. */
export interface SignInRow {
  readonly orgId: OrgId
  readonly memberId: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** Keeps a new link. */
export async function insertSignIn(tx: Transaction, row: SignInRow, tokenHash: Uint8Array): Promise<void> {
  await tx.query(
    `insert into sign_in (token_hash, org_id, member_id, created_at, expires_at)
     values ($1, $2, $3, $4::timestamptz, $5::timestamptz)`,
    [tokenHash, row.orgId, row.memberId, toTimestamp(row.createdAt), toTimestamp(row.expiresAt)],
  )
}

/** The link with this token, or undefined. Whether its time is over is not looked at. */
export async function loadSignIn(connection: Connection, tokenHash: Uint8Array): Promise<SignInRow | undefined> {
  const [row] = await connection.query(
    'select org_id, member_id, created_at, expires_at from sign_in where token_hash = $1',
    [tokenHash],
  )
  return row === undefined ? undefined : signInOf(row)
}

/** Uses a link up. Undefined when there is none with this token, or it was used, or its time is over. */
export async function takeSignIn(
  tx: Transaction,
  wanted: { readonly tokenHash: Uint8Array; readonly now: Instant },
): Promise<SignInRow | undefined> {
  const [row] = await tx.query(
    `delete from sign_in s using org o
      where s.token_hash = $1 and s.expires_at > $2::timestamptz and o.id = s.org_id and o.deleted_at is null
      returning s.org_id, s.member_id, s.created_at, s.expires_at`,
    [wanted.tokenHash, toTimestamp(wanted.now)],
  )
  return row === undefined ? undefined : signInOf(row)
}

/** Removes links whose time is over. Answers with how many. */
export async function deleteOldSignIns(
  connection: Connection,
  old: { readonly now: Instant; readonly limit: number },
): Promise<number> {
  const rows = await connection.query(
    `delete from sign_in where token_hash = any (array(
       select token_hash from sign_in where expires_at <= $1::timestamptz limit $2)) returning 1`,
    [toTimestamp(old.now), old.limit],
  )
  return rows.length
}

const signInOf = (row: Row): SignInRow => ({
  orgId: orgId(row['org_id'] as string),
  memberId: row['member_id'] as string,
  createdAt: row['created_at'] as Instant,
  expiresAt: row['expires_at'] as Instant,
})
