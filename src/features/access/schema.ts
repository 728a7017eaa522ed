import { z } from 'zod'
import { isoTime, pageOf, paging, permission, role } from '../../api/common.ts'
import {
  fieldsRule,
  instantInput,
  named,
  rule,
  type Shape,
  text,
  textLike,
  integerBetween,
  zoneName,
} from '../../api/fields.ts'
import { GRANTS, parsePermissions, type Permission } from '../../domain/access/access.ts'
import { textField } from '../../domain/input-fields.ts'
import { type Flaw, flawed, type Parsed } from '../../domain/input.ts'
import { MAX_TIMEOUT_SECONDS } from '../../domain/run/timeouts.ts'
import { guardRails, guardRailsInput } from './restrictions-schema.ts'

const name = text(1, 200)
const scopes = z.array(named('KeyScope', z.enum(GRANTS), 'A permission, all of a group, or everything.'))

export const keyInput = named(
  'KeyInput',
  z.strictObject({
    name: name.describe('Name of the key.'),
    role: role.optional().describe('Role of the key. Default: `member`.'),
    scopes: scopes
      .min(1)
      .check(rule(parsePermissions))
      .overwrite((given) => [...new Set(given)])
      .nullish()
      .describe("Permissions, a subset of the role's permissions. Null or omitted: all of them."),
    expires_at: instantInput.nullish().describe('When the key expires. Default: never.'),
    guard_rails: guardRailsInput
      .nullish()
      .describe('Restrictions beyond the role. Null or omitted: none. They cannot be changed.'),
  }),
  'A new key.',
)
export type KeyInput = Shape<typeof keyInput>

const keyFields = {
  id: z.string(),
  org_id: z.string(),
  name: z.string(),
  hint: z.string().describe('The first characters of the key, to tell keys apart.'),
  role,
  scopes: scopes.nullable(),
  guard_rails: guardRails.nullable(),
  origin: z
    .enum(['person', 'start', 'environment'])
    .describe('Created by a user, created at the first start, or set in the environment.'),
  state: z.enum(['active', 'expired', 'revoked']),
  created_by: z.string().nullable(),
  created_at: isoTime,
  expires_at: isoTime.nullable(),
  revoked_at: isoTime.nullable(),
  last_used_at: isoTime.nullable(),
}

export const key = named('Key', z.strictObject(keyFields), 'A key without its text, which is not stored.')
export type KeyView = Shape<typeof key>

export const keyPage = pageOf('KeyPage', key)
export const madeKey = named(
  'MadeKey',
  z.strictObject({ ...keyFields, key: z.string().nullable() }),
  'The only response with the text of the key.',
)
export type MadeKey = Shape<typeof madeKey>

export const keyFilter = z.strictObject({ state: keyFields.state.optional().describe('State of the key.'), ...paging })
export type KeyFilter = Shape<typeof keyFilter>

const limit = integerBetween(1, 1_000_000_000).nullish()

const orgFields = {
  name: name.describe('Name of the org.'),
  default_timezone: zoneName
    .optional()
    .describe("Time zone of the org's schedules, budgets and days. Default: the deployment's."),
  max_concurrent: limit.describe('Maximum number of concurrent runs. Null or omitted: no limit.'),
  max_schedules: limit.describe('Maximum number of schedules. Null or omitted: no limit.'),
  runs_per_day: limit.describe('Maximum number of runs per day. Null or omitted: no limit.'),
  max_timeout_seconds: integerBetween(1, MAX_TIMEOUT_SECONDS)
    .nullish()
    .describe('Maximum `timeout_seconds` of schedules, agents and attempts.'),
}

export const orgInput = named(
  'OrgInput',
  z.strictObject({
    id: textLike(/^[a-z0-9][a-z0-9_-]{0,62}$/, {
      max: 63,
      message: 'is not a valid id',
      allowed: '1 to 63 lowercase letters, digits, _ -',
    })
      .optional()
      .describe('Short name for paths and settings. Default: generated.'),
    ...orgFields,
    with_key: z.boolean().optional().describe('Also create an owner key, shown once in the response.'),
  }),
  'A new org.',
)
export type OrgInput = Shape<typeof orgInput>

export const orgPatch = named(
  'OrgPatch',
  z.strictObject({
    ...orgFields,
    name: name.optional().describe('Name of the org.'),
    default_agent_id: text(1, 200).nullish().describe('Default agent.'),
  }),
  'A change of an org.',
)
export type OrgPatch = Shape<typeof orgPatch>

const orgViewFields = {
  id: z.string(),
  name: z.string(),
  default_timezone: z.string(),
  default_agent_id: z.string().nullable(),
  max_concurrent: z.int().nullable(),
  max_schedules: z.int().nullable(),
  runs_per_day: z.int().nullable(),
  max_timeout_seconds: z.int().nullable(),
  created_at: isoTime,
}

export const org = named('Org', z.strictObject(orgViewFields), 'An org.')
export type OrgView = Shape<typeof org>

export const createdOrg = named(
  'CreatedOrg',
  z.strictObject({
    ...orgViewFields,
    first_key: z
      .strictObject({ id: z.string(), key: z.string().nullable() })
      .optional()
      .describe('Its first key, if requested. `key` is null if the request was repeated.'),
  }),
  'An org that was just created.',
)
export type CreatedOrg = Shape<typeof createdOrg>

export const orgPage = pageOf('OrgPage', org)

const EMAIL = /^[^\s@]+@[^\s@]+$/

function parseEmail(field: string, value: unknown): Parsed<string> {
  const given = textField({ min: 3, max: 254 })(field, value)
  if (!given.ok || EMAIL.test(given.value)) return given
  return flawed({ field, value, message: 'is not an email address', allowed: 'name@host' })
}
const email = z.string().min(3).max(254).regex(EMAIL).check(rule(parseEmail))

export const memberInput = named(
  'MemberInput',
  z.strictObject({
    name: name.describe('Name of the member.'),
    email: email.nullish().describe('Email address.'),
    role: role.optional().describe('Role of the member. Default: `member`.'),
  }),
  'A new member.',
)
export type MemberInput = Shape<typeof memberInput>

export const memberPatch = named(
  'MemberPatch',
  z.strictObject({
    name: name.optional().describe('Name of the member.'),
    email: email.nullish().describe('Email address.'),
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
    created_at: isoTime,
    updated_at: isoTime,
    last_sign_in_at: isoTime.nullable(),
  }),
  'A member.',
)
export type MemberView = Shape<typeof member>

export const memberPage = pageOf('MemberPage', member)

export const signInLink = named(
  'SignInLink',
  z.strictObject({ token: z.string(), member_id: z.string(), expires_at: isoTime }),
  "A link that signs a member in once. The token goes into the fragment of the console's URL: `#signin=<token>`.",
)
export type SignInLink = Shape<typeof signInLink>

function signInFlaws(token: unknown, key: unknown): readonly Flaw[] {
  if ((token === undefined) !== (key === undefined)) return []
  const message = token === undefined ? 'is missing' : 'cannot be combined with key'
  return [{ field: 'token', value: token, message, allowed: 'either token or key' }]
}

export const signInInput = named(
  'SignInInput',
  z
    .strictObject({ token: z.string().min(1).max(200).optional(), key: z.string().min(1).max(512).optional() })
    .check(fieldsRule(({ token, key }) => signInFlaws(token, key))),
  'The token of a sign-in link, or a key. Exactly one of them.',
)
export type SignInInput = Shape<typeof signInInput>

export const consoleSession = named(
  'ConsoleSession',
  z.strictObject({
    member: member.nullable().describe('Null: signed in with a key.'),
    permissions: z.array(permission),
    csrf_token: z.string().describe('Send it in a header with every change.'),
    expires_at: isoTime,
  }),
  'The signed-in session of the console.',
)
export type ConsoleSessionView = Shape<typeof consoleSession>

export const me = named(
  'Me',
  z.strictObject({
    id: z.string().describe('The id of the key or the member.'),
    kind: z.enum(['key', 'member']),
    org: z.strictObject({ id: z.string(), name: z.string() }),
    role,
    permissions: z.array(permission).describe('All permissions of the caller.'),
    operator: z.boolean().describe('Whether the caller may change lanes, settings and orgs.'),
    expires_at: isoTime.nullable(),
    member: member.nullable().describe('Null for a key, or a session that was opened with one.'),
    csrf_token: z
      .string()
      .nullable()
      .describe('Send it in a header with every change. Null for a key, which requires none.'),
  }),
  'The caller and its permissions.',
)
export type MeView = Shape<typeof me>

/** The name of a permission. */
export type PermissionName = Permission
