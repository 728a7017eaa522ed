import type { AlertDecision, BudgetAlertKind } from '../alerts.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { because } from '../reasons.ts'
import { hasRoom, budgetUnitText, budgetUntilText, type Budget, type BudgetUsage } from './budget.ts'

/** The percentage of a budget at which each alert is raised. */
const BUDGET_THRESHOLDS: Readonly<Record<Exclude<BudgetAlertKind, 'budget_no_room'>, number>> = {
  budget_low: 80,
  budget_used_up: 100,
}

/** The input of the alert decisions of a budget. */
export interface BudgetAlertFacts {
  readonly budget: Budget
  /** The amount used in the current period. */
  readonly spent: number
  readonly periodEnd: Instant
  /** The smallest expected usage among the runs of the budget; null or undefined when it is unknown. */
  readonly leastReserve?: number | null
  /** Whether the alert is open. */
  readonly raised: boolean
}

/**
 * Decides about an alert of a budget: raised once per period when the spent amount reaches the threshold, and cleared
 * when it is below again, through the next period or a larger amount. A paused budget keeps the alert open.
 */
export function decideBudgetAlert(kind: BudgetAlertKind, facts: BudgetAlertFacts): AlertDecision {
  if (kind === 'budget_no_room') return decideNoRoom(facts)
  const { budget, spent, raised } = facts
  const percent = BUDGET_THRESHOLDS[kind]
  const isReached = hasReached(spent, budget.amount, percent) || budget.pausedAt !== null
  if (isReached === raised) return { kind: 'none' }
  const rule = `budget.threshold=${percent}`
  return isReached
    ? { kind: 'raise', why: because(kind, rule, evidenceOf(facts, percent)) }
    : { kind: 'clear', why: because('budget_open', rule, evidenceOf(facts, percent)) }
}

/** Raised while the remaining amount is too small for any further run; an exhausted budget has its own alert. */
function decideNoRoom(facts: BudgetAlertFacts): AlertDecision {
  const { budget, spent, leastReserve: reserve = null, raised } = facts
  // Without any known run, only a period without spending certainly has room.
  if (reserve === null && !(raised && spent === 0)) return { kind: 'none' }
  const isFull = !hasRoom(budget.amount - spent, reserve ?? 0)
  if (isFull === raised || (isFull && spent >= budget.amount)) return { kind: 'none' }
  const [rule, percent] = ['budget.reserve', Math.floor((spent / budget.amount) * 100)]
  return isFull
    ? { kind: 'raise', why: because('budget_no_room', rule, { ...evidenceOf(facts, percent), reserve: reserve ?? 0 }) }
    : { kind: 'clear', why: because('budget_open', rule, evidenceOf(facts, percent)) }
}

const evidenceOf = ({ budget, spent, periodEnd }: BudgetAlertFacts, percent: number) => {
  const { id, amount, unit, onExceed, pausedAt } = budget
  const until = budgetUntilText(pausedAt === null ? periodEnd : null)
  const since = pausedAt === null ? {} : { paused_at: formatInstant(pausedAt) }
  return { budget: id, spent, amount, unit: budgetUnitText(unit), percent, until, action: onExceed, ...since }
}

/** BigInt, because 100 times a sum in millionths does not always fit a number exactly. */
const hasReached = (spent: number, amount: number, percent: number): boolean =>
  BigInt(spent) * 100n >= BigInt(amount) * BigInt(percent)

/**
 * Whether a budget with action `pause` is exhausted: the spent amount, ignoring reserves that runs in flight may
 * still return, leaves no room for the reserve. A run whose reserve exceeds the whole amount does not pause the
 * budget for others.
 */
export const isExhausted = (
  budget: Pick<Budget, 'amount' | 'onExceed' | 'pausedAt'>,
  { spent }: Pick<BudgetUsage, 'spent'>,
  reserve: number,
): boolean =>
  budget.onExceed === 'pause' &&
  budget.pausedAt === null &&
  reserve <= budget.amount &&
  !hasRoom(budget.amount - spent, reserve)
