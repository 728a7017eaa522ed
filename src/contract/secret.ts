/** A new secret: a value that agents may send, and where to. */
export interface SecretInput {
  readonly name: string
  /** Written only: no answer ever shows it. */
  readonly value: string
  /** The hosts it may go to: `api.example.com`, or `host:port` where the port is not the usual one. */
  readonly hosts: readonly string[]
}

/** What may change about a secret. */
export type SecretPatch = { readonly [Name in 'value' | 'hosts']?: SecretInput[Name] | undefined }

/** A secret without its value. */
export interface SecretView {
  readonly name: string
  readonly org_id: string
  readonly hosts: readonly string[]
  /** The agents that name it. */
  readonly used_by: readonly string[]
  /** The key that seals it, by what tells keys apart. */
  readonly key_id: string
  readonly version: number
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly value_set_at: string
}

/** How everything is sealed anew. */
export interface RotationInput {
  /** Makes a new key first, where the key is in a file beside an embedded database. */
  readonly new_key?: boolean | undefined
}

/** What came of it. */
export interface RotationView {
  /** The key that seals from now on. */
  readonly key_id: string
  /** The one that sealed before; null: it is the same one. */
  readonly previous_key_id: string | null
  readonly sealed_anew: number
  /** What could not be opened, and stays as it is. */
  readonly failed: readonly RotationFailure[]
}

/** Something that could not be sealed anew. */
export interface RotationFailure {
  readonly org_id: string
  readonly kind: string
  readonly name: string
  readonly message: string
}
