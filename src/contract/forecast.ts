import type { UseSource } from '../core/forecast/expected-use.ts'
import type { BudgetLimit, BudgetSubject } from './budget.ts'
import type { ScheduleInput } from './schedule.ts'

/** What is expected, and what it is if every run uses as much as 95 in 100 of the last ones did at most. */
export interface ForecastAmount {
  readonly expected: number
  readonly high: number
}

/** What a number of runs is expected to use. Null: nothing is known about any of them. */
export interface ForecastFigures {
  readonly runs: number
  readonly tokens: ForecastAmount | null
  /** Money in whole units. */
  readonly cost: ForecastAmount | null
}

export const FORECAST_SOURCES = ['schedule', 'heartbeat', 'chat', 'tasks'] as const

/** Where the expectation about a source comes from, and how many runs were looked at. */
export interface ForecastBasis {
  readonly tokens: UseSource
  readonly cost: UseSource
  readonly runs: number
}

/** Something that makes runs. */
export interface ForecastSource extends ForecastFigures {
  readonly kind: (typeof FORECAST_SOURCES)[number]
  readonly name: string
  readonly schedule_id: string | null
  readonly agent_id: string
  /** Runs that budgets let neither start nor be made up for within the forecast; they are not in the figures. */
  readonly held_back_runs: number
  readonly based_on: ForecastBasis
}

/** What the runs of an agent are expected to use together. */
export interface ForecastAgent extends ForecastFigures {
  readonly agent_id: string
}

/** One day, as the calendar of the forecast's zone has it. */
export interface ForecastDayView extends ForecastFigures {
  readonly date: string
}

/** A period of a budget: what it will have used by its end, or by the end of the forecast. */
export interface ForecastPeriod extends ForecastAmount {
  readonly start: string
  readonly end: string
  /** What the runs that the budget holds back at that time would use. */
  readonly held_back: number
}

/** Where a budget is going. */
export interface BudgetForecast extends BudgetSubject, BudgetLimit {
  readonly budget_id: string
  readonly paused: boolean
  readonly periods: readonly ForecastPeriod[]
  /** When it will first be used up. Null: not within the forecast. */
  readonly used_up_at: string | null
  /** The same, if runs use as much as they do at most. */
  readonly used_up_at_high: string | null
  /** Runs that it holds back within the forecast. Runs that wait and start in a later period are not counted. */
  readonly held_back_runs: number
  /** Whether something under it uses an amount that nobody knows: then it may be used up earlier. */
  readonly incomplete: boolean
  /** What that means, for people. */
  readonly sentence: string
}

/** The next days of an org, from its plan and from what runs have used so far. */
export interface ForecastView {
  readonly from: string
  readonly to: string
  readonly timezone: string
  /** What can run under every budget that applies. */
  readonly total: ForecastFigures
  /** What budgets hold back of the plan. */
  readonly held_back: ForecastFigures
  readonly days: readonly ForecastDayView[]
  /** Those that use most come first. */
  readonly sources: readonly ForecastSource[]
  readonly agents: readonly ForecastAgent[]
  readonly budgets: readonly BudgetForecast[]
  /** What the forecast does not know or leaves out. */
  readonly notes: readonly string[]
}

export interface ForecastFilter {
  /** From 1 to 92; 30 unless given. */
  readonly days?: number | undefined
}

/** A schedule as it is to be, and of which one it is a change. */
export interface ScheduleForecastInput extends ScheduleInput {
  /** The schedule that it changes; without one it is new. */
  readonly id?: string | null | undefined
  readonly days?: number | null | undefined
}

/** A budget without the schedule, or with it as it is, and with it as it is to be. */
export interface BudgetEffect {
  /** Null: the schedule brings the budget with it. */
  readonly before: BudgetForecast | null
  readonly after: BudgetForecast
}

/** What a schedule would add, before it is saved. */
export interface ScheduleForecast {
  readonly from: string
  readonly to: string
  readonly timezone: string
  /** What can run under every budget that applies. */
  readonly figures: ForecastFigures
  /** What budgets hold back of its runs. */
  readonly held_back: ForecastFigures
  /** What it uses as it is now; null: it is new, or off. */
  readonly before: ForecastFigures | null
  readonly based_on: ForecastBasis
  /** Those that its runs would use. Empty for who may not see budgets. */
  readonly budgets: readonly BudgetEffect[]
  /** Budgets that would be used up, for people. */
  readonly warnings: readonly string[]
  readonly notes: readonly string[]
}
