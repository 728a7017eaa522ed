import type { Command } from 'commander'
import { agentInput, agentPatch, type AgentView } from './schema.ts'
import { manyLines, oneLine, valueText } from '../../cli/output/text.ts'
import { agoText, momentText } from '../../cli/output/times.ts'
import {
  namesOf,
  number,
  valuesOf,
  withFields,
  type FieldOption,
  type FieldValues,
  type ReadText,
} from '../../cli/remote/fields.ts'
import type { FieldNames } from '../../cli/remote/refused.ts'
import type { Desk, Talk } from '../../cli/remote/talk.ts'
import { addResource } from '../../cli/resource.ts'
import { EXECUTOR } from './cli-executor.ts'
import { SELF_SERVICE } from '../../cli/commands/rail-fields.ts'
import { railsText } from '../../cli/commands/rails-text.ts'

const secret: ReadText = (name) => `{{secret:${name}}}`

/** Options of an agent that is a model; each is a field of its executor. */
const MODEL_FIELDS: readonly FieldOption[] = [
  {
    flags: '--base-url <url>',
    field: 'base_url',
    about: 'chat executor: URL of the API, as https://api.openai.com/v1',
  },
  { flags: '--model <name>', field: 'model', about: 'chat executor: name of the model' },
  { flags: '--api-key-secret <name>', field: 'api_key', read: secret, about: 'chat executor: secret with the API key' },
  { flags: '--system-prompt <text>', field: 'system_prompt', about: 'chat executor: system prompt' },
  { flags: '--temperature <n>', field: 'temperature', read: number, about: 'chat executor: sampling temperature, 0–2' },
  { flags: '--max-tokens <n>', field: 'max_tokens', read: number, about: 'chat executor: maximum output tokens' },
]

/** What the server calls these fields, under what they are called here. */
const MODEL_NAMES: FieldNames = namesOf(
  MODEL_FIELDS.map((option) => ({ ...option, field: `executor/${option.field}` })),
)

/** `escapement agents …`: what does the work. */
export function addAgents(group: Command, desk: Desk): void {
  addResource<AgentView>(group, desk, {
    one: 'an agent',
    input: agentInput,
    patch: agentPatch,
    isVersioned: true,
    operations: ({ agents }) => agents,
    flags: {
      executor: { ...EXECUTOR, about: 'executor: a kind such as echo, a URL, or JSON' },
      self_service: SELF_SERVICE,
    },
    extra: {
      options: (command) => withFields(command, MODEL_FIELDS),
      names: MODEL_NAMES,
      body: (talk, body, { changed, options }) =>
        withModel(talk, body, {
          options,
          before: async () => (changed === null ? {} : (await talk.client.agents.get(changed)).executor),
        }),
    },
    about: { delete: 'delete an agent that no schedule uses' },
    columns: ({ now }) => [
      { title: 'ID', of: ({ id }) => id },
      { title: 'NAME', of: ({ name }) => valueText(name), flexible: true },
      { title: 'EXECUTOR', of: ({ executor }) => executor.kind },
      { title: 'AT ONCE', of: ({ max_concurrent }) => valueText(max_concurrent), right: true },
      { title: 'DESCRIPTION', of: ({ description }) => valueText(description), flexible: true },
      { title: 'CHANGED', of: ({ updated_at }) => agoText(updated_at, now) },
    ],
    facts: ({ now }, agent) => [
      ['id', agent.id],
      ['name', oneLine(valueText(agent.name))],
      ['description', agent.description === '' ? null : manyLines(agent.description)],
      ['executor', oneLine(JSON.stringify(agent.executor))],
      ['at once', agent.max_concurrent === null ? 'no limit of its own' : String(agent.max_concurrent)],
      ['timeout', agent.timeout_seconds === null ? null : `${agent.timeout_seconds} s`],
      ['retry', agent.retry_policy === null ? null : JSON.stringify(agent.retry_policy)],
      ['context window', agent.context_window === null ? null : String(agent.context_window)],
      ['default session', agent.default_session],
      ['self service', railsText(agent.self_service)],
      ['changed', momentText(agent.updated_at, now)],
      ['version', String(agent.version)],
    ],
  })
}

/** The body with the options of a model in its executor; what was not given stays as it is in `before`. */
async function withModel(
  { now }: Talk,
  body: FieldValues,
  given: { readonly options: object; readonly before: () => Promise<object> },
): Promise<FieldValues> {
  const said = valuesOf(MODEL_FIELDS, given.options, now)
  if (Object.keys(said).length === 0) return body
  const { executor } = body
  const known = typeof executor === 'object' && executor !== null ? executor : await given.before()
  return { ...body, executor: { kind: 'chat', ...known, ...said } }
}
