import { isAdmin, isOperatorOwner, isPermitted, OPERATOR_ORG, type Principal } from '../domain/access/access.ts'
import type { Caller } from '../service/caller.ts'

/**
 * Who asks, as services want to know them, whatever door they came through. Who needed no key speaks for the operator's
 * org.
 */
export const callerFrom = (principal: Principal | null, once: Caller['once']): Caller => ({
  orgId: principal?.orgId ?? OPERATOR_ORG,
  principal: principal?.id ?? null,
  isOperatorOwner: principal !== null && isOperatorOwner(principal),
  isAdmin: principal !== null && isAdmin(principal),
  railed: principal?.railed,
  writesBudgets: principal !== null && isPermitted(principal, 'budgets:write'),
  once,
})
