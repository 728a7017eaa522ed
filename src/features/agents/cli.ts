import type { Command } from 'commander'
import {
  agentInput,
  type AgentOutcomes,
  agentOutcomesFilter,
  agentPatch,
  CHAT_API_WORDS,
  COMMAND_PRESET_WORDS,
  type AgentStats,
  agentStatsFilter,
  type AgentTest,
  agentTestInput,
  type AgentView,
} from './schema.ts'
import { manyLines, oneLine, valueText } from '../../cli/output/text.ts'
import { relativeTimeText, cliTimeText, durationText } from '../../cli/output/times.ts'
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
import { commandOf, type CliContext, type CliCall, remote } from '../../cli/remote/call.ts'
import { filtersOf, optionsOf } from '../../cli/remote/schema-options.ts'
import { printJson, showList } from '../../cli/remote/show.ts'
import { addAction, addList, addResource } from '../../cli/resource.ts'
import { restrictionsText, SELF_SERVICE } from '../access/cli-restrictions.ts'
import { EXECUTOR } from './cli-executor.ts'

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
  addTest(group, cli)
  addAgentStats(group, cli)
  addAgentOutcomes(group, cli)
}

/** `agents outcomes`: the last runs of several agents. */
function addAgentOutcomes(group: Command, cli: CliContext): void {
  const outcomes = filtersOf(agentOutcomesFilter, { ids: null, limit: '--last <n>' })
  addList<AgentOutcomes['items'][number]>(
    cli,
    commandOf(group, 'outcomes <ids...>', 'show recent run outcomes of agents, newest first'),
    {
      filter: outcomes,
      none: 'No such agents.',
      read: async (call, { limit }, ids) => ({
        ...(await call.client.agents.outcomes({
          ids: ids.join(','),
          ...(limit === undefined ? {} : { limit: Number(limit) }),
        })),
        next_cursor: null,
      }),
      columns: () => [
        { title: 'ID', value: ({ agent_id: id }) => id },
        { title: 'LAST RUNS', value: ({ runs }) => runs.map(({ status }) => status).join(' ') || '-', flexible: true },
      ],
    },
  )
}

/** `agents stats`: how the runs of an agent went, day by day. */
function addAgentStats(group: Command, cli: CliContext): void {
  const filter = filtersOf(agentStatsFilter)
  const command = withFields(commandOf(group, 'stats <id>', 'show runs, durations, tokens and cost per day'), filter)
  remote(cli, command, {
    names: namesOf(filter),
    work: async (call, [id = ''], options) => {
      const stats = await call.client.agents.stats(id, valuesOf(filter, options, call.now))
      if (call.json) return printJson(call, stats)
      const spanText = (ms: number | null): string => (ms === null ? '-' : durationText(ms))
      await showList<AgentStats['total'] & { readonly name: string }>(
        call,
        {
          items: [
            ...stats.days.map((day) => ({ ...day, name: day.at.slice(0, 10) })),
            { ...stats.total, name: 'total' },
          ],
          next_cursor: null,
        },
        {
          none: 'No data.',
          columns: [
            { title: 'DAY', value: ({ name }) => name },
            { title: 'RUNS', value: ({ runs }) => String(runs), right: true },
            { title: 'SUCCESS', value: ({ success }) => String(success), right: true },
            { title: 'P50', value: ({ duration_p50_ms: ms }) => spanText(ms), right: true },
            { title: 'P95', value: ({ duration_p95_ms: ms }) => spanText(ms), right: true },
            { title: 'TOKENS', value: ({ tokens }) => String(tokens), right: true },
            { title: 'COST', value: ({ cost }) => String(cost), right: true },
          ],
        },
      )
    },
  })
}

/** `agents test`: shows the answer of an agent, or the reason why it did not answer. */
function addTest(group: Command, cli: CliContext): void {
  const fields = optionsOf(agentTestInput, { wait_seconds: '--wait <duration>' })
  const command = withFields(
    commandOf(group, 'test <id>', 'send a test message to an agent and show the answer'),
    fields,
  )
  addAction<AgentTest>(cli, command, {
    call: (call, [id = ''], options) => call.client.agents.test(id, valuesOf(fields, options, call.now)),
    isSuccess: ({ ok }) => ok,
    resultText: ({ ok, output, problem, run_id: run, duration_ms: ms }, id) =>
      ok
        ? `${id} answered${ms === null ? '' : ` after ${durationText(ms)}`}:\n${answerText(output)}`
        : `${id} did not answer: ${problem ?? ''}\nDetails: escapement runs get ${run}`,
  })
}

const answerText = (output: unknown): string =>
  typeof output === 'string' ? manyLines(output) : JSON.stringify(output, null, 2)

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
