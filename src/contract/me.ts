import type { Permission, Role } from '../core/access.ts'
import type { MemberView } from './member.ts'

/** Something that can be permitted, by its name. */
export type PermissionName = Permission

/** Who asks, and what they may do. */
export interface MeView {
  /** The id of the key or the member. */
  readonly id: string
  readonly kind: 'key' | 'member'
  readonly org: { readonly id: string; readonly name: string }
  readonly role: Role
  /** Everything they may do, spelled out. */
  readonly permissions: readonly string[]
  /** Whether they may change lanes, configuration and orgs. */
  readonly operator: boolean
  readonly expires_at: string | null
  /** Null when a key asks, or somebody who has signed in with one. */
  readonly member: MemberView | null
  /** Goes back in a header with everything that changes something; null when a key itself asks, which needs none. */
  readonly csrf_token: string | null
}
