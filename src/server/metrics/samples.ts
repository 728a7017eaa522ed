import { ALERT_KINDS } from '../../domain/alerts.ts'
import { RECORDED_HEARTBEAT_OUTCOMES } from '../../domain/heartbeat/heartbeat-ending.ts'
import { PROBE_ANSWERS } from '../../domain/probe/verdict.ts'
import { isPending, isTerminal, RUN_STATES } from '../../domain/run/run-machine.ts'
import { TRIGGERS } from '../../domain/run/run.ts'
import { SCHEDULE_STATES } from '../../domain/schedule/lifecycle.ts'
import { DELIVERY_OUTCOMES } from '../../engine/tracing-port.ts'
import type { LaneView } from '../../features/lanes/schema.ts'
import type { DeploymentCounts } from '../../features/stats/service.ts'
import type { MetricName } from './catalogue.ts'
import { type Histogram, sumOf, type Tally } from './tally.ts'

/** A cached value that is expensive to compute and read often. */
export interface CachedValue<T> {
  /** The last value and its age. Null if there is none yet and it could not be computed in time. */
  readonly read: () => Promise<{ readonly value: T; readonly ageMs: number } | null>
}

interface CachedValueOptions {
  /** Milliseconds of a monotonic clock. */
  readonly counter: () => number
  /** The minimum interval between computations. */
  readonly minIntervalMs: number
  /** The maximum share of time spent computing. */
  readonly maxShare: number
  /** How long the first reader waits. */
  readonly firstWaitMs: number
}

/**
 * Returns the last value and recomputes it in the background, so only the first reader waits. A slow computation runs
 * less often. A failed one keeps the last value and is not retried at once.
 */
export function createCachedValue<T>(find: () => Promise<T>, options: CachedValueOptions): CachedValue<T> {
  const { counter, minIntervalMs, maxShare, firstWaitMs } = options
  let known: { readonly value: T; readonly at: number } | null = null
  let nextAt = -Infinity
  let finding: Promise<void> | null = null
  const compute = async (): Promise<void> => {
    const began = counter()
    try {
      known = { value: await find(), at: counter() }
    } catch {
      // Readers see the age of the last value.
    } finally {
      const took = counter() - began
      nextAt = counter() + Math.max(minIntervalMs, took / maxShare)
      finding = null
    }
  }
  return {
    read: async () => {
      if (counter() >= nextAt) finding ??= compute()
      if (known === null && finding !== null) await waitAtMost(firstWaitMs, finding)
      return known === null ? null : { value: known.value, ageMs: counter() - known.at }
    },
  }
}

async function waitAtMost(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, over])
  clearTimeout(timer)
}

/** One value with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The samples of every metric. The type makes sure that none is missing. */
export type Samples = { readonly [Name in MetricName]: readonly Sample[] | Histogram }

const only = (value: number): readonly Sample[] => [{ labels: {}, value }]
const flag = (value: boolean): readonly Sample[] => only(value ? 1 : 0)

type Numbers = Readonly<Partial<Record<string, number>>>

/** A sample for each key; those in `always` are 0 until something is counted. */
function samplesByKey(label: string, counts: Numbers, always: readonly string[] = []): readonly Sample[] {
  const keys = new Set([...always, ...Object.keys(counts).toSorted()])
  return [...keys].map((key) => ({ labels: { [label]: key }, value: counts[key] ?? 0 }))
}

/** A running heartbeat is counted when it has ended. */
const COUNTED_HEARTBEATS = RECORDED_HEARTBEAT_OUTCOMES.filter((outcome) => outcome !== 'running')

const ENDINGS = RUN_STATES.filter(isTerminal)

function endings({ ended }: Tally): Numbers {
  const counts = Object.values(ended)
  return Object.fromEntries(ENDINGS.map((state) => [state, counts.reduce((sum, of) => sum + (of[state] ?? 0), 0)]))
}

const byTrigger = ({ ended }: Tally): readonly Sample[] =>
  TRIGGERS.flatMap((trigger) =>
    Object.entries(ended[trigger] ?? {}).map(([status, value]) => ({ labels: { trigger, status }, value })),
  )

type CounterSamples = Pick<
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

function counterSamples(tally: Tally): CounterSamples {
  const { skips, retries } = tally
  return {
    escapement_runs_total: samplesByKey('status', endings(tally), ENDINGS),
    escapement_triggers_total: samplesByKey('trigger', tally.triggers, TRIGGERS),
    escapement_runs_by_trigger_total: byTrigger(tally),
    escapement_attempts_total: only(tally.attempts),
    escapement_run_duration_seconds: tally.duration,
    escapement_run_lateness_seconds: tally.lateness,
    escapement_skips_total: samplesByKey('reason', skips),
    escapement_task_overlap_skipped_total: only(sumOf(skips, ['overlap', 'overlap_limit'])),
    escapement_concurrency_skipped_total: only(sumOf(skips, ['concurrency', 'queue_full'])),
    escapement_misfires_total: samplesByKey('outcome', tally.misfires),
    escapement_retries_total: samplesByKey('error_code', retries),
    escapement_task_failure_retry_total: only(sumOf(retries, Object.keys(retries)) + tally.failureRetries),
    escapement_task_timeout_total: only(tally.timeouts),
    escapement_refusals_total: samplesByKey('code', tally.refusals),
    escapement_deliveries_total: samplesByKey('outcome', tally.deliveries, DELIVERY_OUTCOMES),
    escapement_heartbeats_total: samplesByKey('outcome', tally.heartbeats, COUNTED_HEARTBEATS),
    escapement_probes_total: samplesByKey('answer', tally.probes, PROBE_ANSWERS),
    escapement_scan_duration_seconds: tally.scans,
    escapement_turns_total: only(tally.transactions),
  }
}

type DeploymentSamples = Pick<
  Samples,
  | 'escapement_schedules'
  | 'escapement_pending_runs'
  | 'escapement_callbacks_pending'
  | 'escapement_alerts_open'
  | 'escapement_nodes'
  | 'escapement_counted_age_seconds'
>

/** Metrics without a value are left out, because 0 would be wrong. */
async function deploymentSamples({ counts }: Sources): Promise<DeploymentSamples> {
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
    escapement_schedules: samplesByKey('state', schedules, SCHEDULE_STATES),
    escapement_pending_runs: samplesByKey('state', pending, RUN_STATES.filter(isPending)),
    escapement_callbacks_pending: only(pending.awaiting_callback ?? 0),
    escapement_alerts_open: samplesByKey('kind', alerts, ALERT_KINDS),
    escapement_nodes: samplesByKey('state', states),
    escapement_counted_age_seconds: only(found.ageMs / 1_000),
  }
}

/** Limits on the number of label values, because callers choose the names and each is a time series. */
const MAX_LANES = 50
const MAX_AGENTS = 50
const MAX_PROVIDERS = 50

type WorkSamples = Pick<
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

function workSamples({ lanes, held, largestOrg, agents, providers }: Sources): WorkSamples {
  const shown = lanes().slice(0, MAX_LANES)
  const ofLanes = (valueOf: (lane: (typeof shown)[number]) => number): readonly Sample[] =>
    shown.map((lane) => ({ labels: { lane: lane.name }, value: valueOf(lane) }))
  const busy = busiest(agents())
  const ofAgents = (valueOf: (work: AgentLoad) => number): readonly Sample[] =>
    busy.map((work) => ({ labels: { org: work.orgId, agent: work.agentId }, value: valueOf(work) }))
  const called = providers().slice(0, MAX_PROVIDERS)
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

const loadOf = ({ queued, inFlight }: AgentLoad): number => queued + inFlight

/** The busiest agents by name, and the sum of all others, so that the total is right. */
function busiest(all: readonly AgentLoad[]): readonly AgentLoad[] {
  const sorted = all.toSorted((a, b) => loadOf(b) - loadOf(a) || (a.agentId < b.agentId ? -1 : 1))
  const others = { orgId: '', agentId: '', queued: 0, inFlight: 0 }
  for (const { queued, inFlight } of sorted.slice(MAX_AGENTS)) {
    others.queued += queued
    others.inFlight += inFlight
  }
  return [...sorted.slice(0, MAX_AGENTS), others]
}

const connections = ({ pool, open, idle }: PoolUse): readonly Sample[] => [
  { labels: { pool, state: 'busy' }, value: open - idle },
  { labels: { pool, state: 'idle' }, value: idle },
]

/** Collects all samples. */
export async function collect(sources: Sources): Promise<Samples> {
  const { tally } = sources
  const pools = sources.pools()
  const use = sources.process()
  const scanned = tally.scannedAt
  return {
    ...counterSamples(tally),
    ...(await deploymentSamples(sources)),
    ...workSamples(sources),
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

/** The queued and active runs of an agent, from the memory of this node. */
export interface AgentLoad {
  readonly orgId: string
  readonly agentId: string
  readonly queued: number
  readonly inFlight: number
}

/** The usage of a provider, from the memory of this node. */
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

/** Resource usage of the process. */
export interface ProcessUse {
  readonly cpuSeconds: number
  readonly residentBytes: number
  readonly startedAtSeconds: number
  readonly heapBytes: number
  readonly eventLoopUtilization: number
}

/** The sources of the metrics; all but the tally are read when metrics are requested. */
export interface Sources {
  readonly tally: Tally
  readonly version: string
  readonly nodeId: () => string
  /** The lanes with the runs of every org on all nodes. */
  readonly lanes: () => readonly LaneView[]
  /** Slots of a lane used by attempts of this node. */
  readonly held: (lane: string) => number
  /** Slots of a lane on this node used by the org that uses the most. */
  readonly largestOrg: (lane: string) => number
  readonly agents: () => readonly AgentLoad[]
  readonly providers: () => readonly ProviderUse[]
  readonly pools: () => readonly PoolUse[]
  /** Whether the unprefixed names are exposed as well. */
  readonly showsUnprefixed: () => boolean
  readonly isDraining: () => boolean
  readonly isDatabaseUp: () => boolean
  readonly process: () => ProcessUse
  /** Null if they could not be counted in time. */
  readonly counts: () => Promise<{ readonly value: DeploymentCounts; readonly ageMs: number } | null>
  /** Milliseconds of a monotonic clock. */
  readonly counter: () => number
}
