import type { Role } from '../domain/access/access.ts'
import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Connection, Transaction } from './database.ts'
import type { OrgPage } from '../platform/db/page.ts'
import { column, type RowOf, table, timestampOrNull, toTimestamp } from '../platform/db/table.ts'

export const members = table('member', {
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

const CREATED = members.omit('lastSignInAt')

/** Keeps a new member. False when the org has one with this e-mail address. */
export async function insertMember(tx: Transaction, row: MemberRow): Promise<boolean> {
  const rows = await tx.query(
    `${CREATED.insert} on conflict (org_id, lower(email)) where email is not null do nothing returning id`,
    CREATED.values(row),
  )
  return rows.length > 0
}

const EDITED = members.pick('name', 'email', 'role', 'updatedAt')

/** Writes back what may change about a member. */
export async function saveMember(tx: Transaction, row: MemberRow): Promise<void> {
  await tx.query(`update member set ${EDITED.assigned(3)} where org_id = $1 and id = $2`, [
    row.orgId,
    row.id,
    ...EDITED.values(row),
  ])
}

/** Removes a member with the links and browsers they are signed in by. */
export async function deleteMember(
  tx: Transaction,
  gone: { readonly orgId: OrgId; readonly id: string },
): Promise<void> {
  await tx.query('delete from member where org_id = $1 and id = $2', [gone.orgId, gone.id])
}

/** Notes that a member has signed in. */
export async function noteSignIn(
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

/** The member of the org with this e-mail address, or undefined. */
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
