import { z } from 'zod'
import { RUN_STATES } from '../../domain/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { isoTime, paging, whyFields } from '../../api/common.ts'
import { lane } from '../lanes/schema.ts'
import { named, type Shape } from '../../api/fields.ts'

export const SERIES_STEPS = ['hour', 'day'] as const

export type SeriesStep = (typeof SERIES_STEPS)[number]

const spread = named(
  'Spread',
  z.strictObject({ p50: z.number(), p95: z.number(), p99: z.number(), max: z.number() }),
  'Percentiles in milliseconds.',
)
export type Spread = Shape<typeof spread>

const agentWork = named(
  'AgentWork',
  z.strictObject({ agent_id: z.string(), queued: z.int(), active: z.int() }),
  'Pending work of an agent.',
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
    closed_until: isoTime.nullable().describe('Nothing starts before this time. Null: open.'),
  }),
  'Pending work of a provider, and its remaining quotas. Null: unlimited.',
)
export type ProviderWork = Shape<typeof providerWork>

/** The time range of the statistics. */
export const statsFilter = z.strictObject({
  from: z.iso.datetime({ offset: true }).optional().describe('Start of the range. Default: 24 hours ago.'),
  to: z.iso.datetime({ offset: true }).optional().describe('End of the range. Default: now.'),
})
export type StatsFilter = Shape<typeof statsFilter>

/** The time range and step of the series. */
export const seriesFilter = z.strictObject({
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  step: z.enum(SERIES_STEPS).optional(),
})
export type SeriesFilter = Shape<typeof seriesFilter>

const seriesPoint = named(
  'SeriesPoint',
  z.strictObject({
    at: isoTime.describe('Start of the interval.'),
    by_status: z.partialRecord(z.enum(RUN_STATES), z.int()),
    duration_p95_ms: z.number().nullable().describe('95th percentile of run durations. Null: no run ended.'),
    lateness_p99_ms: z
      .number()
      .nullable()
      .describe('99th percentile of start lateness against the nominal time. Null: no run had one.'),
    tokens: z.number(),
    cost: z.number().describe('In whole units of money.'),
  }),
  'One interval of a series.',
)
export type SeriesPoint = Shape<typeof seriesPoint>

export const statsSeries = named(
  'StatsSeries',
  z.strictObject({
    org_id: z.string(),
    from: isoTime,
    to: isoTime,
    step: z.enum(SERIES_STEPS),
    points: z.array(seriesPoint),
  }),
  'Statistics per interval: one point for each interval from `from` to `to`, including empty ones.',
)
export type StatsSeries = Shape<typeof statsSeries>

export const stats = named(
  'Stats',
  z.strictObject({
    org_id: z.string(),
    from: isoTime,
    to: isoTime,
    runs: z.strictObject({
      ended: z.int().describe('Runs that were executed or cancelled; the shares refer to these.'),
      by_status: z.partialRecord(z.enum(RUN_STATES), z.int()),
      share: z
        .strictObject({ success: z.number(), failed: z.number(), timeout: z.number() })
        .nullable()
        .describe('Null: no run has ended.'),
      duration_ms: spread.nullable().describe('From start to end. Null: no run has ended.'),
      lateness_ms: spread.nullable().describe('From the nominal time to the start, of runs that have one.'),
    }),
    pending: z.strictObject({ waiting: z.int(), queued: z.int(), active: z.int() }),
    schedules: z.partialRecord(z.enum(SCHEDULE_STATES), z.int()),
    agents: z.array(agentWork).describe('Agents with work, busiest first, at most 100.'),
    providers: z.array(providerWork).describe('Providers of the org, by name.'),
    probes: z
      .strictObject({ asked: z.int(), saved: z.int(), errors: z.int() })
      .describe('Probes run before agents were started; `saved` is how often the agent was not started.'),
    lanes: z.array(lane).describe("With the org's own work."),
  }),
  'Statistics of an org over a time range, and its pending work.',
)
export type StatsView = Shape<typeof stats>

export const TIMELINE_GROUPS = ['schedule', 'agent', 'org'] as const

/** Which rows of the timeline, and in which range. */
export const timelineFilter = z.strictObject({
  from: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Start of the range. Default: 24 hours before the end of the range.'),
  to: z.iso.datetime({ offset: true }).optional().describe('End of the range. Default: now. May be in the future.'),
  step_seconds: z
    .int()
    .min(1)
    .max(31_536_000)
    .optional()
    .describe('Length of a bucket. Default: the smallest with at most 200 buckets.'),
  by: z.enum(TIMELINE_GROUPS).optional().describe('One row per schedule (default), per agent, or for the whole org.'),
  schedule_id: z.string().min(1).max(512).optional().describe('Only this schedule.'),
  agent_id: z
    .string()
    .min(1)
    .max(512)
    .optional()
    .describe('Show one agent: all its runs in the first row, then one row per schedule.'),
  text: z.string().min(1).max(200).optional().describe('Part of the name (case-insensitive).'),
  ...paging,
})
export type TimelineFilter = Shape<typeof timelineFilter>

const timelineBucket = z.strictObject({
  at: isoTime.describe('Start of the bucket.'),
  by_status: z
    .partialRecord(z.enum(RUN_STATES), z.int())
    .describe('Runs created in the bucket, by their current status.'),
  planned: z.int().describe('Occurrences still to come, without those that `held` stops.'),
})

const timelineRow = named(
  'TimelineRow',
  z.strictObject({
    kind: z.enum(['schedule', 'agent', 'direct', 'org']).describe('`direct`: runs of an agent without a schedule.'),
    id: z.string().nullable().describe('Of the schedule or agent.'),
    name: z.string().nullable().describe('Null: it no longer exists.'),
    state: z.enum(SCHEDULE_STATES).nullable().describe('Of the schedule.'),
    by_status: z.partialRecord(z.enum(RUN_STATES), z.int()),
    buckets: z.array(timelineBucket).describe('Without empty ones.'),
    held: z
      .strictObject({ until: isoTime.nullable(), ...whyFields, sentence: z.string() })
      .nullable()
      .describe(
        'Why no occurrence can run before `until` (null: until someone acts): back-off or an exhausted budget.',
      ),
  }),
  'A row of the timeline.',
)
export type TimelineRow = Shape<typeof timelineRow>

export const timeline = named(
  'Timeline',
  z.strictObject({
    org_id: z.string(),
    from: isoTime,
    to: isoTime,
    step_seconds: z.int(),
    total: z.int().describe('Number of rows on all pages.'),
    items: z.array(timelineRow).describe('Most failures first, then by name.'),
    next_cursor: z.string().nullable(),
  }),
  'Runs per bucket and outcome in a range, and planned occurrences.',
)
export type TimelineView = Shape<typeof timeline>
