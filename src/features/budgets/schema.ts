import { z } from 'zod'
import { isoTime, pageOf } from '../../api/common.ts'
import { fieldsRule, named, type Shape, text, withFixed, zoneName } from '../../api/fields.ts'
import { BUDGET_ALERT_KINDS } from '../../domain/alerts.ts'
import { MAX_AMOUNT, NO_AMOUNTS, parseAmounts } from '../../domain/budget/amounts.ts'
import { BUDGET_PERIODS } from '../../domain/budget/budget-period.ts'
import { BUDGET_ACTIONS, BUDGET_SCOPES, BUDGET_UNITS } from '../../domain/budget/budget.ts'
import type { Flaw } from '../../domain/input.ts'

export const ABOUT_AMOUNT = 'Tokens, or money with up to six decimal places.'

const changeable = {
  amount: z.number().positive().max(MAX_AMOUNT).describe(ABOUT_AMOUNT),
  on_exceed: z.enum(BUDGET_ACTIONS).optional().describe('What happens when the budget is used up. Default: `skip`.'),
  default_reserve: z
    .number()
    .min(0)
    .max(MAX_AMOUNT)
    .optional()
    .describe('Amount reserved for a run whose usage is unknown.'),
}

const unit = z.enum(BUDGET_UNITS).describe('What is counted.')

/** The period of a budget. */
const time = {
  period: z.enum(BUDGET_PERIODS).optional().describe('Period of the budget. Default: `day`.'),
  timezone: zoneName.optional().describe("Time zone of the budget's days and months. Default: the org's time zone."),
}

/** The fields of a budget. */
export const budgetFields = {
  unit,
  agent_id: text(1, 512).optional().describe('Agent whose runs the budget limits.'),
  schedule_id: text(1, 512).optional().describe('Schedule whose runs the budget limits.'),
  ...changeable,
  ...time,
}

type Given = Readonly<Partial<Record<keyof typeof budgetFields, unknown>>>

/** The allowed amounts depend on the unit. */
function amountFlaws(given: Given): readonly Flaw[] {
  const read = parseAmounts(BUDGET_UNITS.find((word) => word === given.unit) ?? 'tokens', given, NO_AMOUNTS)
  return read.ok ? [] : read.flaws
}

function scopeFlaws({ agent_id: agent, schedule_id: schedule }: Given): readonly Flaw[] {
  if (agent === undefined || schedule === undefined) return []
  return [{ field: 'schedule_id', value: schedule, message: 'excludes agent_id', allowed: 'one of the two' }]
}

export const budgetInput = named(
  'BudgetInput',
  z.strictObject(budgetFields).check(fieldsRule((given) => [...scopeFlaws(given), ...amountFlaws(given)])),
  'The budget of an agent or a schedule, or of the whole org if neither is given.',
)
export type BudgetInput = Shape<typeof budgetInput>

export const budgetPatch = named(
  'BudgetPatch',
  withFixed(z.strictObject({ ...changeable, amount: changeable.amount.optional() }), {
    names: ['agent_id', 'schedule_id', 'unit', 'period', 'timezone'],
    allowed: 'a new budget',
  }),
  'A change of a budget. Subject, unit, period and time zone cannot be changed.',
)
export type BudgetPatch = Shape<typeof budgetPatch>

/** The subject of a budget in responses. */
export const subjectFields = {
  scope: z.enum(BUDGET_SCOPES),
  agent_id: z.string().nullable(),
  schedule_id: z.string().nullable(),
  owner: z.string().nullable().describe('The restricted key or the agent (`agent:<id>`) that the budget belongs to.'),
}

/** The limit of a budget in responses. */
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
    paused_at: isoTime.nullable().describe('When `pause` stopped new runs. Null: not paused.'),
    alerts: z.array(z.enum(BUDGET_ALERT_KINDS)).describe('Kinds of open alerts.'),
    period_start: isoTime,
    period_end: isoTime,
    created_at: isoTime,
  }),
  'A budget and its usage. Amounts are tokens, or money in whole units.',
)
export type BudgetView = Shape<typeof budget>

/** The input field `budget` of a schedule. */
export const scheduleBudgetInput = named(
  'ScheduleBudgetInput',
  z.strictObject({ unit, ...changeable, ...time }).check(fieldsRule((given) => amountFlaws(given))),
  'What the runs of the schedule may use. Setting it also requires budgets:write.',
)
export type ScheduleBudgetInput = Shape<typeof scheduleBudgetInput>

/** The field `budget` of a schedule in responses. */
export const scheduleBudget = named(
  'ScheduleBudget',
  z.strictObject({
    id: z.string(),
    ...limitFields,
    default_reserve: z.number(),
  }),
  'The budget of a schedule; `GET /budgets/:id` shows its usage.',
)
type ScheduleBudgetView = Shape<typeof scheduleBudget>

export const budgetPage = pageOf('BudgetPage', budget)

/** A budget without its subject, as a schedule contains it. */
export type BudgetTerms = Omit<ScheduleBudgetView, 'id'>

/**
 * The tokens of a session and the size of its context window; null: unknown. Called before each start, also for
 * sessions with running attempts.
 */
export type TokenEstimateFunc = (session: string) => { readonly tokens: number; readonly contextWindow: number } | null
