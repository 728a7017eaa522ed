import { z } from 'zod'
import { BUDGET_UNITS } from '../../core/budget/budget.ts'
import { BUDGET_PERIODS } from '../../core/budget/budget-period.ts'
import { RAIL_BOUNDS } from '../../core/rails/guard-rails.ts'
import type { GuardRailsInput, GuardRailsView, InvitationView, RailBudgetInput } from '../guard-rails.ts'
import { moment, oneOf } from './common.ts'
import { named, shaped } from './shaped.ts'

const within = ({ min, max }: { readonly min: number; readonly max: number }) => z.int().min(min).max(max)

const budgetInput = shaped<RailBudgetInput>()({
  unit: oneOf(BUDGET_UNITS),
  amount: z.number().positive().max(1_000_000_000),
  period: oneOf(BUDGET_PERIODS).optional(),
})

export const guardRailsInput: z.ZodType<GuardRailsInput> = named(
  'GuardRailsInput',
  shaped<GuardRailsInput>()({
    own_schedules_only: z.boolean().optional(),
    max_schedules: within(RAIL_BOUNDS.maxSchedules).optional(),
    min_interval_seconds: within(RAIL_BOUNDS.minIntervalSeconds).optional(),
    max_runs_per_hour: within(RAIL_BOUNDS.maxRunsPerHour).optional(),
    max_lifetime_seconds: within(RAIL_BOUNDS.maxLifetimeSeconds).nullish(),
    budget: budgetInput.nullish(),
    approval: z.boolean().optional(),
  }),
  'How far a key may go, whatever its role permits; they hold on every surface.',
)

export const guardRails: z.ZodType<GuardRailsView> = named(
  'GuardRails',
  shaped<GuardRailsView>()({
    own_schedules_only: z.boolean(),
    max_schedules: z.int(),
    min_interval_seconds: z.int(),
    max_runs_per_hour: z.int(),
    max_lifetime_seconds: z.int().nullable(),
    budget: shaped<Required<RailBudgetInput>>()({
      unit: oneOf(BUDGET_UNITS),
      amount: z.number(),
      period: oneOf(BUDGET_PERIODS),
    }).nullable(),
    approval: z.boolean(),
  }),
)

export const invitation: z.ZodType<InvitationView> = named(
  'Invitation',
  shaped<InvitationView>()({
    api_url: z.string().nullable(),
    mcp_url: z.string().nullable(),
    key: z.string(),
    expires_at: moment.nullable(),
  }),
)
