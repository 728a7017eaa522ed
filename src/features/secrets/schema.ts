import { z } from 'zod'
import { MIN_SECRET_LENGTH } from '../../domain/secret/mask.ts'
import {
  MAX_HOST_LENGTH,
  MAX_SECRET_HOSTS,
  parseSecretHosts,
  SEALED_KINDS,
  SECRET_NAME,
  SECRET_NAME_ALLOWED,
} from '../../domain/secret/secret-names.ts'
import { isoTime, pageOf } from '../../api/common.ts'
import { confidential, named, readWith, type Shape, text, textLike } from '../../api/fields.ts'

const value = text(MIN_SECRET_LENGTH, 65_536)
const hosts = z
  .array(z.string().min(1).max(MAX_HOST_LENGTH))
  .min(1)
  .max(MAX_SECRET_HOSTS)
  .check(readWith(parseSecretHosts))

/** The name of a secret. */
export const secretName = textLike(SECRET_NAME, {
  max: 100,
  message: 'cannot be the name of a secret',
  allowed: SECRET_NAME_ALLOWED,
})

// Confidential: an error must not repeat the input, because the value may be in the wrong field.
export const secretInput = named(
  'SecretInput',
  confidential(
    z.strictObject({
      name: secretName,
      value: value.describe('Write-only: never shown.'),
      hosts: hosts.describe(
        'Hosts to which the secret may be sent: `api.example.com`, or `host:port` for other ports than the default.',
      ),
    }),
  ),
  'A new secret: a value that agents may send to the given hosts.',
)
export type SecretInput = Shape<typeof secretInput>

export const secretPatch = named(
  'SecretPatch',
  confidential(z.strictObject({ value: value.optional(), hosts: hosts.optional() })),
  'A change of a secret.',
)
export type SecretPatch = Shape<typeof secretPatch>

export const secret = named(
  'Secret',
  z.strictObject({
    name: z.string(),
    org_id: z.string(),
    hosts: z.array(z.string()),
    used_by: z.array(z.string()).describe('Agents that use the secret.'),
    key_id: z.string().describe('Fingerprint of the key that encrypts it.'),
    version: z.int(),
    created_by: z.string().nullable(),
    created_at: isoTime,
    updated_at: isoTime,
    value_set_at: isoTime,
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
      .describe('Create a new key first. Only where the key is in a file beside an embedded database.'),
  }),
  'How to encrypt all secrets again.',
)
export type RotationInput = Shape<typeof rotationInput>

/** A value that could not be sealed again. */
const failure = z.strictObject({
  org_id: z.string(),
  kind: z.enum(SEALED_KINDS),
  name: z.string(),
  message: z.string(),
})
export type RotationFailure = Shape<typeof failure>

export const rotation = named(
  'SecretRotation',
  z.strictObject({
    key_id: z.string().describe('The key that encrypts from now on.'),
    previous_key_id: z.string().nullable().describe('The previous key. Null: unchanged.'),
    sealed_anew: z.int(),
    failed: z.array(failure).describe('Values that could not be decrypted and stay as they are.'),
  }),
  'Result of the rotation.',
)
export type RotationView = Shape<typeof rotation>
