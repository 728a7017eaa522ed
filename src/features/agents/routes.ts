import { z } from 'zod'
import {
  agent,
  agentInput,
  agentOutcomes,
  agentOutcomesFilter,
  agentPage,
  agentPatch,
  agentStats,
  agentStatsFilter,
  agentTest,
  agentTestInput,
} from './schema.ts'
import { id, pageFilter } from '../../api/common.ts'
import {
  updateAgent,
  createAgent,
  findAgentPage,
  getAgent,
  deleteAgent,
  readAgentOutcomes,
  readAgentStats,
} from './service.ts'
import { isTerminal } from '../../domain/run/run-machine.ts'
import { operation, readAfterEnd } from '../../operations/handler.ts'
import { getRun } from '../runs/service.ts'
import { testAgent } from './trial.ts'

const one = z.strictObject({ id })

/** The API of agents. */
export const agentOperations = {
  'agents.create': operation({
    ...{ method: 'POST', path: '/api/v1/agents', tag: 'agents', permission: 'agents:write' },
    summary: 'Create an agent',
    ...{ creates: true, etag: true },
    body: agentInput,
    answers: { 201: agent },
    refusals: ['CONFLICT'],
    examples: { body: { id: 'parrot', name: 'Parrot', executor: { kind: 'echo' }, max_concurrent: 2 } },
  }).by(({ ports, caller, body }) => createAgent(ports, caller, body)),
  'agents.list': operation({
    ...{ method: 'GET', path: '/api/v1/agents', tag: 'agents', permission: 'agents:read' },
    summary: 'List agents, by id',
    query: pageFilter,
    answers: { 200: agentPage },
  }).by(({ ports, caller, query }) => findAgentPage(ports, caller, query)),
  'agents.get': operation({
    ...{ method: 'GET', path: '/api/v1/agents/:id', tag: 'agents', permission: 'agents:read' },
    summary: 'Get an agent',
    etag: true,
    params: one,
    answers: { 200: agent },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params }) => getAgent(ports, caller, params.id)),
  'agents.update': operation({
    ...{ method: 'PATCH', path: '/api/v1/agents/:id', tag: 'agents', permission: 'agents:write' },
    summary: 'Update an agent',
    description: 'Omitted fields keep their values; null restores the default. Pending runs keep their limits.',
    etag: true,
    params: one,
    body: agentPatch,
    answers: { 200: agent },
    refusals: ['NOT_FOUND', 'STALE_VERSION'],
    examples: { body: { max_concurrent: 5, timeout_seconds: null } },
  }).by(({ ports, caller, params, body, ifMatch }) =>
    updateAgent(ports, caller, { id: params.id, version: ifMatch, change: body }),
  ),
  'agents.outcomes': operation({
    ...{ method: 'GET', path: '/api/v1/agent-outcomes', tag: 'agents', permission: 'runs:read' },
    summary: 'Get the recent outcomes of many agents',
    description:
      'Takes up to 200 ids, separated by commas, and returns the last 20 runs of each by default, newest first. Unknown' +
      ' agents are ' +
      'left out.',
    query: agentOutcomesFilter,
    answers: { 200: agentOutcomes },
    examples: { query: 'ids=writer,reader' },
  }).by(({ ports, caller, query }) => readAgentOutcomes(ports, caller, query)),
  'agents.stats': operation({
    ...{ method: 'GET', path: '/api/v1/agents/:id/stats', tag: 'agents', permission: 'runs:read' },
    summary: 'Get runs, durations, tokens and cost of an agent per day',
    params: one,
    query: agentStatsFilter,
    answers: { 200: agentStats },
    refusals: ['NOT_FOUND'],
  }).by(({ ports, caller, params, query }) => readAgentStats(ports, caller, { id: params.id, filter: query })),
  'agents.test': operation({
    ...{ method: 'POST', path: '/api/v1/agents/:id/test', tag: 'agents', permission: 'sessions:write' },
    summary: 'Test an agent',
    description:
      'Runs it once with a message, outside any session and without retries, and returns its answer or the reason why it ' +
      'did not answer. A test that does not end in time is cancelled.',
    newWork: true,
    params: one,
    bodyOptional: true,
    body: agentTestInput,
    answers: { 200: agentTest },
    refusals: ['NOT_FOUND', 'RUNS_PER_DAY'],
    examples: { body: { text: 'Reply with OK.' } },
  }).by((call) =>
    testAgent(call.ports, call.caller, {
      ...{ id: call.params.id, input: call.body, live: call.ctx.live },
      settled: (run, seconds) =>
        readAfterEnd(call, run, {
          seconds,
          read: () => getRun(call.ports, call.caller.orgId, run),
          hasEnded: ({ status }) => isTerminal(status),
        }),
    }),
  ),
  'agents.delete': operation({
    ...{ method: 'DELETE', path: '/api/v1/agents/:id', tag: 'agents', permission: 'agents:write' },
    summary: 'Delete an agent that no schedule uses',
    description: 'Its runs stay, and pending runs continue.',
    etag: true,
    params: one,
    answers: { 204: null },
    refusals: ['NOT_FOUND', 'CONFLICT', 'STALE_VERSION'],
  }).by(({ ports, caller, params, ifMatch }) => deleteAgent(ports, caller, { id: params.id, version: ifMatch })),
}
