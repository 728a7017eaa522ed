import { z } from 'zod'
import { RUN_STATES } from '../../core/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../core/schedule/schedule-life.ts'
import { configPatchSchema, configViewSchema } from '../config/view.ts'
import { EVENT_KINDS, type EventFilter, type EventView } from '../event.ts'
import type { LaneView } from '../lane.ts'
import type { NodeView } from '../node.ts'
import {
  SERIES_STEPS,
  type AgentWork,
  type ProviderWork,
  type SeriesFilter,
  type SeriesPoint,
  type Spread,
  type StatsFilter,
  type StatsSeries,
  type StatsView,
} from '../stats.ts'
import { anyObject, id, moment, oneOf, pageOf } from './common.ts'
import { named, shaped } from './shaped.ts'

export const lane: z.ZodType<LaneView> = named(
  'Lane',
  shaped<LaneView>()({
    ...{ name: z.string(), concurrency: z.int(), active: z.int(), pending: z.int() },
    max_per_org: z.int().nullable(),
    largest_org: z.strictObject({ org_id: id, held: z.int() }).nullable(),
  }),
)

export const lanePage = pageOf('LanePage', lane)

/** The size of a lane on every node; nothing can run in a lane of size 0, so that is refused. */
export const laneSize = named('LaneSize', z.strictObject({ concurrency: z.int().min(1) }))

const node: z.ZodType<NodeView> = named(
  'Node',
  shaped<NodeView>()({
    id: z.string(),
    started_at: moment,
    lease_until: moment,
    alive: z.boolean(),
    draining: z.boolean(),
    executors: z.array(z.string()),
    scanned_at: moment.nullable(),
  }),
)

export const nodePage = pageOf('NodePage', node)

export const event: z.ZodType<EventView> = named(
  'Event',
  shaped<EventView>()({
    id: z.string(),
    kind: z.enum(EVENT_KINDS),
    org_id: z.string(),
    at: moment,
    subject: z.string(),
    data: anyObject,
  }),
)

const eventId = z.string().max(40)

export const eventFilter = shaped<EventFilter>()({
  kinds: z.string().min(1).max(1_000).optional(),
  run_id: id.optional(),
  schedule_id: id.optional(),
  session: id.optional(),
  agent_id: id.optional(),
  last_event_id: eventId.optional(),
})

export const config = named('Config', configViewSchema, 'Every setting as it holds, and who said so.')
export const configPatch = named('ConfigPatch', configPatchSchema, 'Settings that take effect at once.')

const spread = named('Spread', shaped<Spread>()({ p50: z.number(), p95: z.number(), p99: z.number(), max: z.number() }))

const agentWork = named('AgentWork', shaped<AgentWork>()({ agent_id: z.string(), queued: z.int(), active: z.int() }))

const providerWork = named(
  'ProviderWork',
  shaped<ProviderWork>()({
    provider: z.string(),
    waiting: z.int(),
    in_flight: z.int(),
    requests_left: z.int().nullable(),
    tokens_left: z.int().nullable(),
    closed_until: moment.nullable(),
  }),
)

export const statsFilter = shaped<StatsFilter>()({
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
})

export const seriesFilter = shaped<SeriesFilter>()({
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  step: z.enum(SERIES_STEPS).optional(),
})

const seriesPoint = named(
  'SeriesPoint',
  shaped<SeriesPoint>()({
    at: moment,
    by_status: z.partialRecord(oneOf(RUN_STATES), z.int()),
    duration_p95_ms: z.number().nullable(),
    lateness_p99_ms: z.number().nullable(),
    tokens: z.number(),
    cost: z.number(),
  }),
)

export const statsSeries: z.ZodType<StatsSeries> = named(
  'StatsSeries',
  shaped<StatsSeries>()({
    org_id: z.string(),
    from: moment,
    to: moment,
    step: z.enum(SERIES_STEPS),
    points: z.array(seriesPoint),
  }),
)

export const stats: z.ZodType<StatsView> = named(
  'Stats',
  shaped<StatsView>()({
    org_id: z.string(),
    from: moment,
    to: moment,
    runs: z.strictObject({
      ended: z.int(),
      by_status: z.partialRecord(oneOf(RUN_STATES), z.int()),
      share: z.strictObject({ success: z.number(), failed: z.number(), timeout: z.number() }).nullable(),
      duration_ms: spread.nullable(),
      lateness_ms: spread.nullable(),
    }),
    pending: z.strictObject({ waiting: z.int(), queued: z.int(), active: z.int() }),
    schedules: z.partialRecord(z.enum(SCHEDULE_STATES), z.int()),
    agents: z.array(agentWork),
    providers: z.array(providerWork),
    probes: z.strictObject({ asked: z.int(), saved: z.int(), errors: z.int() }),
    lanes: z.array(lane),
  }),
)
