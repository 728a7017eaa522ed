import type { Role } from '../core/access.ts'

/** Somebody new in the org. */
export interface MemberInput {
  readonly name: string
  readonly email?: string | null
  /** `member` unless given. */
  readonly role?: Role
}

export type MemberPatch = Partial<MemberInput>

/** A member as every surface shows them. */
export interface MemberView {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly email: string | null
  readonly role: Role
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly last_sign_in_at: string | null
}

/** A link that signs a member in, once. The token goes into the fragment of the console's address: `#signin=<token>`. */
export interface SignInLink {
  readonly token: string
  readonly member_id: string
  readonly expires_at: string
}

/** What a browser is signed in with: the token of a link, or a key. One of the two. */
export interface SignInInput {
  readonly token?: string | undefined
  readonly key?: string | undefined
}

/** Who is signed in at the console. */
export interface ConsoleSessionView {
  /** Null when a key was brought. */
  readonly member: MemberView | null
  readonly permissions: readonly string[]
  /** Goes back in a header with everything that changes something. */
  readonly csrf_token: string
  readonly expires_at: string
}
