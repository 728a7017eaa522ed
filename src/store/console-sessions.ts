import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { MEMBER_COLUMNS, memberOf, type MemberRow } from './members.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `console_session`, without the hash of its cookie. */
export interface ConsoleSessionRow {
  readonly orgId: OrgId
  /** Who is signed in: a member or, null, a key. */
  readonly memberId: string | null
  readonly keyId: string | null
  readonly createdAt: Instant
  readonly seenAt: Instant
  readonly expiresAt: Instant
}

/** Signs a browser in. */
export async function insertConsoleSession(
  tx: Transaction,
  row: ConsoleSessionRow,
  cookieHash: Uint8Array,
): Promise<void> {
  await tx.query(
    `insert into console_session (cookie_hash, org_id, member_id, key_id, created_at, seen_at, expires_at)
     values ($1, $2, $3, $4, $5::timestamptz, $6::timestamptz, $7::timestamptz)`,
    [
      ...[cookieHash, row.orgId, row.memberId, row.keyId],
      ...[toTimestamp(row.createdAt), toTimestamp(row.seenAt), toTimestamp(row.expiresAt)],
    ],
  )
}

/** Who is signed in with this cookie, in whatever org that is still there; undefined when nobody is. */
export async function loadConsoleSession(
  connection: Connection,
  wanted: { readonly cookieHash: Uint8Array; readonly now: Instant; readonly seenAfter: Instant },
): Promise<(ConsoleSessionRow & { readonly member: MemberRow | null }) | undefined> {
  const [row] = await connection.query(
    `select ${MEMBER_COLUMNS}, s.org_id as session_org, s.key_id, s.created_at as since, s.seen_at, s.expires_at
       from console_session s
       left join member m on m.org_id = s.org_id and m.id = s.member_id
       join org o on o.id = s.org_id
      where s.cookie_hash = $1 and s.expires_at > $2::timestamptz and s.seen_at > $3::timestamptz
        and o.deleted_at is null`,
    [wanted.cookieHash, toTimestamp(wanted.now), toTimestamp(wanted.seenAfter)],
  )
  if (row === undefined) return undefined
  const member = row['id'] === null ? null : memberOf(row)
  return {
    ...{
      orgId: row['session_org'] as OrgId,
      memberId: member?.id ?? null,
      keyId: row['key_id'] as string | null,
      member,
    },
    createdAt: row['since'] as Instant,
    seenAt: row['seen_at'] as Instant,
    expiresAt: row['expires_at'] as Instant,
  }
}

/** Notes that a browser is still there. */
export async function touchConsoleSession(connection: Connection, cookieHash: Uint8Array, at: Instant): Promise<void> {
  await connection.query(
    'update console_session set seen_at = $2::timestamptz where cookie_hash = $1 and seen_at < $2::timestamptz',
    [cookieHash, toTimestamp(at)],
  )
}

/** Signs a browser out. True when it was signed in. */
export async function deleteConsoleSession(connection: Connection, cookieHash: Uint8Array): Promise<boolean> {
  const rows = await connection.query('delete from console_session where cookie_hash = $1 returning org_id', [
    cookieHash,
  ])
  return rows.length > 0
}

/** Removes what has expired or was not seen for too long. Answers with how many. */
export async function deleteOldConsoleSessions(
  connection: Connection,
  old: { readonly now: Instant; readonly seenBefore: Instant; readonly limit: number },
): Promise<number> {
  const rows = await connection.query(
    `delete from console_session where cookie_hash = any (array(
       select cookie_hash from console_session
        where expires_at <= $1::timestamptz or seen_at <= $2::timestamptz limit $3)) returning 1`,
    [toTimestamp(old.now), toTimestamp(old.seenBefore), old.limit],
  )
  return rows.length
}
