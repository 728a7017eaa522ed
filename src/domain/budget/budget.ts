import { periodBounds, type BudgetPeriod } from './budget-period.ts'
import type { AgentId, BudgetId, ScheduleId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import type { Zone } from '../../core/time/zone.ts'

export const BUDGET_UNITS = ['tokens', 'money'] as const
export type BudgetUnit = (typeof BUDGET_UNITS)[number]

/** What happens to work that a budget has no room for. */
export const BUDGET_ACTIONS = ['skip', 'queue', 'pause'] as const
export type BudgetAction = (typeof BUDGET_ACTIONS)[number]

/** Whose budgets there are. */
export const BUDGET_SCOPES = ['org', 'agent', 'schedule', 'owner'] as const satisfies readonly BudgetScope['kind'][]

export type BudgetScope =
  | { readonly kind: 'org' }
  | { readonly kind: 'agent'; readonly agentId: AgentId }
  | { readonly kind: 'schedule'; readonly scheduleId: ScheduleId }
  /** Everything that a key, or an agent by itself, has made under guard rails. */
  | { readonly kind: 'owner'; readonly owner: string }

/**
 * A limit on what runs may use in a day or a month. All amounts are whole numbers, so that sums are exact: tokens are
 * counted one by one, money in millionths of the currency (`toMicros`).
 */
export interface Budget {
  readonly id: BudgetId
  readonly scope: BudgetScope
  readonly unit: BudgetUnit
  readonly amount: number
  readonly period: BudgetPeriod
  readonly timezone: Zone
  readonly onExceed: BudgetAction
  /** What a run is expected to use while nothing is known about it. */
  readonly defaultReserve: number
  /** Since when it stands still, under `pause`, until a person lets it go on. Null: it does not. */
  readonly pausedAt: Instant | null
}

/** What a period has used, and what running work may still use. */
export interface BudgetUse {
  readonly spent: number
  readonly reserved: number
}

export const BUDGET_DEFAULTS = { period: 'day', onExceed: 'skip', defaultReserve: 0 } as const

/** How many runs the usual use of a run is read from, and at which share of them. */
const USUAL_RUNS = 20
const USUAL_SHARE_PERCENT = 95

/** Money in millionths; the executor's floating-point cost is rounded once, here, and exact from then on. */
export const toMicros = (money: number): number => Math.round(money * 1_000_000)

/** Money in whole units, from millionths. */
export const fromMicros = (micros: number): number => micros / 1_000_000

/**
 * What to set aside for a run: the larger of its stated maximum and the p95 of its predecessors (newest first), or the
 * default where neither is known.
 */
export function reserveFor(statedMax: number | null, lastUsages: readonly number[], defaultReserve: number): number {
  const sorted = lastUsages.slice(0, USUAL_RUNS).sort((a, b) => a - b)
  const rank = Math.ceil((sorted.length * USUAL_SHARE_PERCENT) / 100)
  const usual = sorted[rank - 1] ?? null
  if (statedMax === null) return usual ?? defaultReserve
  return usual === null ? statedMax : Math.max(statedMax, usual)
}

/**
 * What to set aside for a run under a budget. Its predecessors count no more than the whole budget: after one run that used
 * more, no other could ever start again. What a run states itself is believed.
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
 * What may still be set aside; never below nothing, even after a run used more than was set aside for it. Of a budget that
 * stands still there is nothing, whatever it has used.
 */
export const remaining = (budget: Pick<Budget, 'amount' | 'pausedAt'>, use: BudgetUse): number =>
  budget.pausedAt === null ? Math.max(0, budget.amount - use.spent - use.reserved) : 0

/** One budget that applies to a run, with the use of its current period and what the run would set aside. */
export interface BudgetFacts {
  readonly budget: Budget
  readonly use: BudgetUse
  readonly reserve: number
}

export type BudgetDecision =
  | { readonly kind: 'open' }
  | {
      readonly kind: 'closed'
      readonly budgetId: BudgetId
      readonly action: BudgetAction
      /** When the period ends and the budget is whole again. Null: when a person lets it go on. */
      readonly until: Instant | null
      readonly why: Why
    }

/** The strictest action wins: work that one budget would skip must not wait in the queue for another. */
export const STRICTNESS: Record<BudgetAction, number> = { pause: 2, skip: 1, queue: 0 }

/**
 * Decides whether a run may use what it needs. All its budgets must have room; of those that have none the strictest
 * speaks, then the one with the smallest share left, then the first.
 */
export function decideBudget(facts: readonly BudgetFacts[], now: Instant): BudgetDecision {
  const [closed] = facts
    .filter(({ budget, use, reserve }) => !hasRoom(remaining(budget, use), reserve))
    .sort((a, b) => STRICTNESS[b.budget.onExceed] - STRICTNESS[a.budget.onExceed] || shareLeft(a) - shareLeft(b))
  if (closed === undefined) return { kind: 'open' }
  const { budget, use, reserve } = closed
  const until = budget.pausedAt === null ? periodBounds(budget.period, budget.timezone, now).end : null
  const evidence = {
    budget: budget.id,
    remaining: remaining(budget, use),
    unit: unitWord(budget.unit),
    until: untilWord(until),
    reserve,
    amount: budget.amount,
    spent: use.spent,
    reserved: use.reserved,
  }
  return {
    kind: 'closed',
    budgetId: budget.id,
    action: budget.onExceed,
    until,
    why: because('budget', `budget.on_exceed=${budget.onExceed}`, evidence),
  }
}

/** How sentences name what a budget counts. */
export const unitWord = (unit: BudgetUnit): string => (unit === 'money' ? 'millionths' : unit)

/** How sentences say when a budget has room again. */
export const untilWord = (until: Instant | null): string =>
  until === null ? 'somebody resumes it' : formatInstant(until)

/** A budget that is used up is closed even to a run of which nothing is expected: it would spend what is not there. */
export const hasRoom = (left: number, reserve: number): boolean => left > 0 && left >= reserve

/** Of a budget of nothing, nothing is left. */
const shareLeft = ({ budget, use }: BudgetFacts): number =>
  budget.amount > 0 ? remaining(budget, use) / budget.amount : 0

/** The use of a period once a run has been given what it set aside. */
export const reserve = (use: BudgetUse, amount: number): BudgetUse => ({ ...use, reserved: use.reserved + amount })

/**
 * The use of a period once a run has reported. What it really used counts, even above what it set aside; a run that will
 * never report (null: its lease lapsed) gives everything back.
 */
export const settle = (
  use: BudgetUse,
  run: { readonly reserved: number; readonly actual: number | null },
): BudgetUse => ({ spent: use.spent + (run.actual ?? 0), reserved: Math.max(0, use.reserved - run.reserved) })
