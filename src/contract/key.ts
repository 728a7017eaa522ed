import type { Role } from '../core/access.ts'
import type { GuardRailsInput, GuardRailsView } from './guard-rails.ts'

/** A new key. */
export interface KeyInput {
  readonly name: string
  /** `member` unless given. */
  readonly role?: Role
  /** What it may do of what its role may do; left out or null: all of it. */
  readonly scopes?: readonly string[] | null
  readonly expires_at?: string | null
  /** How far it may go whatever its role permits; null, or left out: as far as that. They never change. */
  readonly guard_rails?: GuardRailsInput | null
}

/** A key as every surface shows it. Its text is not in it: nobody has it any more. */
export interface KeyView {
  readonly id: string
  readonly org_id: string
  readonly name: string
  /** The beginning of its text, to tell keys apart. */
  readonly hint: string
  readonly role: Role
  readonly scopes: readonly string[] | null
  readonly guard_rails: GuardRailsView | null
  /** Made by a person, at the first start, or named by the environment. */
  readonly origin: 'person' | 'start' | 'environment'
  readonly state: 'active' | 'expired' | 'revoked'
  readonly created_by: string | null
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
}

/** The answer to making a key, and the only one with its text. Null when the request was a repetition of an earlier one. */
export interface MadeKey extends KeyView {
  readonly key: string | null
}

export interface KeyFilter {
  readonly state?: KeyView['state']
  readonly limit?: number
  readonly cursor?: string
}
