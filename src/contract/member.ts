import { z } from 'zod'
import { ROLES, type Role } from '../core/access.ts'
import { moment, pageOf } from './common.ts'
import { named, type Shape } from './shape.ts'

const role = z.enum(Object.keys(ROLES) as readonly Role[])
const name = z.string().min(1).max(200)

export const memberInput = named(
  'MemberInput',
  z.strictObject({
    name,
    email: z.string().min(3).max(320).nullish(),
    role: role.optional().describe('`member` unless given.'),
  }),
  'Somebody new in the org.',
)
export type MemberInput = Shape<typeof memberInput>

export const memberPatch = named(
  'MemberPatch',
  z.strictObject({
    name: name.optional(),
    email: z.string().min(3).max(320).nullish(),
    role: role.optional().describe('`member` unless given.'),
  }),
)
export type MemberPatch = Shape<typeof memberPatch>

export const member = named(
  'Member',
  z.strictObject({
    id: z.string(),
    org_id: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    role,
    created_by: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
    last_sign_in_at: moment.nullable(),
  }),
  'A member as every surface shows them.',
)
export type MemberView = Shape<typeof member>

export const memberPage = pageOf('MemberPage', member)

export const signInLink = named(
  'SignInLink',
  z.strictObject({ token: z.string(), member_id: z.string(), expires_at: moment }),
  "A link that signs a member in, once. The token goes into the fragment of the console's address: `#signin=<token>`.",
)
export type SignInLink = Shape<typeof signInLink>

export const signInInput = named(
  'SignInInput',
  z.strictObject({ token: z.string().min(1).max(200).optional(), key: z.string().min(1).max(512).optional() }),
  'What a browser is signed in with: the token of a link, or a key. One of the two.',
)
export type SignInInput = Shape<typeof signInInput>

export const consoleSession = named(
  'ConsoleSession',
  z.strictObject({
    member: member.nullable().describe('Null when a key was brought.'),
    permissions: z.array(z.string()),
    csrf_token: z.string().describe('Goes back in a header with everything that changes something.'),
    expires_at: moment,
  }),
  'Who is signed in at the console.',
)
export type ConsoleSessionView = Shape<typeof consoleSession>
