import type { Principal } from '../../domain/access/access.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { RestrictedKey } from '../../domain/access/restrictions.ts'

/** The org of a request, and its caller. */
export interface Caller {
  readonly orgId: OrgId
  /** The id of a key or a member; null if the embedding program calls. */
  readonly principal: string | null
  /** Whether the caller holds `admin:*`; checked where the need depends on the input. */
  readonly isAdmin?: boolean | undefined
  /** Whether the caller holds `budgets:write`; checked where a schedule sets a budget. */
  readonly writesBudgets?: boolean | undefined
  /** Whether the caller is an owner of the operator org with every permission. Default: no. */
  readonly isOperatorOwner?: boolean | undefined
  /** The idempotency key of the request, with its route and body. */
  readonly once?: { readonly route: string; readonly key: string; readonly body: unknown } | undefined
  /** The trace context of the request, as in `traceparent`. */
  readonly trace?: string | null | undefined
  /** The restrictions of the caller's key. Absent: the key is not restricted. */
  readonly restricted?: RestrictedKey | undefined
  /** The interface the request came through, where it matters. */
  readonly through?: 'mcp' | undefined
}

/**
 * A caller that grants permissions; it can grant only what it has. A null principal is the program itself, which has
 * all.
 */
export interface Grantor {
  readonly orgId: OrgId
  readonly principal: Pick<Principal, 'id' | 'role' | 'scopes'> | null
  readonly once?: Caller['once']
}

/** The grantor as an ordinary caller. */
export const callerOf = ({ orgId, principal, once }: Grantor): Caller => ({
  ...{ orgId, principal: principal?.id ?? null, once },
})
