import type { Principal } from '../domain/access/access.ts'
import type { OrgId } from '../domain/ids.ts'
import type { Railed } from '../core/rails/railed.ts'

/** Whose objects, and who speaks. */
export interface Caller {
  readonly orgId: OrgId
  /** The id of a key or a member; null when the program that embeds us speaks. */
  readonly principal: string | null
  /** Whether it holds `admin:*`; asked where only what is sent says that it is needed. */
  readonly isAdmin?: boolean | undefined
  /** Whether it holds `budgets:write`; asked where a schedule brings a budget with it. */
  readonly writesBudgets?: boolean | undefined
  /** Whether it is an owner of the operator org who may do everything. Left out: no. */
  readonly isOperatorOwner?: boolean | undefined
  /** What was brought along so that it is done at most once. */
  readonly once?: { readonly route: string; readonly key: string; readonly body: unknown } | undefined
  /** The trace that what it hands in belongs to, as `traceparent` has it. */
  readonly trace?: string | null | undefined
  /** How far its key may go; left out: as far as it is permitted. */
  readonly railed?: Railed | undefined
  /** The door it came through, where that makes a difference. */
  readonly through?: 'mcp' | undefined
}

/** Somebody who hands out permissions: nobody gives what they do not have. Null: the program itself, which has all. */
export interface Giver {
  readonly orgId: OrgId
  readonly principal: Pick<Principal, 'id' | 'role' | 'scopes'> | null
  readonly once?: Caller['once']
}

/** The same, as all other services know them. */
export const callerOf = ({ orgId, principal, once }: Giver): Caller => ({
  ...{ orgId, principal: principal?.id ?? null, once },
})
