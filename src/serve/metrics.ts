import { performance } from 'node:perf_hooks'
import type { App } from '../app.ts'
import type { LaneName } from '../domain/ids.ts'
import { SECOND_MS } from '../domain/instant.ts'
import type { MetricsPort } from '../http/context.ts'
import { showMetrics, type Counting } from '../server/metrics/metrics.ts'
import { createSeldom } from '../metrics/seldom.ts'
import type { AgentWork, ProcessUse, ProviderUse, Sources } from '../server/metrics/samples.ts'
import { hasOneOrg, readDeploymentCounts } from '../service/deployment-counts.ts'
import type { Configuration } from './configuration.ts'
import { isLoopback } from './loopback.ts'

export interface MetricsContext {
  readonly app: App
  readonly configuration: Configuration
  readonly version: string
  readonly counter: () => number
  readonly counting: Counting
}

/** Counting takes at most a hundredth of the time, and is as fresh as five seconds where it is quick. */
const SELDOM = { leastMs: 5_000, share: 0.01, patienceMs: 2_000 }

/** What there is to see of a node that serves. */
export function metricsPort(ctx: MetricsContext): MetricsPort {
  const { app, counter } = ctx
  const counts = createSeldom(() => readDeploymentCounts(app.ports), { ...SELDOM, counter })
  const alone = createSeldom(() => hasOneOrg(app.ports), { ...SELDOM, counter })
  const sources = sourcesOf(ctx, counts.read)
  return {
    show: () => showMetrics(sources),
    isPrivate: async () => isUnreachable(ctx.configuration) && (await alone.read())?.value === true,
    refused: ctx.counting.refused,
  }
}

/** A loopback address behind a name that others reach it by is not private: somebody passes requests on. */
function isUnreachable({ keeper }: Configuration): boolean {
  const { host, public_url: publicUrl, allowed_hosts: allowed } = keeper.current().config.server
  return isLoopback(host) && publicUrl === null && allowed.length === 0
}

function sourcesOf(
  { app, configuration, version, counter, counting }: MetricsContext,
  counts: Sources['counts'],
): Sources {
  const { parts, work } = app
  return {
    ...{ tally: counting.tally, version, counts, counter, nodeId: parts.id, process: createProcessUse() },
    lanes: () => work.lanes(null),
    held: (lane) => parts.lanes.heldIn(lane as LaneName),
    largestOrg: (lane) => parts.lanes.largestOrgIn(lane as LaneName)?.held ?? 0,
    agents: () => agentsOf(app),
    providers: () => providersOf(app),
    pools: app.pools,
    showsUnprefixed: () => configuration.keeper.current().config.metrics.unprefixed_names,
    isDraining: () => parts.state.draining,
    isDatabaseUp: () => parts.health.awaySince() === null,
  }
}

function agentsOf({ parts, work }: App): readonly AgentWork[] {
  return [...parts.offices.keys()].flatMap((orgId) =>
    (work.workOf(orgId)?.agents ?? []).map(({ id, queued, active }) => ({
      ...{ orgId, agentId: id, queued, inFlight: active },
    })),
  )
}

function providersOf({ parts, work, ports }: App): readonly ProviderUse[] {
  const now = ports.clock.now()
  return [...parts.offices.keys()].flatMap((orgId) =>
    work.providersOf(orgId).map(({ load, inFlight, waiting }) => ({
      ...{ orgId, provider: load.name, waiting, inFlight },
      closedSeconds: Math.max(0, (load.until ?? now) - now) / SECOND_MS,
    })),
  )
}

const MICROS = 1_000_000

function createProcessUse(): () => ProcessUse {
  let before = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, before)
    before = now
    const { user, system } = process.cpuUsage()
    const { rss, heapUsed } = process.memoryUsage()
    return {
      cpuSeconds: (user + system) / MICROS,
      residentBytes: rss,
      startedAtSeconds: performance.timeOrigin / 1_000,
      heapBytes: heapUsed,
      eventLoopUtilization: utilization,
    }
  }
}
