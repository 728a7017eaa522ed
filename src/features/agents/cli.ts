import type { Command } from 'commander'
import { agentInput, agentPatch, CHAT_API_WORDS, COMMAND_PRESET_WORDS, type AgentView } from './schema.ts'
import { manyLines, oneLine, valueText } from '../../cli/output/text.ts'
import { relativeTimeText, cliTimeText } from '../../cli/output/times.ts'
import {
  json,
  namesOf,
  number,
  valuesOf,
  withFields,
  type FieldOption,
  type FieldValues,
  type OptionReader,
} from '../../cli/remote/fields.ts'
import type { FieldNames } from '../../cli/remote/refused.ts'
import type { CliContext, CliCall } from '../../cli/remote/call.ts'
import { addResource } from '../../cli/resource.ts'
import { EXECUTOR } from './cli-executor.ts'
import { restrictionsText, SELF_SERVICE } from '../access/cli-restrictions.ts'

const secretReference: OptionReader = (name) => `{{secret:${name}}}`

/** Options of a chat executor; each sets a field of it. */
const MODEL_FIELDS: readonly FieldOption[] = [
  { flags: '--api <name>', field: 'api', about: `chat executor: API of the server: ${CHAT_API_WORDS}` },
  {
    flags: '--base-url <url>',
    field: 'base_url',
    about: 'chat executor: URL of the API, such as https://api.openai.com/v1',
  },
  { flags: '--model <name>', field: 'model', about: 'chat executor: name of the model' },
  {
    flags: '--api-key-secret <name>',
    field: 'api_key',
    read: secretReference,
    about: 'chat executor: secret with the API key',
  },
  { flags: '--system-prompt <text>', field: 'system_prompt', about: 'chat executor: system prompt' },
  { flags: '--temperature <n>', field: 'temperature', read: number, about: 'chat executor: sampling temperature, 0–2' },
  { flags: '--max-tokens <n>', field: 'max_tokens', read: number, about: 'chat executor: maximum output tokens' },
  {
    flags: '--background',
    field: 'background',
    stands: true,
    about: 'chat executor: work in the background (openai-responses)',
  },
  {
    flags: '--prices <json>',
    field: 'prices',
    read: json,
    about: 'chat executor: prices per million tokens, such as {"input": 0.15, "output": 0.6}',
  },
]

/** Options of a command executor; each sets a field of it. */
const PROGRAM_FIELDS: readonly FieldOption[] = [
  { flags: '--program <path>', field: 'program', about: 'command executor: program to start' },
  {
    flags: '--preset <name>',
    field: 'preset',
    about: `command executor: how the program is called and read: ${COMMAND_PRESET_WORDS}`,
  },
  {
    flags: '--resume-session',
    field: 'resume',
    stands: true,
    about: 'command executor: resume the session of the program in the next run of a session',
  },
  {
    flags: '--program-env <json>',
    field: 'env',
    read: json,
    about: 'command executor: environment, such as {"KEY": "{{secret:NAME}}"}',
  },
]

const EXECUTOR_FIELDS = [...MODEL_FIELDS, ...PROGRAM_FIELDS]

/** Option names by JSON pointer. */
const EXECUTOR_NAMES: FieldNames = namesOf(
  EXECUTOR_FIELDS.map((option) => ({ ...option, field: `executor/${option.field}` })),
)

/** `escapement agents …`: the agents of the org. */
export function addAgents(group: Command, cli: CliContext): void {
  addResource<AgentView>(group, cli, {
    singular: 'an agent',
    input: agentInput,
    patch: agentPatch,
    isVersioned: true,
    operations: ({ agents }) => agents,
    flags: {
      executor: { ...EXECUTOR, about: 'executor: a kind such as echo, a URL, or JSON' },
      self_service: SELF_SERVICE,
    },
    extra: {
      options: (command) => withFields(command, EXECUTOR_FIELDS),
      names: EXECUTOR_NAMES,
      body: (call, body, { changed, options }) =>
        withExecutor(call, body, {
          options,
          before: async () => (changed === null ? {} : (await call.client.agents.get(changed)).executor),
        }),
    },
    descriptions: { delete: 'delete an agent that no schedule uses' },
    columns: ({ now }) => [
      { title: 'ID', value: ({ id }) => id },
      { title: 'NAME', value: ({ name }) => valueText(name), flexible: true },
      { title: 'EXECUTOR', value: ({ executor }) => executor.kind },
      { title: 'CONCURRENCY', value: ({ max_concurrent }) => valueText(max_concurrent), right: true },
      { title: 'DESCRIPTION', value: ({ description }) => valueText(description), flexible: true },
      { title: 'UPDATED', value: ({ updated_at }) => relativeTimeText(updated_at, now) },
    ],
    facts: ({ now }, agent) => [
      ['id', agent.id],
      ['name', oneLine(valueText(agent.name))],
      ['description', agent.description === '' ? null : manyLines(agent.description)],
      ['executor', oneLine(JSON.stringify(agent.executor))],
      ['max concurrent', agent.max_concurrent === null ? 'no limit' : String(agent.max_concurrent)],
      ['timeout', agent.timeout_seconds === null ? null : `${agent.timeout_seconds} s`],
      ['retry', agent.retry_policy === null ? null : JSON.stringify(agent.retry_policy)],
      ['context window', agent.context_window === null ? null : String(agent.context_window)],
      ['default session', agent.default_session],
      ['self service', restrictionsText(agent.self_service)],
      ['updated', cliTimeText(agent.updated_at, now)],
      ['version', String(agent.version)],
    ],
  })
}

/** Merges the options of an executor into that of the body, or into the current executor of the agent. */
async function withExecutor(
  { now }: CliCall,
  body: FieldValues,
  input: { readonly options: object; readonly before: () => Promise<object> },
): Promise<FieldValues> {
  const fields = valuesOf(EXECUTOR_FIELDS, input.options, now)
  if (Object.keys(fields).length === 0) return body
  const kind = PROGRAM_FIELDS.some(({ field }) => field in fields) ? 'command' : 'chat'
  const { executor } = body
  const known = typeof executor === 'object' && executor !== null ? executor : await input.before()
  return { ...body, executor: { kind, ...known, ...fields } }
}
