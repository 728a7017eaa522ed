import { z } from 'zod'
import { BUDGET_ALERT_KINDS } from '../../core/alerts.ts'
import { BUDGET_ACTIONS, BUDGET_SCOPES, BUDGET_UNITS } from '../../core/budget/budget.ts'
import { BUDGET_PERIODS } from '../../core/budget/budget-period.ts'
import type { BudgetInput, BudgetPatch, BudgetView, ScheduleBudgetInput, ScheduleBudgetView } from '../budget.ts'
import { id, moment, pageOf } from './common.ts'
import { named, shaped } from './shaped.ts'

const amount = z.number().positive()
const changeable = {
  on_exceed: z.enum(BUDGET_ACTIONS).optional(),
  default_reserve: z.number().min(0).optional(),
}

/** Everything a budget is made from. */
export const budgetFields = {
  ...changeable,
  amount,
  agent_id: id.optional(),
  schedule_id: id.optional(),
  unit: z.enum(BUDGET_UNITS),
  period: z.enum(BUDGET_PERIODS).optional(),
  timezone: z.string().min(1).optional(),
}

export const budgetInput: z.ZodType<BudgetInput> = named(
  'BudgetInput',
  shaped<BudgetInput>()(budgetFields),
  'Of an agent or a schedule, or of the whole org when neither is named.',
)

export const budgetPatch: z.ZodType<BudgetPatch> = named(
  'BudgetPatch',
  shaped<BudgetPatch>()({ ...changeable, amount: amount.optional() }),
)

/** Whose a budget is, as it is shown. */
export const subjectFields = {
  scope: z.enum(BUDGET_SCOPES),
  agent_id: z.string().nullable(),
  schedule_id: z.string().nullable(),
  owner: z.string().nullable(),
}

/** How much may be used in which time, as it is shown. */
export const limitFields = {
  unit: z.enum(BUDGET_UNITS),
  amount: z.number(),
  period: z.enum(BUDGET_PERIODS),
  timezone: z.string(),
  on_exceed: z.enum(BUDGET_ACTIONS),
}

export const budget: z.ZodType<BudgetView> = named(
  'Budget',
  shaped<BudgetView>()({
    id: z.string(),
    org_id: z.string(),
    ...subjectFields,
    ...limitFields,
    default_reserve: z.number(),
    spent: z.number(),
    reserved: z.number(),
    remaining: z.number(),
    paused_at: moment.nullable(),
    alerts: z.array(z.enum(BUDGET_ALERT_KINDS)),
    period_start: moment,
    period_end: moment,
    created_at: moment,
  }),
)

/** The field `budget` of a schedule, as it is given. */
export const scheduleBudgetInput: z.ZodType<ScheduleBudgetInput> = named(
  'ScheduleBudgetInput',
  shaped<ScheduleBudgetInput>()({
    ...changeable,
    amount,
    unit: z.enum(BUDGET_UNITS),
    period: z.enum(BUDGET_PERIODS).optional(),
    timezone: z.string().min(1).optional(),
  }),
  'What the runs of the schedule may use. Setting it needs budgets:write too.',
)

/** The field `budget` of a schedule, as it is shown. */
export const scheduleBudget: z.ZodType<ScheduleBudgetView> = named(
  'ScheduleBudget',
  shaped<ScheduleBudgetView>()({
    id: z.string(),
    ...limitFields,
    default_reserve: z.number(),
  }),
)

export const budgetPage = pageOf('BudgetPage', budget)
