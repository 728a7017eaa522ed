import { z } from 'zod'
import { id } from '../../api/common.ts'
import { heartbeat, heartbeatInput, heartbeatLog, heartbeatLogFilter, heartbeatTest } from './schema.ts'
import { findBeats, getHeartbeat, setHeartbeat, testHeartbeat } from '../../service/heartbeat/heartbeats.ts'
import { operation } from '../../operations/handler.ts'

const one = z.strictObject({ id })

/** Agents that look after a checklist by themselves. */
export const heartbeatOperations = {
  'heartbeat.get': operation({
    ...{ method: 'GET', path: '/api/v1/agents/:id/heartbeat', tag: 'agents', permission: 'agents:read' },
    summary: 'Get the heartbeat of an agent',
    description: 'If it was never set: the defaults, disabled, version 0.',
    etag: true,
    params: one,
    answers: { 200: heartbeat },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getHeartbeat(ports, caller, params.id)),
  'heartbeat.set': operation({
    ...{ method: 'PUT', path: '/api/v1/agents/:id/heartbeat', tag: 'agents', permission: 'agents:write' },
    summary: 'Set the heartbeat of an agent',
    description:
      'Replaces all of it: omitted fields take their defaults. Only a change of the interval, of `adaptive` or of ' +
      '`enabled` moves the next heartbeat.',
    etag: true,
    params: one,
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
      'Works while it is disabled and outside its active hours; its timing does not change. With nothing to check, ' +
      'no recipient or a busy agent it says so, and no model is called.',
    ...{ creates: true, newWork: true, admits: true },
    params: one,
    answers: { 202: heartbeatTest },
    refusals: ['NOT_FOUND', 'CONFLICT'],
  }).by(({ ports, caller, params }) => testHeartbeat(ports, caller, params.id)),
  'heartbeat.log': operation({
    ...{ method: 'GET', path: '/api/v1/agents/:id/heartbeat/log', tag: 'agents', permission: 'agents:read' },
    summary: 'List the heartbeats of an agent and their outcomes, newest first',
    params: one,
    query: heartbeatLogFilter,
    answers: { 200: heartbeatLog },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params, query }) => findBeats(ports, caller, { ...query, id: params.id })),
}
