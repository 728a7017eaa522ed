import type { ProviderView } from '../features/providers/schema.ts'
import type { ProviderWork, Spread, StatsFilter, StatsView } from '../features/stats/schema.ts'
import { invalid } from '../api/refusals.ts'
import type { OrgId } from '../domain/ids.ts'
import { DAY_MS, earlier, formatInstant, HOUR_MS, instant, parseInstant, type Instant } from '../domain/instant.ts'
import { percentile, type Counts, type EndedCounts } from '../core/run/ended-counts.ts'
import type { Connection } from '../store/database.ts'
import { addUpTurns, countSchedulesByState, insertCountPlace, loadCounts } from '../features/stats/store.ts'
import type { Caller } from './caller.ts'
import { collectFlaws } from '../domain/input-fields.ts'
import { knownWork } from './known-work.ts'
import type { LiveWork } from './live-port.ts'
import type { Ports } from './ports.ts'
import { findProviders } from '../features/providers/service.ts'

/** Turns per statement: few enough to be done in milliseconds. */
const BATCH = 1_000

/** Adds up everything that has happened in an org and has not been added up yet. */
export async function addUp(connection: Connection, orgId: OrgId): Promise<void> {
  for (;;) {
    const turns = await addUpTurns(connection, { orgId, limit: BATCH })
    if (turns === null) await insertCountPlace(connection, orgId)
    else if (turns < BATCH) return
  }
}

type Reading = Pick<Ports, 'database' | 'clock'> & { readonly work: Pick<LiveWork, 'workOf' | 'lanes'> }

/** How the work of the org went in a stretch of whole hours, and what waits now. */
export async function readStats(
  { database, clock, work: known }: Reading,
  { orgId }: Pick<Caller, 'orgId'>,
  filter: StatsFilter = {},
): Promise<StatsView> {
  const { from, to } = readStretch(filter, clock.now())
  await addUp(database, orgId)
  const [counts, schedules, work, providers] = await Promise.all([
    loadCounts(database, { orgId, from, to }),
    countSchedulesByState(database, orgId),
    knownWork({ database, work: known }, orgId),
    findProviders({ database, clock, work: known }, { orgId }),
  ])
  const { waiting, queued, active, agents } = work
  return {
    ...{ org_id: orgId, from: formatInstant(from), to: formatInstant(to), runs: viewCounts(counts) },
    ...{ pending: { waiting, queued, active }, schedules, lanes: known.lanes(orgId) },
    agents: agents
      .toSorted((a, b) => b.queued + b.active - (a.queued + a.active) || (a.id < b.id ? -1 : 1))
      .slice(0, MOST_AGENTS)
      .map((agent) => ({ agent_id: agent.id, queued: agent.queued, active: agent.active })),
    providers: providers.map(workOfProvider),
    probes: viewProbes(counts.probe ?? {}),
  }
}

const viewProbes = ({ yes = 0, no = 0, error = 0 }: Counts): StatsView['probes'] => ({
  ...{ asked: yes + no + error, saved: no, errors: error },
})

const MOST_AGENTS = 100

const workOfProvider = (provider: ProviderView): ProviderWork => ({
  provider: provider.name,
  ...{ waiting: provider.waiting, in_flight: provider.in_flight },
  ...{ requests_left: provider.requests_left, tokens_left: provider.tokens_left },
  closed_until: provider.closed?.until ?? null,
})

/** From one moment to another. */
export interface Stretch {
  readonly from: Instant
  readonly to: Instant
}

/** The hours that a stretch of time touches. Left out, it ends now, and begins a day before it ends. */
export function readStretch(filter: StatsFilter, now: Instant): Stretch {
  const { flaws, keep } = collectFlaws()
  const to = filter.to === undefined ? now : keep(parseInstant('to', filter.to))
  const from = filter.from === undefined ? null : keep(parseInstant('from', filter.from))
  if (flaws.length > 0 || to === null) throw invalid(flaws)
  const begin = from ?? earlier(to, DAY_MS)
  if (begin >= to)
    throw invalid([
      {
        ...{ field: from === null ? 'to' : 'from', value: formatInstant(begin), message: 'is not before the end' },
        allowed: `a time before ${formatInstant(to)}`,
      },
    ])
  return wholeSteps({ from: begin, to }, HOUR_MS)
}

/** The whole steps that a stretch of time touches. */
export const wholeSteps = ({ from, to }: Stretch, stepMs: number): Stretch => ({
  from: instant(Math.floor(from / stepMs) * stepMs),
  to: instant(Math.ceil(to / stepMs) * stepMs),
})

function viewCounts({ status, duration, lateness }: EndedCounts): StatsView['runs'] {
  const of = (state: string): number => status[state] ?? 0
  const ended = of('success') + of('failed') + of('timeout') + of('cancelled')
  const share = { success: of('success') / ended, failed: of('failed') / ended, timeout: of('timeout') / ended }
  return {
    ...{ ended, by_status: status, share: ended === 0 ? null : share },
    ...{ duration_ms: spreadOf(duration), lateness_ms: spreadOf(lateness) },
  }
}

function spreadOf(steps: Counts): Spread | null {
  const [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1].map((share) => percentile(steps, share) ?? undefined)
  if (p50 === undefined || p95 === undefined || p99 === undefined || max === undefined) return null
  return { p50, p95, p99, max }
}
