import { z } from 'zod'
import { scheduleFields, scheduleFlaws } from '../schedules/schema.ts'
import { subjectFields, limitFields } from '../budgets/schema.ts'
import { USAGE_SOURCES } from '../../domain/forecast/runs-per-day.ts'
import { isGiven } from '../../domain/time/timing-fields.ts'
import { isoTime } from '../../api/common.ts'
import { fieldsRule, named, type Shape, text, integerBetween } from '../../api/fields.ts'

export const FORECAST_SOURCES = ['schedule', 'heartbeat', 'chat', 'tasks'] as const

const amount = named(
  'ForecastAmount',
  z.strictObject({ expected: z.number(), high: z.number() }),
  'Expected usage, and a high estimate at the 95th percentile of recent runs.',
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
  'Expected usage of a number of runs. Null: unknown.',
)
export type ForecastFigures = Shape<typeof figures>

const basis = named(
  'ForecastBasis',
  z.strictObject({ tokens: z.enum(USAGE_SOURCES), cost: z.enum(USAGE_SOURCES), runs: z.int() }),
  'What the estimate is based on, and how many runs were used.',
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
    held_back_runs: z.number().describe('Runs that budgets prevent within the forecast. Not included in the figures.'),
    based_on: basis,
  }),
  'A source of runs.',
)
export type ForecastSource = Shape<typeof source>

const agent = named(
  'ForecastAgent',
  z.strictObject({ ...figureFields, agent_id: z.string() }),
  'Expected usage of all runs of an agent.',
)
export type ForecastAgent = Shape<typeof agent>

const day = named(
  'ForecastDay',
  z.strictObject({ ...figureFields, date: z.string() }),
  'One calendar day in the time zone of the forecast.',
)
export type ForecastDayView = Shape<typeof day>

const period = named(
  'ForecastPeriod',
  z.strictObject({
    start: isoTime,
    end: isoTime,
    expected: z.number(),
    high: z.number(),
    held_back: z.number().describe('Usage of the runs that the budget holds back in this period.'),
  }),
  'A period of a budget: its usage by the end of the period or of the forecast.',
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
    used_up_at: isoTime.nullable().describe('When the budget is first exhausted. Null: not within the forecast.'),
    used_up_at_high: isoTime.nullable().describe('The same at the high estimate.'),
    held_back_runs: z
      .number()
      .describe(
        'Runs that the budget holds back within the forecast. Runs that wait and start in a later period are not counted.',
      ),
    incomplete: z
      .boolean()
      .describe('Whether the usage of some runs is unknown, so that the budget may be exhausted earlier.'),
    sentence: z.string().describe('The forecast in a sentence.'),
  }),
  'The forecast of a budget.',
)
export type BudgetForecast = Shape<typeof budget>

const days = integerBetween(1, 92).describe('Number of days to forecast. Default: 30.')

export const forecastFilter = z.strictObject({
  days: days.optional(),
})
export type ForecastFilter = Shape<typeof forecastFilter>

export const forecast = named(
  'Forecast',
  z.strictObject({
    from: isoTime,
    to: isoTime,
    timezone: z.string(),
    total: figures.describe('Usage of the runs that every applicable budget allows.'),
    held_back: figures.describe('Usage of the runs that budgets hold back.'),
    days: z.array(day),
    sources: z.array(source).describe('Largest first.'),
    agents: z.array(agent),
    budgets: z.array(budget),
    notes: z.array(z.string()).describe('What the forecast leaves out or does not know.'),
  }),
  'The next days of an org, from its plan and the usage of recent runs.',
)
export type ForecastView = Shape<typeof forecast>

const effect = named(
  'BudgetEffect',
  z.strictObject({
    before: budget.nullable().describe("Null: the schedule's own budget, which is new."),
    after: budget,
  }),
  'A budget before and after the change of the schedule.',
)
export type BudgetEffect = Shape<typeof effect>

export const scheduleForecastInput = named(
  'ScheduleForecastInput',
  z
    .strictObject({
      ...scheduleFields,
      id: text(1, 512).nullish().describe('The schedule to change. Omitted: a new schedule.'),
      days: days.nullish(),
    })
    .check(fieldsRule((given) => scheduleFlaws(given, !isGiven(given.id)))),
  'The fields of a new schedule, or with `id` the changes of an existing one.',
)
export type ScheduleForecastInput = Shape<typeof scheduleForecastInput>

export const scheduleForecast = named(
  'ScheduleForecast',
  z.strictObject({
    from: isoTime,
    to: isoTime,
    timezone: z.string(),
    figures: figures.describe('Usage of its runs that budgets allow.'),
    held_back: figures.describe('Usage of its runs that budgets hold back.'),
    before: figures.nullable().describe('Its usage today. Null: it is new or disabled.'),
    based_on: basis,
    budgets: z.array(effect).describe('Budgets its runs would use. Empty without `budgets:read`.'),
    warnings: z.array(z.string()).describe('Budgets that would be exhausted, in sentences.'),
    notes: z.array(z.string()),
  }),
  'Usage that a schedule would add.',
)
export type ScheduleForecast = Shape<typeof scheduleForecast>
