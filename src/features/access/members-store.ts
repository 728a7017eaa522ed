import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { type MemberRow, members } from '../../store/members.ts'
import { column, columns, type RowOf, table, toTimestamp } from '../../platform/db/table.ts'

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

const signIns = table('sign_in', {
  orgId: column.text<OrgId>(),
  memberId: column.text(),
  createdAt: column.instant(),
  expiresAt: column.instant(),
})

/** A row of `sign_in`: a link that signs a member in, once. */
type SignInRow = RowOf<typeof signIns>

const SIGN_IN_CREATED = table('sign_in', { ...signIns.definitions, tokenHash: column.bytes() })

/** Keeps a new link. */
export async function insertSignIn(tx: Transaction, row: SignInRow, tokenHash: Uint8Array): Promise<void> {
  await tx.query(SIGN_IN_CREATED.insert, SIGN_IN_CREATED.values({ ...row, tokenHash }))
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
