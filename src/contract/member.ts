import { z } from 'zod'
import { flawed, type Flaw, type Parsed } from '../domain/input.ts'
import { textField } from '../domain/input-fields.ts'
import { moment, pageOf, permission, role } from '../api/common.ts'
import { fieldsRule, rule, text } from '../api/fields.ts'
import { named, type Shape } from './shape.ts'

const EMAIL = /^[^\s@]+@[^\s@]+$/

function parseEmail(field: string, value: unknown): Parsed<string> {
  const given = textField({ min: 3, max: 254 })(field, value)
  if (!given.ok || EMAIL.test(given.value)) return given
  return flawed({ field, value, message: 'is not an e-mail address', allowed: 'name@host' })
}

const name = text(1, 200)
const email = z.string().min(3).max(254).regex(EMAIL).check(rule(parseEmail))

export const memberInput = named(
  'MemberInput',
  z.strictObject({
    name: name.describe('Name of the member.'),
    email: email.nullish().describe('E-mail address.'),
    role: role.optional().describe('Role of the member. Default: `member`.'),
  }),
  'A new member.',
)
export type MemberInput = Shape<typeof memberInput>

export const memberPatch = named(
  'MemberPatch',
  z.strictObject({
    name: name.optional().describe('Name of the member.'),
    email: email.nullish().describe('E-mail address.'),
    role: role.optional().describe('Role of the member.'),
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
  'A member.',
)
export type MemberView = Shape<typeof member>

export const memberPage = pageOf('MemberPage', member)

export const signInLink = named(
  'SignInLink',
  z.strictObject({ token: z.string(), member_id: z.string(), expires_at: moment }),
  "A link that signs a member in once. The token goes into the fragment of the console's URL: `#signin=<token>`.",
)
export type SignInLink = Shape<typeof signInLink>

function oneWayIn(token: unknown, key: unknown): readonly Flaw[] {
  if ((token === undefined) !== (key === undefined)) return []
  const message = token === undefined ? 'is missing' : 'cannot be given together with key'
  return [{ field: 'token', value: token, message, allowed: 'either token or key' }]
}

export const signInInput = named(
  'SignInInput',
  z
    .strictObject({ token: z.string().min(1).max(200).optional(), key: z.string().min(1).max(512).optional() })
    .check(fieldsRule(({ token, key }) => oneWayIn(token, key))),
  'The token of a sign-in link, or a key. Exactly one of them.',
)
export type SignInInput = Shape<typeof signInInput>

export const consoleSession = named(
  'ConsoleSession',
  z.strictObject({
    member: member.nullable().describe('Null: signed in with a key.'),
    permissions: z.array(permission),
    csrf_token: z.string().describe('Send it in a header with every change.'),
    expires_at: moment,
  }),
  'The signed-in session of the console.',
)
export type ConsoleSessionView = Shape<typeof consoleSession>
