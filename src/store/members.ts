import type { Role } from '../core/access.ts'
import { orgId, type OrgId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Connection, Row, Transaction } from './database.ts'
import type { OrgPage } from './page.ts'
import { timestampOrNull } from './rows.ts'
import { toTimestamp } from './timestamp.ts'

/** A row of `member`. */
export interface MemberRow {
  readonly orgId: OrgId
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly role: Role
  readonly createdBy: string | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  readonly lastSignInAt: Instant | null
}

const COLUMNS = 'm.org_id, m.id, m.name, m.email, m.role, m.created_by, m.created_at, m.updated_at, m.last_sign_in_at'

/** Keeps a new member. False when the org has one with this e-mail address. */
export async function insertMember(tx: Transaction, row: MemberRow): Promise<boolean> {
  const rows = await tx.query(
    `insert into member (org_id, id, name, email, role, created_by, created_at, updated_at)
     values ($1, $2, $3, $4, $5, $6, $7::timestamptz, $8::timestamptz)
     on conflict (org_id, lower(email)) where email is not null do nothing returning id`,
    [
      ...[row.orgId, row.id, row.name, row.email, row.role, row.createdBy],
      ...[toTimestamp(row.createdAt), toTimestamp(row.updatedAt)],
    ],
  )
  return rows.length > 0
}

/** Writes back what may change about a member. */
export async function saveMember(tx: Transaction, row: MemberRow): Promise<void> {
  await tx.query(
    `update member set name = $3, email = $4, role = $5, updated_at = $6::timestamptz where org_id = $1 and id = $2`,
    [row.orgId, row.id, row.name, row.email, row.role, toTimestamp(row.updatedAt)],
  )
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
  const [row] = await connection.query(`select ${COLUMNS} from member m where m.org_id = $1 and m.id = $2`, [
    ...[wanted.orgId, wanted.id],
  ])
  return row === undefined ? undefined : memberOf(row)
}

/** The member of the org with this e-mail address, or undefined. */
export async function loadMemberByEmail(
  connection: Connection,
  wanted: { readonly orgId: OrgId; readonly email: string },
): Promise<MemberRow | undefined> {
  const [row] = await connection.query(
    `select ${COLUMNS} from member m where m.org_id = $1 and lower(m.email) = lower($2)`,
    [wanted.orgId, wanted.email],
  )
  return row === undefined ? undefined : memberOf(row)
}

/** The owners of an org, the oldest first. */
export async function loadOwners(connection: Connection, of: OrgId): Promise<readonly MemberRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from member m where m.org_id = $1 and m.role = 'owner' order by m.created_at, m.id`,
    [of],
  )
  return rows.map(memberOf)
}

/** Members of the org, newest first. */
export async function listMembers(connection: Connection, choice: OrgPage): Promise<readonly MemberRow[]> {
  const rows = await connection.query(
    `select ${COLUMNS} from member m
      where m.org_id = $1 and ($2::timestamptz is null or (m.created_at, m.id) < ($2::timestamptz, $3::text))
      order by m.created_at desc, m.id desc limit $4`,
    [choice.orgId, timestampOrNull(choice.after?.createdAt ?? null), choice.after?.id ?? null, choice.limit],
  )
  return rows.map(memberOf)
}

/** Reads the columns of a member. */
export const memberOf = (row: Row): MemberRow => ({
  orgId: orgId(row['org_id'] as string),
  id: row['id'] as string,
  name: row['name'] as string,
  email: row['email'] as string | null,
  role: row['role'] as Role,
  createdBy: row['created_by'] as string | null,
  createdAt: row['created_at'] as Instant,
  updatedAt: row['updated_at'] as Instant,
  lastSignInAt: row['last_sign_in_at'] as Instant | null,
})

/** The columns that `memberOf` reads, of a table called `m`. */
export const MEMBER_COLUMNS = COLUMNS
