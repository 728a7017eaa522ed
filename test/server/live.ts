import { openApp, type App } from '../../src/app.ts'
import { agentId } from '../../src/domain/ids.ts'
import { echo } from '../../src/executors/registry.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { inProcess, type Handler } from '../../src/executors/in-process/execute.ts'
import { createEventStreams, type EventStreams, type StreamLimits } from '../../src/server/events/streams.ts'
import type { SlotLimits } from '../../src/server/http/limited.ts'
import { stopApp } from '../../src/library/stop.ts'
import { createWaiters, type Waiters } from '../../src/library/running.ts'
import { ensureAgents } from '../../src/features/access/first-start.ts'
import { DEFAULT_SETTINGS, type EngineSettings } from '../../src/features/config/settings.ts'
import { urlOf } from '../scenarios/url.ts'
import { ORG } from '../platform/db/records.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'
import { createHttpWorld, type HttpWorld } from './support.ts'

/** The HTTP side of a node whose engine runs. */
export interface LiveWorld extends Pick<HttpWorld, 'ask' | 'change' | 'app'> {
  readonly engine: App
  readonly waiters: Waiters
  readonly database: TestDatabase
  readonly events: EventStreams
  readonly close: () => Promise<void>
}

export interface LiveOptions {
  /** Another node is on it already, and drops it. */
  readonly database?: TestDatabase
  readonly limits?: Partial<StreamLimits>
  /** How many may listen; left out: as many as come. */
  readonly most?: () => SlotLimits
  /** Those who listen are told of no turn as it happens. */
  readonly deaf?: boolean
  /** Asked again and again, as a server asks what it was told last. */
  readonly settings?: () => EngineSettings
}

/** Starts a node with functions as agents of `acme`; the first is the one that is woken when nobody is named. */
export async function createLiveWorld(
  agents: Readonly<Record<string, Handler>>,
  options: LiveOptions = {},
): Promise<LiveWorld> {
  const world = await createHttpWorld()
  const database = options.database ?? (await createTestDatabase())
  const executors = new Map<string, Executor>([['echo', echo]])
  for (const [id, handler] of Object.entries(agents)) executors.set(`in-process:${id}`, inProcess(handler))
  const engine = await openApp({
    database: { url: urlOf(database.target) },
    ...{ settings: options.settings ?? (() => DEFAULT_SETTINGS), executors, estimate: null, log: () => undefined },
  })
  const first = agentId(await ensureAgents(engine.ports, ORG, Object.keys(agents).map(agentId)))
  const waiters = createWaiters(engine.parts)
  await engine.loops.start()
  const events = createEventStreams({
    ...{ ports: engine.ports, work: engine.work, failed: () => undefined, limits: options.limits ?? {} },
    ...(options.most === undefined ? {} : { limit: options.most }),
  })
  if (options.deaf !== true) engine.parts.listeners.add(events.publish)
  // Requests in process name a host without the port that the server may listen on as well.
  world.set({ allowedHosts: ['localhost'] })
  world.change({
    ...{ ports: engine.ports, live: engine.live, work: engine.work, events },
    ...{ ended: waiters.ended, defaultAgent: () => first },
    isDraining: () => engine.parts.state.draining,
  })
  return {
    ...{ ask: world.ask, change: world.change, app: world.app, engine, waiters, database, events },
    close: async () => {
      const stopping = stopApp({ app: engine, waiters })
      stopping.hurry()
      await stopping.done
      await world.close()
      if (options.database === undefined) await database.drop()
    },
  }
}
