import { z } from 'zod'
import { GRANTS, parsePermissions } from '../domain/access/access.ts'
import { moment, pageOf, paging, role } from '../api/common.ts'
import { givenInstant, rule, text } from '../api/fields.ts'
import { guardRails, guardRailsInput } from '../features/access/restrictions-schema.ts'
import { named, type Shape } from './shape.ts'

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
      .describe('Permissions, as a subset of those of its role. Null or omitted: all of them.'),
    expires_at: givenInstant.nullish().describe('When it expires. Default: never.'),
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
    .describe('Created by a person, at the first start, or set by the environment.'),
  state: z.enum(['active', 'expired', 'revoked']),
  created_by: z.string().nullable(),
  created_at: moment,
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
  last_used_at: moment.nullable(),
}

export const key = named('Key', z.strictObject(keyFields), 'A key without its text, which is not stored.')
export type KeyView = Shape<typeof key>

export const keyPage = pageOf('KeyPage', key)
export const madeKey = named(
  'MadeKey',
  z.strictObject({ ...keyFields, key: z.string().nullable() }),
  'The only answer with the text of the key.',
)
export type MadeKey = Shape<typeof madeKey>

export const keyFilter = z.strictObject({ state: keyFields.state.optional().describe('State of the key.'), ...paging })
export type KeyFilter = Shape<typeof keyFilter>
