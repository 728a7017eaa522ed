import { periodBounds, type BudgetPeriod } from './budget-period.ts'
import type { AgentId, BudgetId, ScheduleId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import type { Zone } from '../time/zone.ts'

export const BUDGET_UNITS = ['tokens', 'money'] as const
export type BudgetUnit = (typeof BUDGET_UNITS)[number]

/** What happens to runs that a budget has no room for. */
export const BUDGET_ACTIONS = ['skip', 'queue', 'pause'] as const
export type BudgetAction = (typeof BUDGET_ACTIONS)[number]

/** The kinds of budget scope. */
export const BUDGET_SCOPES = ['org', 'agent', 'schedule', 'owner'] as const satisfies readonly BudgetScope['kind'][]

export type BudgetScope =
  | { readonly kind: 'org' }
  | { readonly kind: 'agent'; readonly agentId: AgentId }
  | { readonly kind: 'schedule'; readonly scheduleId: ScheduleId }
  /** Everything that a restricted key, or an agent by itself, has created. */
  | { readonly kind: 'owner'; readonly owner: string }

/**
 * A limit on what runs may use per day or month. All amounts are whole numbers, so that sums are exact: tokens, or
 * millionths of the currency (`toMicros`).
 */
export interface Budget {
  readonly id: BudgetId
  readonly scope: BudgetScope
  readonly unit: BudgetUnit
  readonly amount: number
  readonly period: BudgetPeriod
  readonly timezone: Zone
  readonly onExceed: BudgetAction
  /** The reserve of a run whose usage is unknown. */
  readonly defaultReserve: number
  /** When action `pause` paused it; null when it is not paused. */
  readonly pausedAt: Instant | null
}

/** The amount spent in a period, and the amount reserved by runs in flight. */
export interface BudgetUsage {
  readonly spent: number
  readonly reserved: number
}

export const BUDGET_DEFAULTS = { period: 'day', onExceed: 'skip', defaultReserve: 0 } as const

/** Typical usage is this percentile of this many recent runs. */
const TYPICAL_RUNS = 20
const TYPICAL_PERCENTILE = 95

/** Money in millionths; the executor's floating-point cost is rounded once, here. */
export const toMicros = (money: number): number => Math.round(money * 1_000_000)

/** Converts millionths to whole money. */
export const fromMicros = (micros: number): number => micros / 1_000_000

/**
 * The reserve of a run: the larger of its stated maximum and the p95 of previous runs (newest first), or the default
 * when neither is known.
 */
export function reserveFor(statedMax: number | null, lastUsages: readonly number[], defaultReserve: number): number {
  const sorted = lastUsages.slice(0, TYPICAL_RUNS).sort((a, b) => a - b)
  const rank = Math.ceil((sorted.length * TYPICAL_PERCENTILE) / 100)
  const typical = sorted[rank - 1] ?? null
  if (statedMax === null) return typical ?? defaultReserve
  return typical === null ? statedMax : Math.max(statedMax, typical)
}

/**
 * The reserve of a run under a budget. Previous runs count at most the whole budget, or one run that used more would
 * block all later ones. A stated maximum is used as it is.
 */
export function reserveUnder(
  { amount, defaultReserve }: Pick<Budget, 'amount' | 'defaultReserve'>,
  statedMax: number | null,
  lastUsages: readonly number[],
): number {
  const last = lastUsages.map((used) => Math.min(used, amount))
  return reserveFor(statedMax, last, Math.min(defaultReserve, amount))
}

/**
 * The amount that can still be reserved: at least 0, even after a run used more than its reserve, and 0 while the
 * budget is paused.
 */
export const remaining = (budget: Pick<Budget, 'amount' | 'pausedAt'>, usage: BudgetUsage): number =>
  budget.pausedAt === null ? Math.max(0, budget.amount - usage.spent - usage.reserved) : 0

/** A budget that applies to a run, with its usage in the current period and the run's reserve. */
export interface BudgetFacts {
  readonly budget: Budget
  readonly usage: BudgetUsage
  readonly reserve: number
}

export type BudgetDecision =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'closed'
      readonly budgetId: BudgetId
      readonly action: BudgetAction
      /** The end of the period; null when the budget is paused until it is resumed. */
      readonly until: Instant | null
      readonly why: Why
    }

/** The strictest action wins: a run that one budget would skip must not be queued because of another. */
export const STRICTNESS: Record<BudgetAction, number> = { pause: 2, skip: 1, queue: 0 }

/**
 * Decides whether all budgets of a run have room. Among those without room the strictest action decides, then the
 * smallest remaining share, then the order.
 */
export function decideBudget(facts: readonly BudgetFacts[], now: Instant): BudgetDecision {
  const [closed] = facts
    .filter(({ budget, usage, reserve }) => !hasRoom(remaining(budget, usage), reserve))
    .sort(
      (a, b) =>
        STRICTNESS[b.budget.onExceed] - STRICTNESS[a.budget.onExceed] || remainingFraction(a) - remainingFraction(b),
    )
  if (closed === undefined) return { kind: 'open' }
  const { budget, usage, reserve } = closed
  const until = budget.pausedAt === null ? periodBounds(budget.period, budget.timezone, now).end : null
  const evidence = {
    budget: budget.id,
    remaining: remaining(budget, usage),
    unit: budgetUnitText(budget.unit),
    until: budgetUntilText(until),
    reserve,
    amount: budget.amount,
    spent: usage.spent,
    reserved: usage.reserved,
  }
  return {
    kind: 'closed',
    budgetId: budget.id,
    action: budget.onExceed,
    until,
    why: because('budget', `budget.on_exceed=${budget.onExceed}`, evidence),
  }
}

/** The unit of a budget in reason sentences. */
export const budgetUnitText = (unit: BudgetUnit): string => (unit === 'money' ? 'millionths' : unit)

/** When a budget has room again, as text after "until". */
export const budgetUntilText = (until: Instant | null): string =>
  until === null ? 'it is resumed' : formatInstant(until)

/** An exhausted budget is closed even to a run with a reserve of 0, because the run would overspend it. */
export const hasRoom = (left: number, reserve: number): boolean => left > 0 && left >= reserve

const remainingFraction = ({ budget, usage }: BudgetFacts): number =>
  budget.amount > 0 ? remaining(budget, usage) / budget.amount : 0

/** The usage of a period after a run reserved its amount. */
export const addReserve = (usage: BudgetUsage, amount: number): BudgetUsage => ({
  ...usage,
  reserved: usage.reserved + amount,
})

/**
 * The usage of a period after a run reported. The actual amount counts, even above the reserve; a run that never
 * reports (null: its lease expired) returns its whole reserve.
 */
export const settleUsage = (
  usage: BudgetUsage,
  run: { readonly reserved: number; readonly actual: number | null },
): BudgetUsage => ({ spent: usage.spent + (run.actual ?? 0), reserved: Math.max(0, usage.reserved - run.reserved) })
