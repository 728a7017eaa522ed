import { BUDGET_UNITS, toMicros, type BudgetUnit } from '../budget/budget.ts'
import { BUDGET_PERIODS, type BudgetPeriod } from '../budget/budget-period.ts'
import { flawed, integerField, orNull, parsed, parseFields, wordField, type Flaw, type Parsed } from '../input.ts'

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

/** The bounds of the numbers among rails; the contract says the same. */
export const RAIL_BOUNDS = {
  maxSchedules: { min: 0, max: 10_000 },
  minIntervalSeconds: { min: 1, max: YEAR_SECONDS },
  maxRunsPerHour: { min: 0, max: 100_000 },
  maxLifetimeSeconds: { min: 60, max: 10 * YEAR_SECONDS },
} as const

const FIELDS = {
  own_schedules_only: parseSwitch,
  max_schedules: integerField(RAIL_BOUNDS.maxSchedules),
  min_interval_seconds: integerField(RAIL_BOUNDS.minIntervalSeconds),
  max_runs_per_hour: integerField(RAIL_BOUNDS.maxRunsPerHour),
  max_lifetime_seconds: orNull(integerField(RAIL_BOUNDS.maxLifetimeSeconds)),
  budget: orNull(parseBudget),
  approval: parseSwitch,
}

function parseSwitch(field: string, value: unknown): Parsed<boolean> {
  return typeof value === 'boolean'
    ? parsed(value)
    : flawed({ field, value, message: 'must be true or false', allowed: 'true, false' })
}

const BUDGET_FIELDS = {
  unit: wordField(BUDGET_UNITS),
  amount: parseAmount,
  period: wordField(BUDGET_PERIODS),
}

const MOST_AMOUNT = 1_000_000_000

function parseAmount(field: string, value: unknown): Parsed<number> {
  const allowed = `a number above 0, up to ${MOST_AMOUNT}`
  return typeof value === 'number' && Number.isFinite(value) && value > 0 && value <= MOST_AMOUNT
    ? parsed(value)
    : flawed({ field, value, message: 'is no amount', allowed })
}

function parseBudget(field: string, value: unknown): Parsed<RailBudget> {
  const read = parseFields(field, value, BUDGET_FIELDS)
  if (!read.ok) return read
  const { unit, amount, period = 'day' } = read.value
  const missing = (name: string): Flaw => ({ field: `${field}.${name}`, value: undefined, message: 'is missing' })
  if (unit === undefined) return flawed(missing('unit'))
  if (amount === undefined) return flawed(missing('amount'))
  const isExact = unit === 'tokens' ? Number.isInteger(amount) : toMicros(amount) > 0
  if (isExact) return parsed({ unit, amount, period })
  const allowed = unit === 'tokens' ? 'a whole number of tokens' : 'at least a millionth'
  return flawed({ field: `${field}.amount`, value: amount, message: 'is no amount', allowed })
}

/** Reads guard rails. What is left out has its default. */
export function parseGuardRails(field: string, value: unknown): Parsed<GuardRails> {
  const read = parseFields(field, value, FIELDS)
  if (!read.ok) return read
  const given = read.value
  return parsed({
    ownSchedulesOnly: given.own_schedules_only ?? RAIL_DEFAULTS.ownSchedulesOnly,
    maxSchedules: given.max_schedules ?? RAIL_DEFAULTS.maxSchedules,
    minIntervalSeconds: given.min_interval_seconds ?? RAIL_DEFAULTS.minIntervalSeconds,
    maxRunsPerHour: given.max_runs_per_hour ?? RAIL_DEFAULTS.maxRunsPerHour,
    maxLifetimeSeconds: given.max_lifetime_seconds ?? RAIL_DEFAULTS.maxLifetimeSeconds,
    budget: given.budget ?? RAIL_DEFAULTS.budget,
    approval: given.approval ?? RAIL_DEFAULTS.approval,
  })
}
