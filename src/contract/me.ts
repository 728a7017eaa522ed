import { z } from 'zod'
import type { Permission } from '../domain/access/access.ts'
import { moment, permission, role } from '../api/common.ts'
import { member } from './member.ts'
import { named, type Shape } from './shape.ts'

export const me = named(
  'Me',
  z.strictObject({
    id: z.string().describe('The id of the key or the member.'),
    kind: z.enum(['key', 'member']),
    org: z.strictObject({ id: z.string(), name: z.string() }),
    role,
    permissions: z.array(permission).describe('All permissions of the caller.'),
    operator: z.boolean().describe('Whether the caller may change lanes, settings and orgs.'),
    expires_at: moment.nullable(),
    member: member.nullable().describe('Null for a key, or a session that was opened with one.'),
    csrf_token: z
      .string()
      .nullable()
      .describe('Send it in a header with every change. Null for a key, which needs none.'),
  }),
  'The caller and its permissions.',
)
export type MeView = Shape<typeof me>

/** Something that can be permitted, by its name. */
export type PermissionName = Permission
