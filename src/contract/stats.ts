import { z } from 'zod'
import { RUN_STATES } from '../core/run/run-machine.ts'
import { SCHEDULE_STATES } from '../core/schedule/schedule-life.ts'
import { moment } from './common.ts'
import { lane } from './lane.ts'
import { named, type Shape } from './shape.ts'

export const SERIES_STEPS = ['hour', 'day'] as const

export type SeriesStep = (typeof SERIES_STEPS)[number]

const spread = named(
  'Spread',
  z.strictObject({ p50: z.number(), p95: z.number(), p99: z.number(), max: z.number() }),
  'How long things took, in milliseconds.',
)
export type Spread = Shape<typeof spread>

const agentWork = named(
  'AgentWork',
  z.strictObject({ agent_id: z.string(), queued: z.int(), active: z.int() }),
  'What an agent has to do.',
)
export type AgentWork = Shape<typeof agentWork>

const providerWork = named(
  'ProviderWork',
  z.strictObject({
    provider: z.string(),
    waiting: z.int(),
    in_flight: z.int(),
    requests_left: z.int().nullable(),
    tokens_left: z.int().nullable(),
    closed_until: moment.nullable().describe('Nothing of it starts before; null: something may.'),
  }),
  'What a provider has to do, and what is left of its quotas; null: any number.',
)
export type ProviderWork = Shape<typeof providerWork>

/** Which stretch of time; the last 24 hours unless given. */
export const statsFilter = z.strictObject({
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
})
export type StatsFilter = Shape<typeof statsFilter>

/** Which stretch of time, in which steps; the last 24 hours by the hour unless given. */
export const seriesFilter = z.strictObject({
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  step: z.enum(SERIES_STEPS).optional(),
})
export type SeriesFilter = Shape<typeof seriesFilter>

const seriesPoint = named(
  'SeriesPoint',
  z.strictObject({
    at: moment.describe('When the step begins.'),
    by_status: z.partialRecord(z.enum(RUN_STATES), z.int()),
    duration_p95_ms: z
      .number()
      .nullable()
      .describe('What 95 % of the runs that ended stayed within, from start to end. Null when none ended.'),
    lateness_p99_ms: z
      .number()
      .nullable()
      .describe('What 99 % of the starts stayed within, counted from the nominal time. Null when none had one.'),
    tokens: z.number(),
    cost: z.number().describe('In whole money.'),
  }),
  'What happened in one step of a series.',
)
export type SeriesPoint = Shape<typeof seriesPoint>

export const statsSeries = named(
  'StatsSeries',
  z.strictObject({
    org_id: z.string(),
    from: moment,
    to: moment,
    step: z.enum(SERIES_STEPS),
    points: z.array(seriesPoint),
  }),
  'How work went, step by step: one point for each step from `from` to `to`, also where nothing happened.',
)
export type StatsSeries = Shape<typeof statsSeries>

export const stats = named(
  'Stats',
  z.strictObject({
    org_id: z.string(),
    from: moment,
    to: moment,
    runs: z.strictObject({
      ended: z.int().describe('Runs that came to an end by execution or by a person: what the shares are of.'),
      by_status: z.partialRecord(z.enum(RUN_STATES), z.int()),
      share: z
        .strictObject({ success: z.number(), failed: z.number(), timeout: z.number() })
        .nullable()
        .describe('Null while nothing has ended.'),
      duration_ms: spread.nullable().describe('From start to end. Null while nothing has ended.'),
      lateness_ms: spread.nullable().describe('From the nominal time to the start, of runs that have one.'),
    }),
    pending: z.strictObject({ waiting: z.int(), queued: z.int(), active: z.int() }),
    schedules: z.partialRecord(z.enum(SCHEDULE_STATES), z.int()),
    agents: z.array(agentWork).describe('Those that have something to do, the busiest first; a hundred at most.'),
    providers: z.array(providerWork).describe('Those the org has, by name.'),
    probes: z
      .strictObject({ asked: z.int(), saved: z.int(), errors: z.int() })
      .describe('What was asked before agents were woken; a probe that said no has saved a call.'),
    lanes: z.array(lane).describe("With the org's own work in them."),
  }),
  "What an org's work looked like in a stretch of time, and what waits now.",
)
export type StatsView = Shape<typeof stats>
