import type { AgentView } from '../../../src/contract/agent.ts'
import type { FieldSpec } from '../../forms/field.ts'

/** The ways in which work is performed, in the order in which people look for them. */
export const KINDS = ['http', 'chat', 'worker', 'command', 'tab-action', 'in-process', 'echo'] as const
/** One of them. */
export type ExecutorKind = (typeof KINDS)[number]

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((value) => ({ value }))

const HTTP: readonly FieldSpec[] = [
  {
    ...{ path: 'executor.url', label: 'agents.http.url', kind: 'code', isRequired: true },
    example: 'https://agents.example.com/writer',
  },
  { path: 'executor.method', label: 'agents.http.method', kind: 'choice', choices: METHODS, example: 'POST' },
  {
    ...{ path: 'executor.headers', label: 'agents.headers', kind: 'pairs', hint: 'agents.headersHint' },
    example: 'Authorization: Bearer {{secret:NAME}}',
  },
  { path: 'executor.body', label: 'agents.http.body', kind: 'json', hint: 'agents.http.bodyHint' },
  { path: 'executor.async', label: 'agents.http.async', kind: 'flag', hint: 'agents.http.asyncHint' },
  {
    ...{ path: 'executor.success_when', label: 'agents.http.successWhen', kind: 'json' },
    ...{ hint: 'agents.http.successWhenHint', example: '{"path": "/ok", "equals": true}' },
  },
]

const CHAT: readonly FieldSpec[] = [
  {
    ...{ path: 'executor.base_url', label: 'agents.chat.baseUrl', kind: 'code', isRequired: true },
    example: 'https://api.openai.com/v1',
  },
  { path: 'executor.model', label: 'agents.chat.model', kind: 'code', isRequired: true, example: 'gpt-4o-mini' },
  {
    ...{ path: 'executor.api_key', label: 'agents.chat.apiKey', kind: 'code', hint: 'agents.chat.apiKeyHint' },
    example: '{{secret:OPENAI_KEY}}',
  },
  { path: 'executor.system_prompt', label: 'agents.chat.system', kind: 'area' },
  { path: 'executor.temperature', label: 'agents.chat.temperature', kind: 'number' },
  { path: 'executor.max_tokens', label: 'agents.chat.maxTokens', kind: 'number' },
  { path: 'executor.stream', label: 'agents.chat.stream', kind: 'flag' },
  { path: 'executor.history', label: 'agents.chat.history', kind: 'flag', hint: 'agents.chat.historyHint' },
  {
    ...{ path: 'executor.prices', label: 'agents.chat.prices', kind: 'json', hint: 'agents.chat.pricesHint' },
    example: '{"input": 0.15, "output": 0.6}',
  },
  { path: 'executor.headers', label: 'agents.headers', kind: 'pairs', hint: 'agents.headersHint' },
  { path: 'executor.body', label: 'agents.chat.body', kind: 'json', hint: 'agents.chat.bodyHint' },
]

const COMMAND: readonly FieldSpec[] = [
  {
    ...{ path: 'executor.program', label: 'agents.command.program', kind: 'code', isRequired: true },
    ...{ hint: 'agents.command.programHint', example: '/usr/bin/report' },
  },
  { path: 'executor.args', label: 'agents.command.args', kind: 'list', hint: 'agents.command.argsHint' },
  { path: 'executor.cwd', label: 'agents.command.cwd', kind: 'code' },
  { path: 'executor.env', label: 'agents.command.env', kind: 'pairs', hint: 'agents.command.envHint' },
  { path: 'executor.stdin', label: 'agents.command.stdin', kind: 'json', hint: 'agents.command.stdinHint' },
  { path: 'executor.output_bytes', label: 'agents.command.outputBytes', kind: 'number', example: '1048576' },
]

/** The fields of every kind; those without any need none. */
export const EXECUTOR_FIELDS: Readonly<Record<ExecutorKind, readonly FieldSpec[]>> = {
  ...{ echo: [], http: HTTP, chat: CHAT, command: COMMAND, worker: [], 'tab-action': [], 'in-process': [] },
}

/** What a new agent of a kind begins with. */
export const USUAL: Readonly<Record<string, unknown>> = {
  executor: { kind: 'http', method: 'POST', stream: true, history: true },
}

/** Where an agent does its work, in a few letters: an address, a model, a program. */
export function placeOf({ executor }: Pick<AgentView, 'executor'>): string | null {
  const options: Readonly<Record<string, unknown>> = executor
  const found = [options['model'], options['program'], options['url']].find((one) => typeof one === 'string')
  return typeof found === 'string' ? found.replace(/^https?:\/\//, '') : null
}
