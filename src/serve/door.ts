import type { App } from '../app.ts'
import { inCode } from '../platform/config/in-code.ts'
import { CONFIG_KEYS, type Config } from '../platform/config/keys.ts'
import type { AgentId, OrgId } from '../domain/ids.ts'
import type { HttpContext, HttpSettings } from '../http/context.ts'
import { createEventStreams } from '../http/events/streams.ts'
import type { MostPlaces } from '../http/places.ts'
import { createHttpServer } from '../server/http/server.ts'
import { operationContext } from '../library/context.ts'
import { healthOf } from '../library/health.ts'
import type { Waiters } from '../library/waiters.ts'
import type { Counting } from '../server/metrics/metrics.ts'
import { createAuthentication } from '../service/authentication.ts'
import { csrfTokenOf } from '../features/access/console-sessions.ts'
import { defaultAgentOf } from '../features/access/first-start.ts'
import { notListening } from './address.ts'
import type { Configuration } from './configuration.ts'
import { bare, reachable } from './loopback.ts'
import { metricsPort } from './metrics.ts'

/** The way in: an address that is listened on. */
export interface Door {
  readonly url: string
  /** Where programs on this machine reach it, whatever it is called from outside. */
  readonly localUrl: string
  /** Lets nobody in any more, and those who are in a moment to end. */
  readonly close: () => Promise<void>
}

export interface DoorContext {
  readonly app: App
  readonly configuration: Configuration
  readonly version: string
  readonly log: HttpContext['log']
  /** Until then, and while the node goes down, there is no new work. */
  readonly isOpen: () => boolean
  readonly refresh: () => Promise<void>
  readonly waiters: Pick<Waiters, 'ended'>
  readonly counter: () => number
  readonly counting: Counting
}

/** How long whoever is being answered has when the door closes. */
const LAST_ANSWERS_MS = 2_000

/** Listens. Refused with a sentence when the address cannot be had. */
export async function openDoor(ctx: DoorContext): Promise<Door> {
  const { server } = ctx.configuration.keeper.current().config
  const http = createHttpServer(httpContext(ctx))
  try {
    await http.listen({ host: bare(server.host), port: server.port })
  } catch (error) {
    await http.close().catch(() => undefined)
    throw notListening(error as NodeJS.ErrnoException, server)
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
      }, LAST_ANSWERS_MS)
      await http.close().finally(() => {
        clearTimeout(timer)
      })
    },
  }
}

function httpContext(ctx: DoorContext): HttpContext {
  const { app, configuration, isOpen } = ctx
  const { parts, ports, work } = app
  const authentication = createAuthentication(ports)
  const agents = rememberDefaultAgents(app)
  const access = createAccessHearers()
  const settings = httpSettings(configuration)
  const events = createEventStreams({
    ...{ ports, work, most: () => mostStreams(settings()) },
    cutOff: (orgId, why) => {
      ctx.log({ level: 'info', message: 'A stream was ended: its reader took too little', facts: { org: orgId, why } })
    },
    failed: (error) => {
      ctx.log({ level: 'warn', message: 'Events could not be read; those who listen come back', facts: factsOf(error) })
    },
  })
  parts.hearers.add((orgId, turn) => {
    authentication.hear(turn.events)
    agents.hear(turn.events)
    events.hear(orgId, turn)
    access.hear(orgId, turn.events)
  })
  return {
    ...operationContext(app, {
      ...{ version: ctx.version, log: ctx.log, ended: ctx.waiters.ended, defaultAgent: agents.find },
      config: {
        view: () => ({ file: configuration.file?.path ?? null, values: configuration.keeper.view() }),
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
    admit: app.tracing.admit,
    hearAccess: access.listen,
    hasManyOrgs: () => parts.state.hasManyOrgs,
    queriesPerOrg: Math.max(2, Math.floor(configuration.keeper.current().config.database.pool / 4)),
  }
}

/** What changes who may do what. */
const CHANGES_ACCESS: ReadonlySet<string> = new Set(['key.changed', 'member.changed', 'org.changed'])

/** Those who have to know when somebody may do less than before. While there are none, nobody looks. */
function createAccessHearers(): {
  readonly listen: HttpContext['hearAccess']
  readonly hear: (orgId: OrgId, events: readonly (readonly [kind: string, ...rest: unknown[]])[]) => void
} {
  const hearers = new Set<(orgId: OrgId) => void>()
  return {
    listen: (hear) => {
      hearers.add(hear)
      return () => void hearers.delete(hear)
    },
    hear: (orgId, events) => {
      if (hearers.size === 0 || !events.some(([kind]) => CHANGES_ACCESS.has(kind))) return
      for (const hear of [...hearers]) hear(orgId)
    },
  }
}

const factsOf = (error: unknown): Readonly<Record<string, unknown>> => ({
  error: error instanceof Error ? error.message : String(error),
})

const mostStreams = ({ limits }: HttpSettings): MostPlaces => ({ all: limits.streams, perOrg: limits.streamsPerOrg })

/** What the door needs of the configuration; the same object for as long as it is the same configuration. */
function httpSettings({ keeper }: Configuration): () => HttpSettings {
  let of: Config | null = null
  let made: HttpSettings | null = null
  return () => {
    const { config, values } = keeper.current()
    if (made === null || config !== of) {
      const { server, tasks } = config
      const isStated = (path: string): boolean => values.get(path)?.source !== 'default'
      made = {
        ...inCode(CONFIG_KEYS.server, server),
        ratePerSecond: isStated('server.rate_limit.per_second') ? server.rate_limit.per_second : null,
        rateBurst: isStated('server.rate_limit.burst') ? server.rate_limit.burst : null,
        tasksEnabled: tasks.enabled,
      }
      of = config
    }
    return made
  }
}

/** Asked with every message that names nobody, and changed hardly ever: remembered until something is said about orgs. */
function rememberDefaultAgents({ ports }: App): {
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
