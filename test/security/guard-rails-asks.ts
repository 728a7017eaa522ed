import { later } from '../../src/domain/instant.ts'
import { NOW } from '../support/builders.ts'
import type { Asked, Key, Things } from './guard-rails-world.ts'

/** One way around a rail, the key it is tried with, and what it must be refused with on every surface. */
export interface Row {
  readonly name: string
  readonly key?: Key
  readonly asked: (things: Things) => Asked
  readonly code: string
  readonly rail?: string
}

/** So long from now, as it is written. */
export const at = (ms: number): string => new Date(later(NOW, ms)).toISOString()
export const DAY = 86_400_000

export const schedules = '/api/v1/schedules'
export const explain = '/api/v1/explain'
export const runs = '/api/v1/runs'

/** Makes a schedule, in the words of each surface; RPC knows fewer of them. */
export const making = (timing: object, rpc?: Record<string, unknown>, more: object = {}): Asked => ({
  rest: ['POST', schedules, { name: 'Mine', payload: { prompt: 'x' }, ...timing, ...more }],
  mcp: ['schedule_create', { name: 'Mine', prompt: 'x', ...timing, ...more }],
  ...(rpc === undefined ? {} : { rpc: ['cron.create', { name: 'Mine', message: 'x', schedule: rpc, ...more }] }),
})
export const hourly = (): Asked => making({ cron: '0 * * * *' }, { kind: 'cron', expr: '0 * * * *' })

export const changing = (id: string, change: object, patch?: Record<string, unknown>): Asked => ({
  rest: ['PATCH', `${schedules}/${id}`, change],
  mcp: ['schedule_update', { schedule_id: id, ...change }],
  ...(patch === undefined ? {} : { rpc: ['cron.update', { jobId: id, patch }] }),
})

export const waking = (id: string): Asked => ({
  rest: ['POST', `${schedules}/${id}/run-now`],
  rpc: ['cron.run', { jobId: id }],
  mcp: ['run_now', { schedule_id: id }],
})

export const enabling = (id: string): Asked => ({
  rest: ['POST', `${schedules}/${id}/enable`],
  rpc: ['cron.toggle', { jobId: id, enabled: true }],
  mcp: ['schedule_update', { schedule_id: id, enabled: true }],
})

export const deleting = (id: string): Asked => ({
  rest: ['DELETE', `${schedules}/${id}`],
  rpc: ['cron.delete', { jobId: id }],
  mcp: ['schedule_delete', { schedule_id: id }],
})

export const handing = (agent: string): Asked => ({
  rest: ['POST', '/tasks', { agentId: agent, action: 'x' }],
  mcp: ['task_submit', { agent_id: agent, action: 'x' }],
})

export const speaking = (key: string, more: object = {}): Asked => ({
  rest: ['POST', `/api/v1/sessions/${encodeURIComponent(key)}/messages`, { text: 'hello', ...more }],
})

/** The same for several agents in one call. */
export const handingMany = (...agents: readonly string[]): Asked => ({
  rest: ['POST', '/tasks/many', { tasks: agents.map((agentId) => ({ agentId, action: 'x' })) }],
})

/** A message to each of several sessions in one call. */
export const speakingMany = (...keys: readonly string[]): Asked => ({
  rest: ['POST', '/api/v1/messages', { messages: keys.map((session) => ({ session, text: 'hello' })) }],
})

export const retrying = (run: string, change: object): Asked => ({
  rest: ['POST', `${runs}/${run}/retry`, change],
})

export const OTHERS_SESSION = 'agent:writer:web:user:1'
