import { z } from 'zod'
import { scheduleFields } from './schedule.ts'
import { subjectFields, limitFields } from './budget.ts'
import { USE_SOURCES } from '../core/forecast/expected-use.ts'
import { id, moment } from './common.ts'
import { named, type Shape } from './shape.ts'

export const FORECAST_SOURCES = ['schedule', 'heartbeat', 'chat', 'tasks'] as const

const amount = named(
  'ForecastAmount',
  z.strictObject({ expected: z.number(), high: z.number() }),
  'What is expected, and what it is if every run uses as much as 95 in 100 of the last ones did at most.',
)
export type ForecastAmount = Shape<typeof amount>

const figureFields = {
  runs: z.number(),
  tokens: amount.nullable(),
  cost: amount.nullable().describe('Money in whole units.'),
}
const figures = named(
  'ForecastFigures',
  z.strictObject(figureFields),
  'What a number of runs is expected to use. Null: nothing is known about any of them.',
)
export type ForecastFigures = Shape<typeof figures>

const basis = named(
  'ForecastBasis',
  z.strictObject({ tokens: z.enum(USE_SOURCES), cost: z.enum(USE_SOURCES), runs: z.int() }),
  'Where the expectation about a source comes from, and how many runs were looked at.',
)
export type ForecastBasis = Shape<typeof basis>

const source = named(
  'ForecastSource',
  z.strictObject({
    ...figureFields,
    kind: z.enum(FORECAST_SOURCES),
    name: z.string(),
    schedule_id: z.string().nullable(),
    agent_id: z.string(),
    held_back_runs: z
      .number()
      .describe(
        'Runs that budgets let neither start nor be made up for within the forecast; they are not in the figures.',
      ),
    based_on: basis,
  }),
  'Something that makes runs.',
)
export type ForecastSource = Shape<typeof source>

const agent = named(
  'ForecastAgent',
  z.strictObject({ ...figureFields, agent_id: z.string() }),
  'What the runs of an agent are expected to use together.',
)
export type ForecastAgent = Shape<typeof agent>

const day = named(
  'ForecastDay',
  z.strictObject({ ...figureFields, date: z.string() }),
  "One day, as the calendar of the forecast's zone has it.",
)
export type ForecastDayView = Shape<typeof day>

const period = named(
  'ForecastPeriod',
  z.strictObject({
    start: moment,
    end: moment,
    expected: z.number(),
    high: z.number(),
    held_back: z.number().describe('What the runs that the budget holds back at that time would use.'),
  }),
  'A period of a budget: what it will have used by its end, or by the end of the forecast.',
)
export type ForecastPeriod = Shape<typeof period>

const budget = named(
  'BudgetForecast',
  z.strictObject({
    budget_id: z.string(),
    ...subjectFields,
    ...limitFields,
    paused: z.boolean(),
    periods: z.array(period),
    used_up_at: moment.nullable().describe('When it will first be used up. Null: not within the forecast.'),
    used_up_at_high: moment.nullable().describe('The same, if runs use as much as they do at most.'),
    held_back_runs: z
      .number()
      .describe(
        'Runs that it holds back within the forecast. Runs that wait and start in a later period are not counted.',
      ),
    incomplete: z
      .boolean()
      .describe('Whether something under it uses an amount that nobody knows: then it may be used up earlier.'),
    sentence: z.string().describe('What that means, for people.'),
  }),
  'Where a budget is going.',
)
export type BudgetForecast = Shape<typeof budget>

export const forecastFilter = z.strictObject({
  days: z.int().min(1).max(92).optional().describe('From 1 to 92; 30 unless given.'),
})
export type ForecastFilter = Shape<typeof forecastFilter>

export const forecast = named(
  'Forecast',
  z.strictObject({
    from: moment,
    to: moment,
    timezone: z.string(),
    total: figures.describe('What can run under every budget that applies.'),
    held_back: figures.describe('What budgets hold back of the plan.'),
    days: z.array(day),
    sources: z.array(source).describe('Those that use most come first.'),
    agents: z.array(agent),
    budgets: z.array(budget),
    notes: z.array(z.string()).describe('What the forecast does not know or leaves out.'),
  }),
  'The next days of an org, from its plan and from what runs have used so far.',
)
export type ForecastView = Shape<typeof forecast>

const effect = named(
  'BudgetEffect',
  z.strictObject({
    before: budget.nullable().describe('Null: the schedule brings the budget with it.'),
    after: budget,
  }),
  'A budget without the schedule, or with it as it is, and with it as it is to be.',
)
export type BudgetEffect = Shape<typeof effect>

export const scheduleForecastInput = named(
  'ScheduleForecastInput',
  z.strictObject({
    ...scheduleFields,
    id: id.nullish().describe('The schedule that it changes; without one it is new.'),
    days: z.int().min(1).max(92).nullish(),
  }),
  'Everything a schedule is made from; with the id of one that exists, only what changes.',
)
export type ScheduleForecastInput = Shape<typeof scheduleForecastInput>

export const scheduleForecast = named(
  'ScheduleForecast',
  z.strictObject({
    from: moment,
    to: moment,
    timezone: z.string(),
    figures: figures.describe('What can run under every budget that applies.'),
    held_back: figures.describe('What budgets hold back of its runs.'),
    before: figures.nullable().describe('What it uses as it is now; null: it is new, or off.'),
    based_on: basis,
    budgets: z.array(effect).describe('Those that its runs would use. Empty for who may not see budgets.'),
    warnings: z.array(z.string()).describe('Budgets that would be used up, for people.'),
    notes: z.array(z.string()),
  }),
  'What a schedule would add, before it is saved.',
)
export type ScheduleForecast = Shape<typeof scheduleForecast>
