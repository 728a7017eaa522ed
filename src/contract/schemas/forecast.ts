import { z } from 'zod'
import { USE_SOURCES } from '../../core/forecast/expected-use.ts'
import {
  FORECAST_SOURCES,
  type BudgetEffect,
  type BudgetForecast,
  type ForecastAgent,
  type ForecastAmount,
  type ForecastBasis,
  type ForecastDayView,
  type ForecastFigures,
  type ForecastFilter,
  type ForecastPeriod,
  type ForecastSource,
  type ForecastView,
  type ScheduleForecast,
  type ScheduleForecastInput,
} from '../forecast.ts'
import { limitFields, subjectFields } from './budget.ts'
import { id, moment } from './common.ts'
import { scheduleFields } from './schedule.ts'
import { named, shaped } from './shaped.ts'

const amount: z.ZodType<ForecastAmount> = named(
  'ForecastAmount',
  shaped<ForecastAmount>()({ expected: z.number(), high: z.number() }),
)
const figureFields = { runs: z.number(), tokens: amount.nullable(), cost: amount.nullable() }
const figures: z.ZodType<ForecastFigures> = named('ForecastFigures', shaped<ForecastFigures>()(figureFields))
const basis: z.ZodType<ForecastBasis> = named(
  'ForecastBasis',
  shaped<ForecastBasis>()({ tokens: z.enum(USE_SOURCES), cost: z.enum(USE_SOURCES), runs: z.int() }),
)
const source: z.ZodType<ForecastSource> = named(
  'ForecastSource',
  shaped<ForecastSource>()({
    ...figureFields,
    kind: z.enum(FORECAST_SOURCES),
    name: z.string(),
    schedule_id: z.string().nullable(),
    agent_id: z.string(),
    held_back_runs: z.number(),
    based_on: basis,
  }),
)
const agent: z.ZodType<ForecastAgent> = named(
  'ForecastAgent',
  shaped<ForecastAgent>()({ ...figureFields, agent_id: z.string() }),
)
const day: z.ZodType<ForecastDayView> = named(
  'ForecastDay',
  shaped<ForecastDayView>()({ ...figureFields, date: z.string() }),
)
const period: z.ZodType<ForecastPeriod> = named(
  'ForecastPeriod',
  shaped<ForecastPeriod>()({
    start: moment,
    end: moment,
    expected: z.number(),
    high: z.number(),
    held_back: z.number(),
  }),
)
const budget: z.ZodType<BudgetForecast> = named(
  'BudgetForecast',
  shaped<BudgetForecast>()({
    budget_id: z.string(),
    ...subjectFields,
    ...limitFields,
    paused: z.boolean(),
    periods: z.array(period),
    used_up_at: moment.nullable(),
    used_up_at_high: moment.nullable(),
    held_back_runs: z.number(),
    incomplete: z.boolean(),
    sentence: z.string(),
  }),
)

export const forecastFilter: z.ZodType<ForecastFilter> = shaped<ForecastFilter>()({
  days: z.int().min(1).max(92).optional(),
})

export const forecast: z.ZodType<ForecastView> = named(
  'Forecast',
  shaped<ForecastView>()({
    from: moment,
    to: moment,
    timezone: z.string(),
    total: figures,
    held_back: figures,
    days: z.array(day),
    sources: z.array(source),
    agents: z.array(agent),
    budgets: z.array(budget),
    notes: z.array(z.string()),
  }),
)

const effect: z.ZodType<BudgetEffect> = named(
  'BudgetEffect',
  shaped<BudgetEffect>()({ before: budget.nullable(), after: budget }),
)

export const scheduleForecastInput: z.ZodType<ScheduleForecastInput> = named(
  'ScheduleForecastInput',
  shaped<ScheduleForecastInput>()({
    ...scheduleFields,
    id: id.nullish(),
    days: z.int().min(1).max(92).nullish(),
  }),
  'Everything a schedule is made from; with the id of one that exists, only what changes.',
)

export const scheduleForecast: z.ZodType<ScheduleForecast> = named(
  'ScheduleForecast',
  shaped<ScheduleForecast>()({
    from: moment,
    to: moment,
    timezone: z.string(),
    figures,
    held_back: figures,
    before: figures.nullable(),
    based_on: basis,
    budgets: z.array(effect),
    warnings: z.array(z.string()),
    notes: z.array(z.string()),
  }),
)
