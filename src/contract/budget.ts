import { z } from 'zod'
import { BUDGET_ALERT_KINDS } from '../core/alerts.ts'
import { BUDGET_ACTIONS, BUDGET_SCOPES, BUDGET_UNITS } from '../core/budget/budget.ts'
import { BUDGET_PERIODS } from '../core/budget/budget-period.ts'
import { id, moment, pageOf } from './common.ts'
import { named, type Shape } from './shape.ts'

const amount = z.number().positive()
const changeable = {
  on_exceed: z.enum(BUDGET_ACTIONS).optional().describe('What happens when it is used up. Default: `skip`.'),
  default_reserve: z.number().min(0).optional().describe('Amount reserved for a run whose usage is unknown.'),
}

/** How much may be used in which time. */
const limit = {
  ...changeable,
  unit: z.enum(BUDGET_UNITS).describe('What is counted.'),
  amount: amount.describe('Tokens, or money with up to six decimal places.'),
  period: z.enum(BUDGET_PERIODS).optional().describe('Period of the budget. Default: `day`.'),
  timezone: z.string().min(1).optional().describe("Time zone of its days and months. Default: the org's time zone."),
}

/** Everything a budget is made from. */
export const budgetFields = {
  ...limit,
  agent_id: id.optional().describe('Agent whose runs it limits.'),
  schedule_id: id.optional().describe('Schedule whose runs it limits.'),
}

export const budgetInput = named(
  'BudgetInput',
  z.strictObject(budgetFields),
  'Of an agent or a schedule, or of the whole org when neither is named.',
)
export type BudgetInput = Shape<typeof budgetInput>

export const budgetPatch = named(
  'BudgetPatch',
  z.strictObject({
    ...changeable,
    amount: limit.amount.optional(),
  }),
  'A change of a budget. Subject, unit, period and time zone cannot be changed.',
)
export type BudgetPatch = Shape<typeof budgetPatch>

/** Whose a budget is, as it is shown. */
export const subjectFields = {
  scope: z.enum(BUDGET_SCOPES),
  agent_id: z.string().nullable(),
  schedule_id: z.string().nullable(),
  owner: z.string().nullable().describe('The restricted key or the agent (`agent:<id>`) it belongs to.'),
}

/** How much may be used in which time, as it is shown. */
export const limitFields = {
  unit: z.enum(BUDGET_UNITS),
  amount: z.number(),
  period: z.enum(BUDGET_PERIODS),
  timezone: z.string(),
  on_exceed: z.enum(BUDGET_ACTIONS),
}

export const budget = named(
  'Budget',
  z.strictObject({
    id: z.string(),
    org_id: z.string(),
    ...subjectFields,
    ...limitFields,
    default_reserve: z.number(),
    spent: z
      .number()
      .describe('Used in the current period; `reserved` is set aside for runs in flight, `remaining` is left.'),
    reserved: z.number(),
    remaining: z.number(),
    paused_at: moment.nullable().describe('When `pause` stopped new runs. Null: not paused.'),
    alerts: z.array(z.enum(BUDGET_ALERT_KINDS)).describe('Kinds of open alerts.'),
    period_start: moment,
    period_end: moment,
    created_at: moment,
  }),
  'A budget and its usage. Amounts are tokens, or money in whole units.',
)
export type BudgetView = Shape<typeof budget>

/** The field `budget` of a schedule, as it is given. */
export const scheduleBudgetInput = named(
  'ScheduleBudgetInput',
  z.strictObject(limit),
  'What the runs of the schedule may use. Setting it needs budgets:write too.',
)
export type ScheduleBudgetInput = Shape<typeof scheduleBudgetInput>

/** The field `budget` of a schedule, as it is shown. */
export const scheduleBudget = named(
  'ScheduleBudget',
  z.strictObject({
    id: z.string(),
    ...limitFields,
    default_reserve: z.number(),
  }),
  'The budget of a schedule; `GET /budgets/:id` shows its usage.',
)
export type ScheduleBudgetView = Shape<typeof scheduleBudget>

export const budgetPage = pageOf('BudgetPage', budget)

/** What a budget is, without whose it is: how a schedule says what its runs may use. */
export type BudgetTerms = Omit<ScheduleBudgetView, 'id'>
