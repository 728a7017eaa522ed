import type { LaneView } from '../../features/lanes/schema.ts'
import { ALERT_KINDS } from '../../domain/alerts.ts'
import { BEAT_OUTCOMES } from '../../domain/heartbeat/heartbeat-ending.ts'
import { PROBE_ANSWERS } from '../../core/probe/verdict.ts'
import { TRIGGERS } from '../../domain/run/run.ts'
import { isPending, isTerminal, RUN_STATES } from '../../domain/run/run-machine.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { DELIVERY_OUTCOMES } from '../../engine/meter.ts'
import type { DeploymentCounts } from '../../service/deployment-counts.ts'
import type { MetricName } from '../../metrics/catalogue.ts'
import { type Histogram, sumOf, type Tally } from './tally.ts'

/** One number under its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Every metric's numbers. The compiler refuses a metric that nobody fills. */
export type Samples = { readonly [Name in MetricName]: readonly Sample[] | Histogram }

const only = (value: number): readonly Sample[] => [{ labels: {}, value }]
const flag = (value: boolean): readonly Sample[] => only(value ? 1 : 0)

type Numbers = Readonly<Partial<Record<string, number>>>

/** A number for each key; those that are always there are 0 until something is counted. */
function keyed(label: string, counts: Numbers, always: readonly string[] = []): readonly Sample[] {
  const keys = new Set([...always, ...Object.keys(counts).toSorted()])
  return [...keys].map((key) => ({ labels: { [label]: key }, value: counts[key] ?? 0 }))
}

/** A heartbeat that is under way is counted when it has come to its end. */
const COUNTED_BEATS = BEAT_OUTCOMES.filter((outcome) => outcome !== 'running')

const ENDINGS = RUN_STATES.filter(isTerminal)

function endings({ ended }: Tally): Numbers {
  const counts = Object.values(ended)
  return Object.fromEntries(ENDINGS.map((state) => [state, counts.reduce((sum, of) => sum + (of[state] ?? 0), 0)]))
}

const byTrigger = ({ ended }: Tally): readonly Sample[] =>
  TRIGGERS.flatMap((trigger) =>
    Object.entries(ended[trigger] ?? {}).map(([status, value]) => ({ labels: { trigger, status }, value })),
  )

type Counted = Pick<
  Samples,
  | 'escapement_runs_total'
  | 'escapement_triggers_total'
  | 'escapement_runs_by_trigger_total'
  | 'escapement_attempts_total'
  | 'escapement_run_duration_seconds'
  | 'escapement_run_lateness_seconds'
  | 'escapement_skips_total'
  | 'escapement_task_overlap_skipped_total'
  | 'escapement_concurrency_skipped_total'
  | 'escapement_misfires_total'
  | 'escapement_retries_total'
  | 'escapement_task_failure_retry_total'
  | 'escapement_task_timeout_total'
  | 'escapement_refusals_total'
  | 'escapement_deliveries_total'
  | 'escapement_heartbeats_total'
  | 'escapement_probes_total'
  | 'escapement_scan_duration_seconds'
  | 'escapement_turns_total'
>

function counted(tally: Tally): Counted {
  const { skips, retries } = tally
  return {
    escapement_runs_total: keyed('status', endings(tally), ENDINGS),
    escapement_triggers_total: keyed('trigger', tally.triggers, TRIGGERS),
    escapement_runs_by_trigger_total: byTrigger(tally),
    escapement_attempts_total: only(tally.attempts),
    escapement_run_duration_seconds: tally.duration,
    escapement_run_lateness_seconds: tally.lateness,
    escapement_skips_total: keyed('reason', skips),
    escapement_task_overlap_skipped_total: only(sumOf(skips, ['overlap', 'overlap_limit'])),
    escapement_concurrency_skipped_total: only(sumOf(skips, ['concurrency', 'queue_full'])),
    escapement_misfires_total: keyed('outcome', tally.misfires),
    escapement_retries_total: keyed('error_code', retries),
    escapement_task_failure_retry_total: only(sumOf(retries, Object.keys(retries)) + tally.failureRetries),
    escapement_task_timeout_total: only(tally.timeouts),
    escapement_refusals_total: keyed('code', tally.refusals),
    escapement_deliveries_total: keyed('outcome', tally.deliveries, DELIVERY_OUTCOMES),
    escapement_heartbeats_total: keyed('outcome', tally.heartbeats, COUNTED_BEATS),
    escapement_probes_total: keyed('answer', tally.probes, PROBE_ANSWERS),
    escapement_scan_duration_seconds: tally.scans,
    escapement_turns_total: only(tally.turns),
  }
}

type Deployment = Pick<
  Samples,
  | 'escapement_schedules'
  | 'escapement_pending_runs'
  | 'escapement_callbacks_pending'
  | 'escapement_alerts_open'
  | 'escapement_nodes'
  | 'escapement_counted_age_seconds'
>

/** What nobody could count is left out: a gap in a graph is true, and a 0 would not be. */
async function deployment({ counts }: Sources): Promise<Deployment> {
  const found = await counts()
  if (found === null)
    return {
      escapement_schedules: [],
      escapement_pending_runs: [],
      escapement_callbacks_pending: [],
      escapement_alerts_open: [],
      escapement_nodes: [],
      escapement_counted_age_seconds: [],
    }
  const { schedules, pending, alerts, nodes } = found.value
  const alive = nodes.filter((node) => node.alive)
  const draining = alive.filter((node) => node.draining).length
  const states = { up: alive.length - draining, draining, lost: nodes.length - alive.length }
  return {
    escapement_schedules: keyed('state', schedules, SCHEDULE_STATES),
    escapement_pending_runs: keyed('state', pending, RUN_STATES.filter(isPending)),
    escapement_callbacks_pending: only(pending.awaiting_callback ?? 0),
    escapement_alerts_open: keyed('kind', alerts, ALERT_KINDS),
    escapement_nodes: keyed('state', states),
    escapement_counted_age_seconds: only(found.ageMs / 1_000),
  }
}

/** More lanes and agents than these are not told one by one: each is a series, and they are named by whoever sends work. */
const MOST_LANES = 50
const MOST_AGENTS = 50
const MOST_PROVIDERS = 50

type Waiting = Pick<
  Samples,
  | 'escapement_lane_slots'
  | 'escapement_lane_held'
  | 'escapement_lane_org_limit'
  | 'escapement_lane_largest_org_held'
  | 'escapement_lane_queued'
  | 'escapement_lane_in_flight'
  | 'escapement_agent_queued'
  | 'escapement_agent_in_flight'
  | 'escapement_provider_waiting'
  | 'escapement_provider_in_flight'
  | 'escapement_provider_closed_seconds'
>

function waiting({ lanes, held, largestOrg, agents, providers }: Sources): Waiting {
  const shown = lanes().slice(0, MOST_LANES)
  const ofLanes = (valueOf: (lane: (typeof shown)[number]) => number): readonly Sample[] =>
    shown.map((lane) => ({ labels: { lane: lane.name }, value: valueOf(lane) }))
  const busy = busiest(agents())
  const ofAgents = (valueOf: (work: AgentWork) => number): readonly Sample[] =>
    busy.map((work) => ({ labels: { org: work.orgId, agent: work.agentId }, value: valueOf(work) }))
  const called = providers().slice(0, MOST_PROVIDERS)
  const ofProviders = (valueOf: (use: ProviderUse) => number): readonly Sample[] =>
    called.map((use) => ({ labels: { org: use.orgId, provider: use.provider }, value: valueOf(use) }))
  return {
    escapement_lane_slots: ofLanes(({ concurrency }) => concurrency),
    escapement_lane_held: ofLanes(({ name }) => held(name)),
    escapement_lane_org_limit: ofLanes(({ concurrency, max_per_org }) => max_per_org ?? concurrency),
    escapement_lane_largest_org_held: ofLanes(({ name }) => largestOrg(name)),
    escapement_lane_queued: ofLanes(({ pending }) => pending),
    escapement_lane_in_flight: ofLanes(({ active }) => active),
    escapement_agent_queued: ofAgents(({ queued }) => queued),
    escapement_agent_in_flight: ofAgents(({ inFlight }) => inFlight),
    escapement_provider_waiting: ofProviders((use) => use.waiting),
    escapement_provider_in_flight: ofProviders((use) => use.inFlight),
    escapement_provider_closed_seconds: ofProviders((use) => use.closedSeconds),
  }
}

const loadOf = ({ queued, inFlight }: AgentWork): number => queued + inFlight

/** Those with the most to do by name, and all others together, so that the sum is always right. */
function busiest(all: readonly AgentWork[]): readonly AgentWork[] {
  const sorted = all.toSorted((a, b) => loadOf(b) - loadOf(a) || (a.agentId < b.agentId ? -1 : 1))
  const others = { orgId: '', agentId: '', queued: 0, inFlight: 0 }
  for (const { queued, inFlight } of sorted.slice(MOST_AGENTS)) {
    others.queued += queued
    others.inFlight += inFlight
  }
  return [...sorted.slice(0, MOST_AGENTS), others]
}

const connections = ({ pool, open, idle }: PoolUse): readonly Sample[] => [
  { labels: { pool, state: 'busy' }, value: open - idle },
  { labels: { pool, state: 'idle' }, value: idle },
]

/** Looks at everything. */
export async function collect(sources: Sources): Promise<Samples> {
  const { tally } = sources
  const pools = sources.pools()
  const use = sources.process()
  const scanned = tally.scannedAt
  return {
    ...counted(tally),
    ...(await deployment(sources)),
    ...waiting(sources),
    escapement_scan_age_seconds: scanned === null ? [] : only((sources.counter() - scanned) / 1_000),
    escapement_draining: flag(sources.isDraining()),
    escapement_database_up: flag(sources.isDatabaseUp()),
    escapement_database_connections: pools.flatMap(connections),
    escapement_database_waiting: pools.map(({ pool, waiting: value }) => ({ labels: { pool }, value })),
    escapement_info: [{ labels: { version: sources.version, node: sources.nodeId() }, value: 1 }],
    process_cpu_seconds_total: only(use.cpuSeconds),
    process_resident_memory_bytes: only(use.residentBytes),
    process_start_time_seconds: only(use.startedAtSeconds),
    nodejs_heap_size_used_bytes: only(use.heapBytes),
    nodejs_eventloop_utilization_ratio: only(use.eventLoopUtilization),
  }
}

/** The work of an agent, as this node remembers it. */
export interface AgentWork {
  readonly orgId: string
  readonly agentId: string
  readonly queued: number
  readonly inFlight: number
}

/** The work of a provider, as this node remembers it. */
export interface ProviderUse {
  readonly orgId: string
  readonly provider: string
  readonly waiting: number
  readonly inFlight: number
  readonly closedSeconds: number
}

/** The connections of one pool. */
interface PoolUse {
  readonly pool: string
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** How the process is. */
export interface ProcessUse {
  readonly cpuSeconds: number
  readonly residentBytes: number
  readonly startedAtSeconds: number
  readonly heapBytes: number
  readonly eventLoopUtilization: number
}

/** Where the numbers come from: everything but the tally is asked when somebody wants to see them. */
export interface Sources {
  readonly tally: Tally
  readonly version: string
  readonly nodeId: () => string
  /** The lanes with the work of every org on all nodes. */
  readonly lanes: () => readonly LaneView[]
  /** Slots of a lane that this node's own attempts hold. */
  readonly held: (lane: string) => number
  /** Slots of a lane that the org with the most of them holds on this node. */
  readonly largestOrg: (lane: string) => number
  readonly agents: () => readonly AgentWork[]
  readonly providers: () => readonly ProviderUse[]
  readonly pools: () => readonly PoolUse[]
  /** Whether metrics that have a name without prefix are shown under it too. */
  readonly showsUnprefixed: () => boolean
  readonly isDraining: () => boolean
  readonly isDatabaseUp: () => boolean
  readonly process: () => ProcessUse
  /** Null: they could not be counted in time. */
  readonly counts: () => Promise<{ readonly value: DeploymentCounts; readonly ageMs: number } | null>
  /** Milliseconds by a clock that never goes back. */
  readonly counter: () => number
}
