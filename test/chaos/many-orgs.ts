import { openApp } from '../../src/app.ts'
import { Refusal } from '../../src/api/refusals.ts'
import { agentId, orgId as toOrgId } from '../../src/domain/ids.ts'
import type { Escapement, LogEntry, Settings } from '../../src/library/escapement.ts'
import type { Executor } from '../../src/executors/executor.ts'
import { inProcess, type Handler } from '../../src/executors/in-process/execute.ts'
import { createWaiters, type Running, runningOf } from '../../src/library/running.ts'
import { stopApp } from '../../src/library/stop.ts'
import { surfaceOf } from '../../src/library/surface.ts'
import { DEFAULT_SETTINGS, parseSettings } from '../../src/features/config/settings.ts'
import { WINDOW } from './world.ts'

// The library speaks for one org. A node works for all of them, so here it is put together to be asked for each.

/** What is asked of one org. */
export type OrgDoor = Pick<Escapement, 'agents' | 'schedules' | 'secrets' | 'sessions' | 'tasks'>

/** A node that is asked for many orgs. */
export interface ManyOrgs {
  readonly of: (org: string) => OrgDoor
  readonly nodeId: () => string
  readonly stop: () => Promise<void>
}

export interface ManyOrgsOptions {
  readonly url: string
  readonly settings: Settings
  readonly agents: readonly string[]
  /** Does the work of all agents of all orgs. */
  readonly handler: Handler
  readonly log: (entry: LogEntry) => void
}

/** Opens the database and lets the node go. The orgs and their agents are there already. */
export async function startManyOrgs({ url, settings, agents, handler, log }: ManyOrgsOptions): Promise<ManyOrgs> {
  const read = parseSettings(settings, DEFAULT_SETTINGS)
  if (!read.ok) throw new Error(JSON.stringify(read.flaws))
  const executors = new Map<string, Executor>(agents.map((id) => [`in-process:${id}`, inProcess(handler)]))
  const app = await openApp({
    ...{ database: { url, pool: 6 }, settings: () => read.value, executors, estimate: null, log, window: WINDOW },
  })
  const waiters = createWaiters(app.parts)
  await app.loops.start().catch(async (error: unknown) => {
    await app.close().catch(() => undefined)
    throw error
  })
  let isOver = false
  const runningFor = (org: string): (() => Running) => {
    const running = runningOf(app, {
      ...{ orgId: toOrgId(org), waiters, defaultAgent: () => agentId('helper'), refresh: () => Promise.resolve() },
    })
    return () => {
      if (isOver) throw new Refusal('NOT_STARTED', 'The node has left')
      return running
    }
  }
  const doors = new Map<string, OrgDoor>()
  return {
    of: (org) => {
      const door = doors.get(org) ?? surfaceOf(runningFor(org), () => Promise.resolve())
      doors.set(org, door)
      return door
    },
    nodeId: () => app.parts.id(),
    stop: async () => {
      await stopApp({ app, waiters }).done.finally(() => (isOver = true))
    },
  }
}
