import { performance } from 'node:perf_hooks'
import type { App } from '../app.ts'
import type { AgentId, LaneName, OrgId } from '../domain/ids.ts'
import { SECOND_MS } from '../domain/instant.ts'
import { createAuthentication } from '../features/access/authentication.ts'
import { csrfTokenOf } from '../features/access/console-sessions.ts'
import { defaultAgentOf } from '../features/access/first-start.ts'
import { hasOneOrg, readDeploymentCounts } from '../features/stats/service.ts'
import { operationContext } from '../library/executors.ts'
import { healthOf, type Waiters } from '../library/running.ts'
import { camelCaseSettings } from '../platform/config/in-code.ts'
import { type Config, CONFIG_KEYS } from '../platform/config/keys.ts'
import { withoutBrackets, isLoopback, listenError, reachable } from './address.ts'
import type { Configuration } from './configuration.ts'
import { createEventStreams } from '../server/events/streams.ts'
import type { HttpContext, HttpSettings, MetricsPort } from '../server/http/context.ts'
import type { SlotLimits } from '../server/http/limited.ts'
import { createHttpServer } from '../server/http/server.ts'
import { type NodeMetrics, showMetrics } from '../server/metrics/metrics.ts'
import {
  type AgentLoad,
  createCachedValue,
  type ProcessUse,
  type ProviderUse,
  type Sources,
} from '../server/metrics/samples.ts'

interface MetricsContext {
  readonly app: App
  readonly configuration: Configuration
  readonly version: string
  readonly counter: () => number
  readonly counting: NodeMetrics
}

/** Counts are refreshed every 5 s, or less often so that counting takes at most 1 % of the time. */
const COUNT_REFRESH = { minIntervalMs: 5_000, maxShare: 0.01, firstWaitMs: 2_000 }

/** The metrics of a node. */
function metricsPort(ctx: MetricsContext): MetricsPort {
  const { app, counter } = ctx
  const counts = createCachedValue(() => readDeploymentCounts(app.ports), { ...COUNT_REFRESH, counter })
  const singleOrg = createCachedValue(() => hasOneOrg(app.ports), { ...COUNT_REFRESH, counter })
  const sources = sourcesOf(ctx, counts.read)
  return {
    render: () => showMetrics(sources),
    isPrivate: async () => isUnreachable(ctx.configuration) && (await singleOrg.read())?.value === true,
    countRefusal: ctx.counting.countRefusal,
  }
}

/** Whether only this machine can reach the server; with a public name, a proxy may forward requests. */
function isUnreachable({ live }: Configuration): boolean {
  const { host, public_url: publicUrl, allowed_hosts: allowed } = live.current().config.server
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
    showsUnprefixed: () => configuration.live.current().config.metrics.unprefixed_names,
    isDraining: () => parts.state.draining,
    isDatabaseUp: () => parts.health.awaySince() === null,
  }
}

function agentsOf({ parts, work }: App): readonly AgentLoad[] {
  return [...parts.actors.keys()].flatMap((orgId) =>
    (work.workOf(orgId)?.agents ?? []).map(({ id, queued, active }) => ({
      ...{ orgId, agentId: id, queued, inFlight: active },
    })),
  )
}

function providersOf({ parts, work, ports }: App): readonly ProviderUse[] {
  const now = ports.clock.now()
  return [...parts.actors.keys()].flatMap((orgId) =>
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

/** A listening HTTP server. */
export interface HttpEndpoint {
  readonly url: string
  /** The URL for programs on this machine. */
  readonly localUrl: string
  /** Stops accepting connections, and gives active requests a short time to end. */
  readonly close: () => Promise<void>
}

export interface EndpointContext {
  readonly app: App
  readonly configuration: Configuration
  readonly version: string
  readonly log: HttpContext['log']
  /** Whether the node accepts new work; false while starting and draining. */
  readonly isOpen: () => boolean
  readonly refresh: () => Promise<void>
  readonly waiters: Pick<Waiters, 'ended'>
  readonly counter: () => number
  readonly counting: NodeMetrics
}

/** How long active requests may take when the server closes. */
const CLOSE_GRACE_MS = 2_000

/** Starts listening. Throws `StartRefused` if the address is not available. */
export async function openEndpoint(ctx: EndpointContext): Promise<HttpEndpoint> {
  const { server } = ctx.configuration.live.current().config
  const http = createHttpServer(httpContext(ctx))
  try {
    await http.listen({ host: withoutBrackets(server.host), port: server.port })
  } catch (error) {
    await http.close().catch(() => undefined)
    throw listenError(error as NodeJS.ErrnoException, server)
  }
  const address = http.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : server.port
  const localUrl = `http://${reachable(server.host)}:${port}`
  return {
    url: server.public_url ?? localUrl,
    localUrl,
    close: async () => {
      const timer = setTimeout(() => {
        http.server.closeAllConnections()
      }, CLOSE_GRACE_MS)
      await http.close().finally(() => {
        clearTimeout(timer)
      })
    },
  }
}

function httpContext(ctx: EndpointContext): HttpContext {
  const { app, configuration, isOpen } = ctx
  const { parts, ports, work } = app
  const authentication = createAuthentication(ports)
  const agents = cacheDefaultAgents(app)
  const access = createAccessListeners()
  const settings = httpSettings(configuration)
  const events = createEventStreams({
    ...{ ports, work, limit: () => maxStreams(settings()) },
    cutOff: (orgId, why) => {
      ctx.log({
        level: 'info',
        message: 'Closed an event stream because its reader is too slow',
        facts: { org: orgId, why },
      })
    },
    failed: (error) => {
      ctx.log({ level: 'warn', message: 'Events could not be read; clients will reconnect', facts: errorFacts(error) })
    },
  })
  parts.listeners.add((orgId, transaction) => {
    authentication.onEvents(transaction.events)
    agents.hear(transaction.events)
    events.publish(orgId, transaction)
    access.hear(orgId, transaction.events)
  })
  return {
    ...operationContext(app, {
      ...{ version: ctx.version, log: ctx.log, ended: ctx.waiters.ended, defaultAgent: agents.find },
      config: {
        view: () => ({ file: configuration.file?.path ?? null, values: configuration.live.view() }),
        refresh: ctx.refresh,
      },
      health: () => {
        const health = healthOf(parts)
        return isOpen() ? health : { ...health, ready: false }
      },
      isDraining: () => !isOpen() || parts.state.draining,
    }),
    ...{ settings, events, counter: ctx.counter },
    authenticate: authentication.authenticate,
    consoleSession: async (cookie) => {
      const found = await authentication.consoleSession(cookie)
      return found === null ? null : { principal: found.principal, csrfToken: csrfTokenOf(cookie) }
    },
    forgetSession: authentication.forget,
    metrics: metricsPort(ctx),
    traceSubmission: app.tracing.traceSubmission,
    onAccessChange: access.listen,
    hasManyOrgs: () => parts.state.hasManyOrgs,
    queriesPerOrg: Math.max(2, Math.floor(configuration.live.current().config.database.pool / 4)),
  }
}

/** Events that may change permissions. */
const CHANGES_ACCESS: ReadonlySet<string> = new Set(['key.changed', 'member.changed', 'org.changed'])

/** Listeners for permission changes; events are ignored while there are none. */
function createAccessListeners(): {
  readonly listen: HttpContext['onAccessChange']
  readonly hear: (orgId: OrgId, events: readonly (readonly [kind: string, ...rest: unknown[]])[]) => void
} {
  const listeners = new Set<(orgId: OrgId) => void>()
  return {
    listen: (hear) => {
      listeners.add(hear)
      return () => void listeners.delete(hear)
    },
    hear: (orgId, events) => {
      if (listeners.size === 0 || !events.some(([kind]) => CHANGES_ACCESS.has(kind))) return
      for (const hear of [...listeners]) hear(orgId)
    },
  }
}

const errorFacts = (error: unknown): Readonly<Record<string, unknown>> => ({
  error: error instanceof Error ? error.message : String(error),
})

const maxStreams = ({ limits }: HttpSettings): SlotLimits => ({ all: limits.streams, perOrg: limits.streamsPerOrg })

/** The HTTP settings, cached until the configuration changes. */
function httpSettings({ live }: Configuration): () => HttpSettings {
  let of: Config | null = null
  let cachedSettings: HttpSettings | null = null
  return () => {
    const { config, values } = live.current()
    if (cachedSettings === null || config !== of) {
      const { server, tasks } = config
      const isStated = (path: string): boolean => values.get(path)?.source !== 'default'
      cachedSettings = {
        ...camelCaseSettings(CONFIG_KEYS.server, server),
        ratePerSecond: isStated('server.rate_limit.per_second') ? server.rate_limit.per_second : null,
        rateBurst: isStated('server.rate_limit.burst') ? server.rate_limit.burst : null,
        tasksEnabled: tasks.enabled,
      }
      of = config
    }
    return cachedSettings
  }
}

/** Caches the default agents of orgs, which messages without an agent need, until an org or agent changes. */
function cacheDefaultAgents({ ports }: App): {
  readonly find: (orgId: OrgId) => AgentId | null | Promise<AgentId | null>
  readonly hear: (events: Iterable<readonly [kind: string, ...rest: unknown[]]>) => void
} {
  const known = new Map<OrgId, AgentId>()
  return {
    find: (orgId) => {
      const found = known.get(orgId)
      if (found !== undefined) return found
      return defaultAgentOf(ports, orgId).then((agent) => {
        if (agent !== null) known.set(orgId, agent)
        return agent
      })
    },
    hear: (events) => {
      for (const [kind] of events) if (kind === 'org.changed' || kind === 'agent.changed') known.clear()
    },
  }
}
