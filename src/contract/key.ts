import { z } from 'zod'
import { ROLES, type Role } from '../core/access.ts'
import { moment, pageOf, paging } from './common.ts'
import { guardRails, guardRailsInput } from './guard-rails.ts'
import { named, type Shape } from './shape.ts'

const role = z.enum(Object.keys(ROLES) as readonly Role[])
const name = z.string().min(1).max(200)

export const keyInput = named(
  'KeyInput',
  z.strictObject({
    name,
    role: role.optional().describe('`member` unless given.'),
    scopes: z
      .array(z.string().min(1))
      .min(1)
      .nullish()
      .describe('What it may do of what its role may do; left out or null: all of it.'),
    expires_at: z.iso.datetime({ offset: true }).nullish(),
    guard_rails: guardRailsInput
      .nullish()
      .describe('How far it may go whatever its role permits; null, or left out: as far as that. They never change.'),
  }),
  'A new key.',
)
export type KeyInput = Shape<typeof keyInput>

const keyFields = {
  id: z.string(),
  org_id: z.string(),
  name: z.string(),
  hint: z.string().describe('The beginning of its text, to tell keys apart.'),
  role,
  scopes: z.array(z.string()).nullable(),
  guard_rails: guardRails.nullable(),
  origin: z
    .enum(['person', 'start', 'environment'])
    .describe('Made by a person, at the first start, or named by the environment.'),
  state: z.enum(['active', 'expired', 'revoked']),
  created_by: z.string().nullable(),
  created_at: moment,
  expires_at: moment.nullable(),
  revoked_at: moment.nullable(),
  last_used_at: moment.nullable(),
}

export const key = named(
  'Key',
  z.strictObject(keyFields),
  'A key as every surface shows it. Its text is not in it: nobody has it any more.',
)
export type KeyView = Shape<typeof key>

export const keyPage = pageOf('KeyPage', key)
export const madeKey = named(
  'MadeKey',
  z.strictObject({ ...keyFields, key: z.string().nullable() }),
  'The only answer with the text of the key.',
)
export type MadeKey = Shape<typeof madeKey>

export const keyFilter = z.strictObject({ state: keyFields.state.optional(), ...paging })
export type KeyFilter = Shape<typeof keyFilter>
