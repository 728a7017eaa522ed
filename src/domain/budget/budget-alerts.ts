import type { AlertDecision, BudgetAlertKind } from '../alerts.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { because } from '../reasons.ts'
import { hasRoom, unitWord, untilWord, type Budget, type BudgetUse } from './budget.ts'

/** The share of a budget, in percent, at which each alert is raised. */
const BUDGET_THRESHOLDS: Readonly<Record<Exclude<BudgetAlertKind, 'budget_no_room'>, number>> = {
  budget_low: 80,
  budget_used_up: 100,
}

/** What the alerts of a budget look at. */
export interface BudgetAlertFacts {
  readonly budget: Budget
  /** What the present period has used. */
  readonly spent: number
  readonly periodEnd: Instant
  /** What the smallest of the runs under it is expected to need; null or left out: nothing is known. */
  readonly leastReserve?: number | null
  /** Whether the alert is open. */
  readonly raised: boolean
}

/**
 * Decides about an alert of a budget: raised once in a period, when what was spent reaches its share of the amount, and
 * cleared when it is below it again, by the next period or a larger amount. A budget that stands still keeps it open.
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

/** Raised while something is left that no further run fits into; a budget that is used up has an alert of its own. */
function decideNoRoom(facts: BudgetAlertFacts): AlertDecision {
  const { budget, spent, leastReserve: reserve = null, raised } = facts
  // Without knowing any run, only a period in which nothing is spent yet certainly has room.
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
  const until = untilWord(pausedAt === null ? periodEnd : null)
  const since = pausedAt === null ? {} : { paused_at: formatInstant(pausedAt) }
  return { budget: id, spent, amount, unit: unitWord(unit), percent, until, action: onExceed, ...since }
}

/** As big integers: a hundred times a sum of money in millionths does not always fit a number exactly. */
const hasReached = (spent: number, amount: number, percent: number): boolean =>
  BigInt(spent) * 100n >= BigInt(amount) * BigInt(percent)

/**
 * Whether a budget that pauses has come to its end: what it spent, without what runs in flight may still give back, leaves
 * no room for what is asked. A run that wants more than there ever is stops nobody else.
 */
export const isUsedUp = (
  budget: Pick<Budget, 'amount' | 'onExceed' | 'pausedAt'>,
  { spent }: Pick<BudgetUse, 'spent'>,
  reserve: number,
): boolean =>
  budget.onExceed === 'pause' &&
  budget.pausedAt === null &&
  reserve <= budget.amount &&
  !hasRoom(budget.amount - spent, reserve)
