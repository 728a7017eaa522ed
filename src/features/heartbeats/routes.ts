import { z } from 'zod'
import { id } from '../../api/common.ts'
import { heartbeat, heartbeatInput, heartbeatLog, heartbeatLogFilter, heartbeatTest } from './schema.ts'
import { findHeartbeatLog, getHeartbeat, setHeartbeat, testHeartbeat } from './service.ts'
import { operation } from '../../operations/handler.ts'

const agentParams = z.strictObject({ id })

/** Operations on heartbeats: agents that check a checklist at intervals. */
export const heartbeatOperations = {
  'heartbeat.get': operation({
    ...{ method: 'GET', path: '/api/v1/agents/:id/heartbeat', tag: 'agents', permission: 'agents:read' },
    summary: 'Get the heartbeat of an agent',
    description: 'If it was never set, returns the defaults, disabled, with version 0.',
    etag: true,
    params: agentParams,
    answers: { 200: heartbeat },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getHeartbeat(ports, caller, params.id)),
  'heartbeat.set': operation({
    ...{ method: 'PUT', path: '/api/v1/agents/:id/heartbeat', tag: 'agents', permission: 'agents:write' },
    summary: 'Set the heartbeat of an agent',
    description:
      'Replaces the whole heartbeat: omitted fields take their defaults. Only a change of the interval, of `adaptive` or of ' +
      '`enabled` moves the next heartbeat.',
    etag: true,
    params: agentParams,
    body: heartbeatInput,
    answers: { 200: heartbeat },
    refusals: ['NOT_FOUND', 'STALE_VERSION'],
    examples: {
      body: { checklist: { text: '- Is anything in the inbox urgent?' }, interval_seconds: 900, target: 'none' },
    },
  }).by(({ ports, caller, params, body, ifMatch }) =>
    setHeartbeat(ports, caller, { id: params.id, version: ifMatch, input: body }),
  ),
  'heartbeat.test': operation({
    ...{ method: 'POST', path: '/api/v1/agents/:id/heartbeat/test', tag: 'agents', permission: 'agents:write' },
    summary: 'Run the heartbeat of an agent once, now',
    description:
      'Also works while the heartbeat is disabled or outside its active hours; its timing does not change. If there is ' +
      'nothing to ' +
      'check or no recipient, or the agent is busy, the response gives the reason, and no model is called.',
    ...{ creates: true, newWork: true, admits: true },
    params: agentParams,
    answers: { 202: heartbeatTest },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => testHeartbeat(ports, caller, params.id)),
  'heartbeat.log': operation({
    ...{ method: 'GET', path: '/api/v1/agents/:id/heartbeat/log', tag: 'agents', permission: 'agents:read' },
    summary: 'List the heartbeats of an agent and their outcomes, newest first',
    params: agentParams,
    query: heartbeatLogFilter,
    answers: { 200: heartbeatLog },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params, query }) => findHeartbeatLog(ports, caller, { ...query, id: params.id })),
}
