import { z } from 'zod'
import { BUDGET_UNITS } from '../core/budget/budget.ts'
import { BUDGET_PERIODS } from '../core/budget/budget-period.ts'
import { RAIL_BOUNDS } from '../core/rails/guard-rails.ts'
import { moment } from './common.ts'
import { named, type Shape } from './shape.ts'

const within = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max)

/** What everything that an owner makes may use together. */
const budgetInput = z.strictObject({
  unit: z.enum(BUDGET_UNITS),
  amount: z.number().positive().max(1_000_000_000).describe('Tokens, or money with up to six decimals.'),
  period: z.enum(BUDGET_PERIODS).optional().describe('`day` unless given.'),
})
export type RailBudgetInput = Shape<typeof budgetInput>

export const guardRailsInput = named(
  'GuardRailsInput',
  z.strictObject({
    own_schedules_only: z
      .boolean()
      .optional()
      .describe('It sees and touches nothing but what it has made itself; true unless given.'),
    max_schedules: within(RAIL_BOUNDS.maxSchedules)
      .optional()
      .describe('Schedules that may be there at once; 10 unless given.'),
    min_interval_seconds: within(RAIL_BOUNDS.minIntervalSeconds)
      .optional()
      .describe(
        'Seconds between two occurrences of a schedule, and between two runs of one that are asked for; 60 unless given.',
      ),
    max_runs_per_hour: within(RAIL_BOUNDS.maxRunsPerHour)
      .optional()
      .describe('Runs asked for, tasks, messages, and schedules made or moved, together; 60 unless given.'),
    max_lifetime_seconds: within(RAIL_BOUNDS.maxLifetimeSeconds)
      .nullish()
      .describe('How long what it makes may live; null, or left out: without end.'),
    budget: budgetInput.nullish(),
    approval: z
      .boolean()
      .optional()
      .describe('Somebody has to approve what it makes before any of it happens; false unless given.'),
  }),
  'How far a key may go, whatever its role permits; they hold on every surface.',
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
        amount: z.number().describe('Tokens, or money with up to six decimals.'),
        period: z.enum(BUDGET_PERIODS).describe('`day` unless given.'),
      })
      .nullable(),
    approval: z.boolean(),
  }),
  'Guard rails as every surface shows them.',
)
export type GuardRailsView = Shape<typeof guardRails>

export const invitation = named(
  'Invitation',
  z.strictObject({
    api_url: z.string().nullable().describe('Where to ask; null: this program listens nowhere.'),
    mcp_url: z.string().nullable(),
    key: z
      .string()
      .describe(
        'Works while the attempt is the current one of its run and in flight, and is worth nothing afterwards.',
      ),
    expires_at: moment.nullable().describe('When the attempt must be over.'),
  }),
  'What an attempt of an agent with `self_service` is handed.',
)
export type InvitationView = Shape<typeof invitation>
