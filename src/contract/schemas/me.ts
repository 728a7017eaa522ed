import { z } from 'zod'
import { ROLES, type Role } from '../../core/access.ts'
import type { MeView } from '../me.ts'
import { moment, oneOf } from './common.ts'
import { member } from './people.ts'
import { named, shaped } from './shaped.ts'

export const me: z.ZodType<MeView> = named(
  'Me',
  shaped<MeView>()({
    id: z.string(),
    kind: z.enum(['key', 'member']),
    org: z.strictObject({ id: z.string(), name: z.string() }),
    role: oneOf(Object.keys(ROLES) as readonly Role[]),
    permissions: z.array(z.string()),
    operator: z.boolean(),
    expires_at: moment.nullable(),
    member: member.nullable(),
    csrf_token: z.string().nullable(),
  }),
)
