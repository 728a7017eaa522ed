import type { heartbeatOperations } from '../../operations/heartbeats.ts'
import { findBeats, getHeartbeat, setHeartbeat, testHeartbeat } from '../../service/heartbeat/heartbeats.ts'
import type { HandlersOf } from '../call.ts'

/** Agents that look after a checklist by themselves. */
export const heartbeatHandlers: HandlersOf<typeof heartbeatOperations> = {
  'heartbeat.get': ({ ports, caller, params }) => getHeartbeat(ports, caller, params.id),
  'heartbeat.set': ({ ports, caller, params, body, ifMatch }) =>
    setHeartbeat(ports, caller, { id: params.id, version: ifMatch, input: body }),
  'heartbeat.test': ({ ports, caller, params }) => testHeartbeat(ports, caller, params.id),
  'heartbeat.log': ({ ports, caller, params, query }) => findBeats(ports, caller, { ...query, id: params.id }),
}
