import type { Role } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'
import type { OrgPage } from '../../platform/db/page.ts'
import { column, columns, type RowOf, table, timestampOrNull, toTimestamp } from '../../platform/db/table.ts'

const members = table('member', {
  orgId: column.text<OrgId>(),
  id: column.text(),
  name: column.text(),
  email: column.text<string | null>(),
  role: column.text<Role>(),
  createdBy: column.text<string | null>(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
  lastSignInAt: column.instant<Instant | null>(),
})

/** A row of `member`. */
export type MemberRow = RowOf<typeof members>

const NEW_MEMBER = members.omit('lastSignInAt')

/** Inserts a new member. False if the org has a member with this email address. */
export async function insertMember(tx: Transaction, row: MemberRow): Promise<boolean> {
  const rows = await tx.query(
    `${NEW_MEMBER.insert} on conflict (org_id, lower(email)) where email is not null do nothing returning id`,
    NEW_MEMBER.values(row),
  )
  return rows.length > 0
}

const EDITED = members.pick('name', 'email', 'role', 'updatedAt')

/** Updates the editable columns of a member. */
export async function saveMember(tx: Transaction, row: MemberRow): Promise<void> {
  await tx.query(`update member set ${EDITED.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...EDITED.values(row),
  ])
}

/** Deletes a member with their sign-in links and console sessions. */
export async function deleteMemberRow(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: string },
): Promise<void> {
  await tx.query('delete from member where org_id = $1 and id = $2', [gone.orgId, gone.id])
}

/** Records that a member signed in. */
export async function recordSignIn(
  tx: Transaction,
  member: { readonly orgId: OrgId; readonly id: string; readonly at: Instant },
): Promise<void> {
  await tx.query('update member set last_sign_in_at = $3::timestamptz where org_id = $1 and id = $2', [
    ...[member.orgId, member.id, toTimestamp(member.at)],
  ])
}

/** The member, or undefined. */
export async function loadMember(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly id: string },
): Promise<MemberRow | undefined> {
  return members.first(
    await connection.query(`select ${members.of('m')} from member m where m.org_id = $1 and m.id = $2`, [
      ...[wanted.orgId, wanted.id],
    ]),
  )
}

/** The member of the org with this email address, or undefined. */
export async function loadMemberByEmail(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly email: string },
): Promise<MemberRow | undefined> {
  return members.first(
    await connection.query(
      `select ${members.of('m')} from member m where m.org_id = $1 and lower(m.email) = lower($2)`,
      [wanted.orgId, wanted.email],
    ),
  )
}

/** The owners of an org, the oldest first. */
export async function loadOwners(connection: Connection, of: OrgId): Promise<readonly MemberRow[]> {
  return members.read(
    await connection.query(
      `select ${members.of('m')} from member m where m.org_id = $1 and m.role = 'owner' order by m.created_at, m.id`,
      [of],
    ),
  )
}

/** Members of the org, newest first. */
export async function listMembers(connection: Connection, choice: OrgPage): Promise<readonly MemberRow[]> {
  return members.read(
    await connection.query(
      `select ${members.of('m')} from member m
      where m.org_id = $1 and ($2::timestamptz is null or (m.created_at, m.id) < ($2::timestamptz, $3::text))
      order by m.created_at desc, m.id desc limit $4`,
      [choice.orgId, timestampOrNull(choice.after?.createdAt ?? null), choice.after?.id ?? null, choice.limit],
    ),
  )
}

const sessions = table('console_session', {
  orgId: column.text<OrgId>(),
  /** The member who is signed in; null if a key is. */
  memberId: column.text<string | null>(),
  keyId: column.text<string | null>(),
  createdAt: column.instant(),
  seenAt: column.instant(),
  expiresAt: column.instant(),
})

/** A row of `console_session`, without the hash of its cookie. */
type ConsoleSessionRow = RowOf<typeof sessions>

const NEW_CONSOLE_SESSION = table('console_session', { ...sessions.definitions, cookieHash: column.bytes() })

/** Inserts a console session. */
export async function insertConsoleSession(
  tx: Transaction,
  row: ConsoleSessionRow,
  cookieHash: Uint8Array,
): Promise<void> {
  await tx.query(NEW_CONSOLE_SESSION.insert, NEW_CONSOLE_SESSION.values({ ...row, cookieHash }))
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

/** The console session of this cookie, in any org that is not deleted, or undefined. */
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

/** Records that a browser is still active. */
export async function touchConsoleSession(connection: Connection, cookieHash: Uint8Array, at: Instant): Promise<void> {
  await connection.query(
    'update console_session set seen_at = $2::timestamptz where cookie_hash = $1 and seen_at < $2::timestamptz',
    [cookieHash, toTimestamp(at)],
  )
}

/** Deletes a console session. True if there was one. */
export async function deleteConsoleSession(connection: Connection, cookieHash: Uint8Array): Promise<boolean> {
  const rows = await connection.query('delete from console_session where cookie_hash = $1 returning org_id', [
    cookieHash,
  ])
  return rows.length > 0
}

/** Deletes sessions that expired or were idle for too long. Returns how many. */
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

/** A row of `sign_in`: a link that signs a member in once. */
type SignInRow = RowOf<typeof signIns>

const SIGN_IN_CREATED = table('sign_in', { ...signIns.definitions, tokenHash: column.bytes() })

/** Inserts a new link. */
export async function insertSignIn(tx: Transaction, row: SignInRow, tokenHash: Uint8Array): Promise<void> {
  await tx.query(SIGN_IN_CREATED.insert, SIGN_IN_CREATED.values({ ...row, tokenHash }))
}

/** The link with this token, or undefined; it may be expired. */
export async function loadSignIn(connection: Connection, tokenHash: Uint8Array): Promise<SignInRow | undefined> {
  return signIns.first(await connection.query(`select ${signIns.list} from sign_in where token_hash = $1`, [tokenHash]))
}

/** Consumes a link. Undefined if there is no link with this token, or it was used, or it expired. */
export async function consumeSignIn(
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

/** Deletes expired links. Returns how many. */
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
