import type { MemberView } from '../contract/member.ts'
import { formatInstant } from '../domain/instant.ts'
import type { MemberRow } from '../store/members.ts'

/** A member as every surface shows them. */
export const viewMember = (row: MemberRow): MemberView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  email: row.email,
  role: row.role,
  created_by: row.createdBy,
  created_at: formatInstant(row.createdAt),
  updated_at: formatInstant(row.updatedAt),
  last_sign_in_at: row.lastSignInAt === null ? null : formatInstant(row.lastSignInAt),
})
