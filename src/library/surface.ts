import type { SimulationOptions } from '../client/simulation.ts'
import type { SimulateInput } from '../features/simulation/schema.ts'
import type { Escapement } from './escapement.ts'
import type { Handler } from '../executors/in-process/execute.ts'
import { takeLane } from '../features/lanes/routes.ts'
import { switchHeartbeat } from '../service/heartbeat/heartbeats.ts'
import { getOrCreateLane } from '../service/lanes.ts'
import { ask } from './ask.ts'
import { callsOf } from './calls.ts'
import { requireFunction } from './given.ts'
import type { Running } from './running.ts'
import { waitForRun } from './wait.ts'

type Groups = 'sessions' | 'runs' | 'agents' | 'heartbeat' | 'lanes'
type Surface = ReturnType<typeof callsOf> & Pick<Escapement, Groups | 'simulate'>

/** Every operation as a function, and beside them what only a process can do. */
export function surfaceOf(running: () => Running, register: (id: string, handler: Handler) => Promise<void>): Surface {
  const calls = callsOf(running)
  const send: Escapement['sessions']['send'] = async (key, message, options) => {
    const sent = await calls.sessions.send(key, typeof message === 'string' ? { text: message } : message, options)
    return sent as Awaited<ReturnType<Escapement['sessions']['send']>>
  }
  const turn = async (id: string, enabled: boolean) =>
    switchHeartbeat(running().app.ports, running().caller, { id, enabled })
  return {
    ...calls,
    sessions: { ...calls.sessions, send, ask: async (key, message) => ask(running(), send, { key, message }) },
    runs: { ...calls.runs, wait: async (id, { timeoutMs = null } = {}) => waitForRun(running(), id, timeoutMs) },
    agents: {
      ...calls.agents,
      register: async (id, handler) => {
        requireFunction('handler', handler)
        await register(id, handler)
      },
    },
    heartbeat: { ...calls.heartbeat, enable: (id) => turn(id, true), disable: (id) => turn(id, false) },
    lanes: {
      ...calls.lanes,
      getOrCreate: async (name, concurrency) => {
        const { app, caller, ctx } = running()
        return takeLane(ctx, caller.orgId, await getOrCreateLane(app.ports, caller, { name, concurrency }))
      },
    },
    simulate: (input: SimulateInput, { onProgress: progress, ...options }: SimulationOptions = {}) =>
      calls.schedules.simulate(input, { ...options, progress } as SimulationOptions),
  }
}
