import { z } from 'zod'
import { BUDGET_UNITS } from '../../domain/budget/budget.ts'
import { BUDGET_PERIODS } from '../../domain/budget/budget-period.ts'
import { MAX_RAIL_AMOUNT, parseRailAmount, RAIL_BOUNDS, railBudgetFlaws } from '../../core/rails/guard-rails.ts'
import { ABOUT_AMOUNT } from '../budgets/schema.ts'
import { moment } from '../../api/common.ts'
import { fieldsRule, rule, whole } from '../../api/fields.ts'
import { named, type Shape } from '../../contract/shape.ts'

const within = ({ min, max }: { readonly min: number; readonly max: number }) => whole(min, max)

/** What everything that an owner makes may use together. */
const budgetInput = z
  .strictObject({
    unit: z.enum(BUDGET_UNITS).describe('What is counted.'),
    amount: z.number().positive().max(MAX_RAIL_AMOUNT).check(rule(parseRailAmount)).describe(ABOUT_AMOUNT),
    period: z.enum(BUDGET_PERIODS).optional().describe('Default: `day`.'),
  })
  .check(fieldsRule((budget) => railBudgetFlaws(budget)))
export type RailBudgetInput = Shape<typeof budgetInput>

export const guardRailsInput = named(
  'GuardRailsInput',
  z.strictObject({
    own_schedules_only: z
      .boolean()
      .optional()
      .describe('It can see and change only what it created itself. Default: true.'),
    max_schedules: within(RAIL_BOUNDS.maxSchedules).optional().describe('Maximum number of schedules. Default: 10.'),
    min_interval_seconds: within(RAIL_BOUNDS.minIntervalSeconds)
      .optional()
      .describe(
        'Minimum seconds between two occurrences of a schedule, and between two manual runs of one. Default: 60.',
      ),
    max_runs_per_hour: within(RAIL_BOUNDS.maxRunsPerHour)
      .optional()
      .describe('Manual runs, tasks, messages, and schedules created or rescheduled, per hour. Default: 60.'),
    max_lifetime_seconds: within(RAIL_BOUNDS.maxLifetimeSeconds)
      .nullish()
      .describe('How long what it creates may exist. Null or omitted: no limit.'),
    budget: budgetInput.nullish().describe('Budget of everything it creates. Null or omitted: no limit.'),
    approval: z
      .boolean()
      .optional()
      .describe('Whether someone must approve what it creates before it runs. Default: false.'),
  }),
  'Limits of a restricted key, whatever its role permits.',
)
export type GuardRailsInput = Shape<typeof guardRailsInput>

export const guardRails = named(
  'GuardRails',
  z.strictObject({
    own_schedules_only: z.boolean(),
    max_schedules: z.int(),
    min_interval_seconds: z.int(),
    max_runs_per_hour: z.int(),
    max_lifetime_seconds: z.int().nullable(),
    budget: z
      .strictObject({
        unit: z.enum(BUDGET_UNITS),
        amount: z.number(),
        period: z.enum(BUDGET_PERIODS).describe('Default: `day`.'),
      })
      .nullable(),
    approval: z.boolean(),
  }),
  'Limits of a restricted key.',
)
export type GuardRailsView = Shape<typeof guardRails>

export const invitation = named(
  'Invitation',
  z.strictObject({
    api_url: z.string().nullable().describe('Base URL of the API. Null: this program does not listen.'),
    mcp_url: z.string().nullable(),
    key: z.string().describe('Valid while the attempt is the current one of its run and in flight.'),
    expires_at: moment.nullable().describe('Deadline of the attempt.'),
  }),
  'Access that an attempt of an agent with `self_service` is given.',
)
export type InvitationView = Shape<typeof invitation>
