import { z } from 'zod'
import { ROLES, type Role } from '../../core/access.ts'
import { MAX_TIMEOUT_SECONDS } from '../../core/run/timeouts.ts'
import type { KeyFilter, KeyInput, KeyView, MadeKey } from '../key.ts'
import type { ConsoleSessionView, MemberInput, MemberPatch, MemberView, SignInInput, SignInLink } from '../member.ts'
import type { CreatedOrg, OrgInput, OrgPatch, OrgView } from '../org.ts'
import { moment, oneOf, pageOf, paging } from './common.ts'
import { guardRails, guardRailsInput } from './guard-rails.ts'
import { named, shaped } from './shaped.ts'

const role = oneOf(Object.keys(ROLES) as readonly Role[])
const name = z.string().min(1).max(200)
const limit = z.int().min(1).nullish()

export const keyInput: z.ZodType<KeyInput> = named(
  'KeyInput',
  shaped<KeyInput>()({
    name,
    role: role.optional(),
    scopes: z.array(z.string().min(1)).min(1).nullish(),
    expires_at: z.iso.datetime({ offset: true }).nullish(),
    guard_rails: guardRailsInput.nullish(),
  }),
)

const keyFields = {
  id: z.string(),
  org_id: z.string(),
  name: z.string(),
  hint: z.string(),
  role,
  scopes: z.array(z.string()).nullable(),
  guard_rails: guardRails.nullable(),
  origin: z.enum(['person', 'start', 'environment']),
  state: z.enum(['active', 'expired', 'revoked']),
  created_by: z.string().nullable(),
  created_at: moment,
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
  last_used_at: moment.nullable(),
}

export const key: z.ZodType<KeyView> = named('Key', shaped<KeyView>()(keyFields))
export const keyPage = pageOf('KeyPage', key)
export const madeKey: z.ZodType<MadeKey> = named(
  'MadeKey',
  shaped<MadeKey>()({ ...keyFields, key: z.string().nullable() }),
  'The only answer with the text of the key.',
)
export const keyFilter = shaped<KeyFilter>()({ state: keyFields.state.optional(), ...paging })

export const memberInput: z.ZodType<MemberInput> = named(
  'MemberInput',
  shaped<MemberInput>()({ name, email: z.string().min(3).max(320).nullish(), role: role.optional() }),
)

export const memberPatch: z.ZodType<MemberPatch> = named(
  'MemberPatch',
  shaped<MemberPatch>()({
    name: name.optional(),
    email: z.string().min(3).max(320).nullish(),
    role: role.optional(),
  }),
)

export const member: z.ZodType<MemberView> = named(
  'Member',
  shaped<MemberView>()({
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
)

export const memberPage = pageOf('MemberPage', member)

export const signInLink: z.ZodType<SignInLink> = named(
  'SignInLink',
  shaped<SignInLink>()({ token: z.string(), member_id: z.string(), expires_at: moment }),
)

export const signInInput: z.ZodType<SignInInput> = named(
  'SignInInput',
  shaped<SignInInput>()({ token: z.string().min(1).max(200).optional(), key: z.string().min(1).max(512).optional() }),
)

export const consoleSession: z.ZodType<ConsoleSessionView> = named(
  'ConsoleSession',
  shaped<ConsoleSessionView>()({
    member: member.nullable(),
    permissions: z.array(z.string()),
    csrf_token: z.string(),
    expires_at: moment,
  }),
)

const orgFields = {
  name,
  default_timezone: z.string().min(1).optional(),
  max_concurrent: limit,
  max_schedules: limit,
  runs_per_day: limit,
  max_timeout_seconds: z.int().min(1).max(MAX_TIMEOUT_SECONDS).nullish(),
}

export const orgInput: z.ZodType<OrgInput> = named(
  'OrgInput',
  shaped<OrgInput>()({ ...orgFields, id: z.string().min(1).max(200).optional(), with_key: z.boolean().optional() }),
)

export const orgPatch: z.ZodType<OrgPatch> = named(
  'OrgPatch',
  shaped<OrgPatch>()({
    ...orgFields,
    name: name.optional(),
    default_agent_id: z.string().min(1).max(200).nullish(),
  }),
)

const shownOrg = {
  id: z.string(),
  name: z.string(),
  default_timezone: z.string(),
  default_agent_id: z.string().nullable(),
  max_concurrent: z.int().nullable(),
  max_schedules: z.int().nullable(),
  runs_per_day: z.int().nullable(),
  max_timeout_seconds: z.int().nullable(),
  created_at: moment,
}

export const org: z.ZodType<OrgView> = named('Org', shaped<OrgView>()(shownOrg))

export const createdOrg: z.ZodType<CreatedOrg> = named(
  'CreatedOrg',
  shaped<CreatedOrg>()({
    ...shownOrg,
    first_key: z.strictObject({ id: z.string(), key: z.string().nullable() }).optional(),
  }),
)

export const orgPage = pageOf('OrgPage', org)
