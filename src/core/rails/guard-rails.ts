import { toMicros, type BudgetUnit } from '../../domain/budget/budget.ts'
import type { BudgetPeriod } from '../../domain/budget/budget-period.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../domain/input.ts'

/** What everything that an owner makes may use together. */
export interface RailBudget {
  readonly unit: BudgetUnit
  /** Tokens, or money with up to six decimals. */
  readonly amount: number
  readonly period: BudgetPeriod
}

/** How far a key may go, whatever its role permits. They belong to the key and hold on every surface. */
export interface GuardRails {
  /** Whether it sees and touches nothing but what it has made itself. */
  readonly ownSchedulesOnly: boolean
  /** Schedules that may be there at once. */
  readonly maxSchedules: number
  /** Between two occurrences of a schedule, and between two runs of one that are asked for. */
  readonly minIntervalSeconds: number
  /** Runs that are asked for, tasks, messages, and schedules that are made or moved, all together. */
  readonly maxRunsPerHour: number
  /** How long what it makes may live; null: without end. */
  readonly maxLifetimeSeconds: number | null
  readonly budget: RailBudget | null
  /** Whether somebody has to approve what it makes before any of it happens. */
  readonly approval: boolean
}

/** What holds where nothing else was said. */
export const RAIL_DEFAULTS: GuardRails = {
  ownSchedulesOnly: true,
  maxSchedules: 10,
  minIntervalSeconds: 60,
  maxRunsPerHour: 60,
  maxLifetimeSeconds: null,
  budget: null,
  approval: false,
}

const YEAR_SECONDS = 366 * 86_400

/** The bounds of the numbers among rails. */
export const RAIL_BOUNDS = {
  maxSchedules: { min: 0, max: 10_000 },
  minIntervalSeconds: { min: 1, max: YEAR_SECONDS },
  maxRunsPerHour: { min: 0, max: 100_000 },
  maxLifetimeSeconds: { min: 60, max: 10 * YEAR_SECONDS },
} as const

/** The largest amount of a budget. */
export const MAX_RAIL_AMOUNT = 1_000_000_000

/** Reads the amount of a budget. */
export function parseRailAmount(field: string, value: unknown): Parsed<number> {
  const allowed = `a number above 0, up to ${MAX_RAIL_AMOUNT}`
  return typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= MAX_RAIL_AMOUNT
    ? parsed(value)
    : flawed({ field, value, message: 'is no amount', allowed })
}

/** What is wrong between the unit and the amount of a budget. Each of them may be wrong by itself, too. */
export function railBudgetFlaws({ unit, amount }: Partial<Pick<RailBudget, 'unit' | 'amount'>>): readonly Flaw[] {
  if (!parseRailAmount('', amount).ok || amount === undefined || unit === undefined) return []
  const isExact = unit === 'tokens' ? Number.isInteger(amount) : toMicros(amount) > 0
  if (isExact) return []
  const allowed = unit === 'tokens' ? 'a whole number of tokens' : 'at least a millionth'
  return [{ field: 'amount', value: amount, message: 'is no amount', allowed }]
}
