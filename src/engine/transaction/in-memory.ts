import { storeTypicalUsage } from '../org-state/budget-usage.ts'
import type { Changes } from '../org-state/org-state.ts'
import type { Command } from '../commands-port.ts'
import { applyBudgets, applyQuotas } from './review-budgets.ts'
import type { Claim } from './claim.ts'
import type { LoadedOrg, NodeCapabilities } from '../org-state/memory.ts'
import { applyChanges } from '../org-state/changes.ts'
import { WITHOUT_LIMIT } from './limits.ts'
import { DEFAULT_WINDOW, loadAtOnce, loadForCommands, loadShortSessions, moveToBacklog } from '../org-state/backlog.ts'
import { advanceTime, beginOrgTransaction, loadPassing, type TransactionTime, unblockHeld } from './pass-time.ts'

/** A command that needs nothing but the org state. */
export type StateCommand = Pick<Command<unknown>, 'apply' | 'needs'>

/** The input of a transaction. */
export interface InMemoryRequest {
  readonly at: TransactionTime
  readonly commands: readonly StateCommand[]
  /** Starts runs. Called last, because the commands may have released slots. */
  readonly claim: () => readonly Claim[]
}

/**
 * One transaction of an org without a database: commands, the passing of time, starting runs. It uses the same
 * decisions as a node, in the same order.
 */
export function runTransactionInMemory(
  org: LoadedOrg,
  node: NodeCapabilities,
  { at, commands, claim }: InMemoryRequest,
): readonly Claim[] {
  const { state } = org
  beginOrgTransaction(org, at)
  loadAtOnce(org, loadForCommands(org, commands))
  for (const command of commands) command.apply(state, undefined)
  applyChanges(org, node)
  const window = node.window?.() ?? null
  loadAtOnce(org, loadPassing(org, WITHOUT_LIMIT))
  advanceTime(org, node)
  if (state.budgets !== null || state.reservesChanged) reviewBudgetsInMemory(org)
  if (state.quotas !== null || state.quotasChanged) applyQuotas(org)
  const claims = claim()
  unblockHeld(org, node)
  loadAtOnce(org, loadShortSessions(org, window ?? DEFAULT_WINDOW))
  if (window !== null) moveToBacklog(org, window)
  return claims
}

/** Clears and reuses the object: it is not read after the transaction, and there are millions of them. */
export function clearedChanges(changes: Changes): Changes {
  for (const name in changes) {
    const part: unknown = changes[name as keyof Changes]
    if (Array.isArray(part)) {
      if (part.length > 0) part.length = 0
    } else if ((part as Set<unknown>).size > 0) (part as Set<unknown>).clear()
  }
  return changes
}

/** Only usage of this simulation counts: other agents and schedules have used nothing yet. */
function reviewBudgetsInMemory(org: LoadedOrg): void {
  const budgets = org.state.budgets
  if (budgets !== null && budgets.unread.agents.size + budgets.unread.schedules.size > 0)
    storeTypicalUsage(budgets, { agents: [], schedules: [] })
  applyBudgets(org)
}
