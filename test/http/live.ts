import { openApp, type App } from '../../src/app.ts'
import { agentId } from '../../src/core/ids.ts'
import { echo } from '../../src/executors/echo.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { inProcess, type Handler } from '../../src/executors/in-process.ts'
import { stopApp } from '../../src/library/stop.ts'
import { createWaiters, type Waiters } from '../../src/library/waiters.ts'
import { ensureAgents } from '../../src/service/first-start.ts'
import { DEFAULT_SETTINGS } from '../../src/service/settings.ts'
import { urlOf } from '../scenarios/url.ts'
import { ORG } from '../store/records.ts'
import { createTestDatabase } from '../support/database.ts'
import { createHttpWorld, type HttpWorld } from './support.ts'

/** The HTTP side of a node whose engine runs. */
export interface LiveWorld extends Pick<HttpWorld, 'ask' | 'change' | 'app'> {
  readonly engine: App
  readonly waiters: Waiters
  readonly close: () => Promise<void>
}

/** Starts a node with functions as agents of `acme`; the first is the one that is woken when nobody is named. */
export async function createLiveWorld(agents: Readonly<Record<string, Handler>>): Promise<LiveWorld> {
  const world = await createHttpWorld()
  const database = await createTestDatabase()
  const executors = new Map<string, Executor>([['echo', echo]])
  for (const [id, handler] of Object.entries(agents)) executors.set(`in-process:${id}`, inProcess(handler))
  const engine = await openApp({
    database: { url: urlOf(database.target) },
    ...{ settings: () => DEFAULT_SETTINGS, executors, estimate: null, log: () => undefined },
  })
  const first = agentId(await ensureAgents(engine.ports, ORG, Object.keys(agents).map(agentId)))
  const waiters = createWaiters(engine.parts)
  await engine.loops.start()
  world.change({
    ...{ ports: engine.ports, live: engine.live, ended: waiters.ended, defaultAgent: () => first },
    isDraining: () => engine.parts.state.draining,
  })
  return {
    ...{ ask: world.ask, change: world.change, app: world.app, engine, waiters },
    close: async () => {
      const stopping = stopApp({ app: engine, waiters })
      stopping.hurry()
      await stopping.done
      await world.close()
      await database.drop()
    },
  }
}
