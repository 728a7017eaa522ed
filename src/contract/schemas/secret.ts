import { z } from 'zod'
import type { RotationFailure, RotationInput, RotationView, SecretInput, SecretPatch, SecretView } from '../secret.ts'
import { moment, pageOf } from './common.ts'
import { named, shaped } from './shaped.ts'

const value = z.string().min(8).max(65_536)
const hosts = z.array(z.string().min(1).max(300)).min(1).max(50)

/** The name of a secret. */
export const secretName = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,99}$/)

export const secretInput: z.ZodType<SecretInput> = named(
  'SecretInput',
  shaped<SecretInput>()({ name: secretName, value, hosts }),
)

export const secretPatch: z.ZodType<SecretPatch> = named(
  'SecretPatch',
  shaped<SecretPatch>()({ value: value.optional(), hosts: hosts.optional() }),
)

export const secret: z.ZodType<SecretView> = named(
  'Secret',
  shaped<SecretView>()({
    name: z.string(),
    org_id: z.string(),
    hosts: z.array(z.string()),
    used_by: z.array(z.string()),
    key_id: z.string(),
    version: z.int(),
    created_by: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
    value_set_at: moment,
  }),
)

export const secretPage = pageOf('SecretPage', secret)

export const rotationInput: z.ZodType<RotationInput> = named(
  'SecretRotationInput',
  shaped<RotationInput>()({ new_key: z.boolean().optional() }),
)

const failure: z.ZodType<RotationFailure> = shaped<RotationFailure>()({
  org_id: z.string(),
  kind: z.string(),
  name: z.string(),
  message: z.string(),
})

export const rotation: z.ZodType<RotationView> = named(
  'SecretRotation',
  shaped<RotationView>()({
    key_id: z.string(),
    previous_key_id: z.string().nullable(),
    sealed_anew: z.int(),
    failed: z.array(failure),
  }),
)
