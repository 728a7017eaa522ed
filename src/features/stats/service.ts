import { invalid } from '../../api/refusals.ts'
import type { AlertKind } from '../../domain/alerts.ts'
import { fromMicros } from '../../domain/budget/budget.ts'
import type { OrgId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { DAY_MS, earlier, formatInstant, HOUR_MS, instant, type Instant, parseInstant } from '../../domain/instant.ts'
import { type CountsByKey, type EndedCounts, percentile } from '../../domain/run/ended-counts.ts'
import type { PendingState } from '../../domain/run/run-machine.ts'
import type { ScheduleState } from '../../domain/schedule/lifecycle.ts'
import { knownWork, type LiveWork } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import type { NodeView } from '../nodes/schema.ts'
import { findNodes } from '../nodes/service.ts'
import type { ProviderView } from '../providers/schema.ts'
import { findProviders } from '../providers/service.ts'
import type {
  ProviderWork,
  SeriesFilter,
  SeriesPoint,
  SeriesStep,
  Spread,
  StatsFilter,
  StatsSeries,
  StatsView,
} from './schema.ts'
import {
  addUpTransactions,
  countAllPending,
  countAllSchedules,
  countOpenAlerts,
  countSchedulesByState,
  hasManyOrgs,
  insertCountPosition,
  loadCounts,
  loadCountSteps,
} from './store.ts'
import type { Connection } from '../../platform/db/database.ts'

/** Counts of the whole deployment, from the database. */
export interface DeploymentCounts {
  readonly schedules: Readonly<Partial<Record<ScheduleState, number>>>
  readonly pending: Readonly<Partial<Record<PendingState, number>>>
  /** Open alerts by kind. */
  readonly alerts: Readonly<Partial<Record<AlertKind, number>>>
  readonly nodes: readonly NodeView[]
}

/** Counts the whole deployment. Scans all schedules and pending runs, so do not call it for every request. */
export async function readDeploymentCounts(ports: Pick<Ports, 'database' | 'clock'>): Promise<DeploymentCounts> {
  // In sequence, so that a metrics scrape uses one connection at a time.
  const schedules = await countAllSchedules(ports.database)
  const pending = await countAllPending(ports.database)
  const alerts = await countOpenAlerts(ports.database)
  return { schedules, pending, alerts, nodes: await findNodes(ports) }
}

/** Whether the deployment has exactly one org. */
export const hasOneOrg = async ({ database }: Pick<Ports, 'database'>): Promise<boolean> =>
  !(await hasManyOrgs(database))

/** Transactions per statement: few enough to finish within milliseconds. */
const RUN_COUNT_BATCH_SIZE = 1_000

/** Adds the transactions of an org that are not counted yet to its run counts. */
export async function updateRunCounts(connection: Connection, orgId: OrgId): Promise<void> {
  for (;;) {
    const transactions = await addUpTransactions(connection, { orgId, limit: RUN_COUNT_BATCH_SIZE })
    if (transactions === null) await insertCountPosition(connection, orgId)
    else if (transactions < RUN_COUNT_BATCH_SIZE) return
  }
}

type StatsPorts = Pick<Ports, 'database' | 'clock'> & { readonly work: Pick<LiveWork, 'workOf' | 'lanes'> }

/** Statistics of the runs of an org over whole hours, and its pending runs. */
export async function readStats(
  { database, clock, work: live }: StatsPorts,
  { orgId }: Pick<Caller, 'orgId'>,
  filter: StatsFilter = {},
): Promise<StatsView> {
  const { from, to } = extendToWholeSteps(parseStatsRange(filter, clock.now()), HOUR_MS)
  await updateRunCounts(database, orgId)
  const [counts, schedules, work, providers] = await Promise.all([
    loadCounts(database, { orgId, from, to }),
    countSchedulesByState(database, orgId),
    knownWork({ database, work: live }, orgId),
    findProviders({ database, clock, work: live }, { orgId }),
  ])
  const { waiting, queued, active, agents } = work
  return {
    ...{ org_id: orgId, from: formatInstant(from), to: formatInstant(to), runs: viewEndedCounts(counts) },
    ...{ pending: { waiting, queued, active }, schedules, lanes: live.lanes(orgId) },
    agents: agents
      .toSorted((a, b) => b.queued + b.active - (a.queued + a.active) || (a.id < b.id ? -1 : 1))
      .slice(0, MAX_STATS_AGENTS)
      .map((agent) => ({ agent_id: agent.id, queued: agent.queued, active: agent.active })),
    providers: providers.map(providerWorkOf),
    probes: viewProbes(counts.probe ?? {}),
  }
}

const viewProbes = ({ yes = 0, no = 0, error = 0 }: CountsByKey): StatsView['probes'] => ({
  ...{ asked: yes + no + error, saved: no, errors: error },
})

const MAX_STATS_AGENTS = 100

const providerWorkOf = (provider: ProviderView): ProviderWork => ({
  provider: provider.name,
  ...{ waiting: provider.waiting, in_flight: provider.in_flight },
  ...{ requests_left: provider.requests_left, tokens_left: provider.tokens_left },
  closed_until: provider.closed?.until ?? null,
})

/** A time range. */
interface StatsRange {
  readonly from: Instant
  readonly to: Instant
}

/** Parses a range. Default: the 24 hours before `to`, and `to` is now. */
export function parseStatsRange(filter: StatsFilter, now: Instant): StatsRange {
  const { flaws, keep } = collectFlaws()
  const to = filter.to === undefined ? now : keep(parseInstant('to', filter.to))
  const from = filter.from === undefined ? null : keep(parseInstant('from', filter.from))
  if (flaws.length > 0 || to === null) throw invalid(flaws)
  const start = from ?? earlier(to, DAY_MS)
  if (start >= to)
    throw invalid([
      {
        ...{ field: from === null ? 'to' : 'from', value: formatInstant(start), message: 'is not before the end' },
        allowed: `a time before ${formatInstant(to)}`,
      },
    ])
  return { from: start, to }
}

/** Extends a range to whole steps. */
const extendToWholeSteps = ({ from, to }: StatsRange, stepMs: number): StatsRange => ({
  from: instant(Math.floor(from / stepMs) * stepMs),
  to: instant(Math.ceil(to / stepMs) * stepMs),
})

function viewEndedCounts({ status, duration, lateness }: EndedCounts): StatsView['runs'] {
  const of = (state: string): number => status[state] ?? 0
  const ended = of('success') + of('failed') + of('timeout') + of('cancelled')
  const share = { success: of('success') / ended, failed: of('failed') / ended, timeout: of('timeout') / ended }
  return {
    ...{ ended, by_status: status, share: ended === 0 ? null : share },
    ...{ duration_ms: spreadOf(duration), lateness_ms: spreadOf(lateness) },
  }
}

function spreadOf(steps: CountsByKey): Spread | null {
  const [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1].map((share) => percentile(steps, share) ?? undefined)
  if (p50 === undefined || p95 === undefined || p99 === undefined || max === undefined) return null
  return { p50, p95, p99, max }
}

const STEP_MS: Readonly<Record<SeriesStep, number>> = { hour: HOUR_MS, day: DAY_MS }
const MAX_SERIES_POINTS = 200

/** Statistics of the runs of an org per step. The cost does not depend on the number of runs. */
export async function readSeries(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  { orgId }: Pick<Caller, 'orgId'>,
  filter: SeriesFilter = {},
): Promise<StatsSeries> {
  const step = filter.step ?? 'hour'
  const { from, to } = extendToWholeSteps(parseStatsRange(filter, clock.now()), STEP_MS[step])
  refuseTooManySteps({ from, to }, filter, step)
  await updateRunCounts(database, orgId)
  const counted = await loadCountSteps(database, { orgId, from, to, step })
  const points = Array.from({ length: (to - from) / STEP_MS[step] }, (_, index) => {
    const at = instant(from + index * STEP_MS[step])
    return pointOf(at, counted.get(at) ?? NO_ENDED_COUNTS)
  })
  return { org_id: orgId, from: formatInstant(from), to: formatInstant(to), step, points }
}

const NO_ENDED_COUNTS: EndedCounts = { status: {}, duration: {}, lateness: {} }

function refuseTooManySteps({ from, to }: StatsRange, filter: SeriesFilter, step: SeriesStep): void {
  const steps = (to - from) / STEP_MS[step]
  if (steps <= MAX_SERIES_POINTS) return
  const earliest = formatInstant(instant(to - MAX_SERIES_POINTS * STEP_MS[step]))
  throw invalid([
    {
      ...{ field: 'from', value: filter.from, message: `is ${steps} steps before the end` },
      allowed: `at most ${MAX_SERIES_POINTS} steps: ${earliest} or later${step === 'hour' ? ', or step=day' : ''}`,
    },
  ])
}

const pointOf = (at: Instant, { status, duration, lateness, usage = {} }: EndedCounts): SeriesPoint => ({
  ...{ at: formatInstant(at), by_status: status },
  ...{ duration_p95_ms: percentile(duration, 0.95), lateness_p99_ms: percentile(lateness, 0.99) },
  ...{ tokens: usage['tokens'] ?? 0, cost: fromMicros(usage['money'] ?? 0) },
})
