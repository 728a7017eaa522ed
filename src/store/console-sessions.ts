import type { OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Transaction } from './database.ts'
import { members, type MemberRow } from './members.ts'
import { column, columns, type RowOf, table, toTimestamp } from './table.ts'

const sessions = table('console_session', {
  orgId: column.text<OrgId>(),
  /** Who is signed in: a member or, null, a key. */
  memberId: column.text<string | null>(),
  keyId: column.text<string | null>(),
  createdAt: column.instant(),
  seenAt: column.instant(),
  expiresAt: column.instant(),
})

/** A row of `console_session`, without the hash of its cookie. */
export type ConsoleSessionRow = RowOf<typeof sessions>

const CREATED = table('console_session', { ...sessions.definitions, cookieHash: column.bytes() })

/** Signs a browser in. */
export async function insertConsoleSession(
  tx: Transaction,
  row: ConsoleSessionRow,
  cookieHash: Uint8Array,
): Promise<void> {
  await tx.query(CREATED.insert, CREATED.values({ ...row, cookieHash }))
}

const signedIn = columns({
  ...members.definitions,
  id: column.text<string | null>(),
  keyId: column.text<string | null>('s.key_id'),
  sessionOrg: column.text<OrgId>('s.org_id'),
  since: column.instant('s.created_at'),
  seenAt: column.instant('s.seen_at'),
  expiresAt: column.instant('s.expires_at'),
})

/** Who is signed in with this cookie, in whatever org that is still there; undefined when nobody is. */
export async function loadConsoleSession(
  connection: Connection,
  wanted: { readonly cookieHash: Uint8Array; readonly now: Instant; readonly seenAfter: Instant },
): Promise<(ConsoleSessionRow & { readonly member: MemberRow | null }) | undefined> {
  const rows = await connection.query(
    `select ${signedIn.of('m')}
       from console_session s
       left join member m on m.org_id = s.org_id and m.id = s.member_id
       join org o on o.id = s.org_id
      where s.cookie_hash = $1 and s.expires_at > $2::timestamptz and s.seen_at > $3::timestamptz
        and o.deleted_at is null`,
    [wanted.cookieHash, toTimestamp(wanted.now), toTimestamp(wanted.seenAfter)],
  )
  const found = signedIn.first(rows)
  if (found === undefined) return undefined
  const { id, keyId, sessionOrg, since, seenAt, expiresAt, ...rest } = found
  const member = id === null ? null : { ...rest, id }
  return { orgId: sessionOrg, memberId: id, keyId, member, createdAt: since, seenAt, expiresAt }
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
