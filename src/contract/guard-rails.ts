import type { Invitation } from '../core/rails/invitation.ts'
import type { BudgetUnit } from '../core/budget/budget.ts'
import type { BudgetPeriod } from '../core/budget/budget-period.ts'

/** What everything that an owner makes may use together. */
export interface RailBudgetInput {
  readonly unit: BudgetUnit
  /** Tokens, or money with up to six decimals. */
  readonly amount: number
  /** `day` unless given. */
  readonly period?: BudgetPeriod | undefined
}

/** How far a key may go, whatever its role permits. What is left out has its default. */
export interface GuardRailsInput {
  /** It sees and touches nothing but what it has made itself; true unless given. */
  readonly own_schedules_only?: boolean | undefined
  /** Schedules that may be there at once; 10 unless given. */
  readonly max_schedules?: number | undefined
  /** Seconds between two occurrences of a schedule, and between two runs of one that are asked for; 60 unless given. */
  readonly min_interval_seconds?: number | undefined
  /** Runs asked for, tasks, messages, and schedules made or moved, together; 60 unless given. */
  readonly max_runs_per_hour?: number | undefined
  /** How long what it makes may live; null, or left out: without end. */
  readonly max_lifetime_seconds?: number | null | undefined
  readonly budget?: RailBudgetInput | null | undefined
  /** Somebody has to approve what it makes before any of it happens; false unless given. */
  readonly approval?: boolean | undefined
}

/** Guard rails as every surface shows them. */
export interface GuardRailsView {
  readonly own_schedules_only: boolean
  readonly max_schedules: number
  readonly min_interval_seconds: number
  readonly max_runs_per_hour: number
  readonly max_lifetime_seconds: number | null
  readonly budget: Required<RailBudgetInput> | null
  readonly approval: boolean
}

/** What an attempt of an agent with `self_service` is handed. */
export type InvitationView = Invitation
