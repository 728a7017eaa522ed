import { heartbeatInput } from '../contract/heartbeat.ts'
import { schemaReader } from '../contract/read-input.ts'
import type { Escapement } from '../escapement.ts'
import {
  findBeats,
  getHeartbeat,
  setHeartbeat,
  switchHeartbeat,
  testHeartbeat,
} from '../service/heartbeat/heartbeats.ts'
import type { Running } from './running.ts'

/** Agents that look after a checklist by themselves. */
export function heartbeatsOf(running: () => Running): Escapement['heartbeats'] {
  const turn = (id: string, enabled: boolean) => switchHeartbeat(running().app.ports, running().caller, { id, enabled })
  return {
    get: async (id) => getHeartbeat(running().app.ports, running().caller, id),
    set: async (id, input) =>
      setHeartbeat(running().app.ports, running().caller, { id, input: schemaReader(heartbeatInput)(input) }),
    enable: async (id) => turn(id, true),
    disable: async (id) => turn(id, false),
    test: async (id) => testHeartbeat(running().app.ports, running().caller, id),
    log: async (id, filter = {}) => findBeats(running().app.ports, running().caller, { ...filter, id }),
  }
}
