import { z } from 'zod'
import { ROLES, type Role, type Permission } from '../core/access.ts'
import { moment } from './common.ts'
import { member } from './member.ts'
import { named, type Shape } from './shape.ts'

export const me = named(
  'Me',
  z.strictObject({
    id: z.string().describe('The id of the key or the member.'),
    kind: z.enum(['key', 'member']),
    org: z.strictObject({ id: z.string(), name: z.string() }),
    role: z.enum(Object.keys(ROLES) as readonly Role[]),
    permissions: z.array(z.string()).describe('Everything they may do, spelled out.'),
    operator: z.boolean().describe('Whether they may change lanes, configuration and orgs.'),
    expires_at: moment.nullable(),
    member: member.nullable().describe('Null when a key asks, or somebody who has signed in with one.'),
    csrf_token: z
      .string()
      .nullable()
      .describe(
        'Goes back in a header with everything that changes something; null when a key itself asks, which needs none.',
      ),
  }),
  'Who asks, and what they may do.',
)
export type MeView = Shape<typeof me>

/** Something that can be permitted, by its name. */
export type PermissionName = Permission
