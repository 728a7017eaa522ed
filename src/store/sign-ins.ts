import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { column, type RowOf, table, toTimestamp } from './table.ts'

const signIns = table('sign_in', {
  orgId: column.text<OrgId>(),
  memberId: column.text(),
  createdAt: column.instant(),
  expiresAt: column.instant(),
})

/** A row of `sign_in`: a link that signs a member in, once. */
export type SignInRow = RowOf<typeof signIns>

const CREATED = table('sign_in', { ...signIns.definitions, tokenHash: column.bytes() })

/** Keeps a new link. */
export async function insertSignIn(tx: Transaction, row: SignInRow, tokenHash: Uint8Array): Promise<void> {
  await tx.query(CREATED.insert, CREATED.values({ ...row, tokenHash }))
}

/** The link with this token, or undefined. Whether its time is over is not looked at. */
export async function loadSignIn(connection: Connection, tokenHash: Uint8Array): Promise<SignInRow | undefined> {
  return signIns.first(await connection.query(`select ${signIns.list} from sign_in where token_hash = $1`, [tokenHash]))
}

/** Uses a link up. Undefined when there is none with this token, or it was used, or its time is over. */
export async function takeSignIn(
  tx: Transaction,
  wanted: { readonly tokenHash: Uint8Array; readonly now: Instant },
): Promise<SignInRow | undefined> {
  return signIns.first(
    await tx.query(
      `delete from sign_in s using org o
      where s.token_hash = $1 and s.expires_at > $2::timestamptz and o.id = s.org_id and o.deleted_at is null
      returning ${signIns.of('s')}`,
      [wanted.tokenHash, toTimestamp(wanted.now)],
    ),
  )
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
