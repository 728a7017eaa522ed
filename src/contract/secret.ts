import { z } from 'zod'
import { moment, pageOf } from './common.ts'
import { named, type Shape } from './shape.ts'

const value = z.string().min(8).max(65_536)
const hosts = z.array(z.string().min(1).max(300)).min(1).max(50)

/** The name of a secret. */
export const secretName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,99}$/)

export const secretInput = named(
  'SecretInput',
  z.strictObject({
    name: secretName,
    value: value.describe('Written only: no answer ever shows it.'),
    hosts: hosts.describe(
      'The hosts it may go to: `api.example.com`, or `host:port` where the port is not the usual one.',
    ),
  }),
  'A new secret: a value that agents may send, and where to.',
)
export type SecretInput = Shape<typeof secretInput>

export const secretPatch = named(
  'SecretPatch',
  z.strictObject({ value: value.optional(), hosts: hosts.optional() }),
  'What may change about a secret.',
)
export type SecretPatch = Shape<typeof secretPatch>

export const secret = named(
  'Secret',
  z.strictObject({
    name: z.string(),
    org_id: z.string(),
    hosts: z.array(z.string()),
    used_by: z.array(z.string()).describe('The agents that name it.'),
    key_id: z.string().describe('The key that seals it, by what tells keys apart.'),
    version: z.int(),
    created_by: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
    value_set_at: moment,
  }),
  'A secret without its value.',
)
export type SecretView = Shape<typeof secret>

export const secretPage = pageOf('SecretPage', secret)

export const rotationInput = named(
  'SecretRotationInput',
  z.strictObject({
    new_key: z
      .boolean()
      .optional()
      .describe('Makes a new key first, where the key is in a file beside an embedded database.'),
  }),
  'How everything is sealed anew.',
)
export type RotationInput = Shape<typeof rotationInput>

/** Something that could not be sealed anew. */
const failure = z.strictObject({
  org_id: z.string(),
  kind: z.string(),
  name: z.string(),
  message: z.string(),
})
export type RotationFailure = Shape<typeof failure>

export const rotation = named(
  'SecretRotation',
  z.strictObject({
    key_id: z.string().describe('The key that seals from now on.'),
    previous_key_id: z.string().nullable().describe('The one that sealed before; null: it is the same one.'),
    sealed_anew: z.int(),
    failed: z.array(failure).describe('What could not be opened, and stays as it is.'),
  }),
  'What came of it.',
)
export type RotationView = Shape<typeof rotation>
