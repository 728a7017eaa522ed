import type { BudgetAlertKind } from '../core/alerts.ts'
import type { BudgetAction, BudgetScope, BudgetUnit } from '../core/budget/budget.ts'
import type { BudgetPeriod } from '../core/budget/budget-period.ts'

/** A new budget: of an agent or a schedule, or of the whole org when neither is named. */
export interface BudgetInput {
  readonly agent_id?: string
  readonly schedule_id?: string
  readonly unit: BudgetUnit
  /** Tokens, or money with up to six decimals. */
  readonly amount: number
  /** `day` unless given. */
  readonly period?: BudgetPeriod
  /** Whose days and months they are; the org's own zone unless given. */
  readonly timezone?: string
  /** `skip` unless given. */
  readonly on_exceed?: BudgetAction
  /** What a run is expected to use while nothing is known about it. */
  readonly default_reserve?: number
}

/** How much may be used in which time, and what happens then. */
export interface BudgetLimit {
  readonly unit: BudgetUnit
  readonly amount: number
  readonly period: BudgetPeriod
  readonly timezone: string
  readonly on_exceed: BudgetAction
}

/** What a budget is, without whose it is: how a schedule says what its runs may use. */
export interface BudgetTerms extends BudgetLimit {
  readonly default_reserve: number
}

/** Whose a budget is. */
export interface BudgetSubject {
  readonly scope: BudgetScope['kind']
  readonly agent_id: string | null
  readonly schedule_id: string | null
  /** The key or the agent (`agent:<id>`) whose guard rails it belongs to. */
  readonly owner: string | null
}

/** The same as it is given: what is left out has the default of a budget. */
export type ScheduleBudgetInput = Pick<BudgetInput, 'unit' | 'amount'> & {
  readonly [Name in 'period' | 'timezone' | 'on_exceed' | 'default_reserve']?: BudgetTerms[Name] | undefined
}

/** The own budget of a schedule; `GET /budgets/:id` says where it stands. */
export interface ScheduleBudgetView extends BudgetTerms {
  readonly id: string
}

/** What may change about a budget. The rest says what was counted, and never changes. */
export type BudgetPatch = Partial<Pick<BudgetInput, 'amount' | 'on_exceed' | 'default_reserve'>>

/** A budget and where it stands. Amounts are tokens, or money in whole units. */
export interface BudgetView extends BudgetSubject, BudgetTerms {
  readonly id: string
  readonly org_id: string
  /** What the present period has used, what runs in flight have set aside, and what is left. */
  readonly spent: number
  readonly reserved: number
  readonly remaining: number
  /** Since when nothing starts under it, with `pause`, until somebody resumes it. Null: it does not stand still. */
  readonly paused_at: string | null
  /** Kinds of its open alerts. */
  readonly alerts: readonly BudgetAlertKind[]
  readonly period_start: string
  readonly period_end: string
  readonly created_at: string
}
