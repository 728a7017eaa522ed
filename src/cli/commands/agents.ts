import type { Command } from 'commander'
import type { AgentInput, AgentView } from '../../contract/agent.ts'
import type { Column } from '../output/table.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import { bodyOf, json, namesOf, number, seconds, withBody, withFields, type FieldOption } from '../remote/fields.ts'
import { readPages, showDone, showList, showOne, withPages, type Facts, type PageOptions } from '../remote/show.ts'
import { remote, type Desk, type Talk } from '../remote/talk.ts'
import { readExecutor } from './executor-field.ts'
import { commandOf, groupOf } from './group.ts'
import { MODEL_FIELDS, MODEL_NAMES, withModel } from './model-fields.ts'
import { SELF_SERVICE } from './rail-fields.ts'
import { railsText } from './rails-text.ts'
import { ifMatch, withVersion, type VersionOptions } from './versions.ts'

const FIELDS: readonly FieldOption[] = [
  { flags: '--name <name>', field: 'name', about: 'what it is called' },
  { flags: '--description <text>', field: 'description', about: 'what it is for' },
  {
    flags: '--executor <kind|url|json>',
    field: 'executor',
    about: 'what does its work: a kind as in echo, an http address that is called, or JSON',
    read: readExecutor,
  },
  { flags: '--max-concurrent <n>', field: 'max_concurrent', read: number, about: 'how many of its runs at once' },
  { flags: '--timeout <duration>', field: 'timeout_seconds', read: seconds, about: 'how long an attempt may take' },
  { flags: '--retry <json>', field: 'retry_policy', read: json, about: 'how failed attempts are repeated' },
  { flags: '--context-window <tokens>', field: 'context_window', read: number, about: 'tokens that fit into it' },
  { flags: '--default-session <key>', field: 'default_session', about: 'session of what names none' },
  { flags: '--provider <name>', field: 'provider', about: 'the provider it calls, whose quotas it shares' },
  SELF_SERVICE,
]

const NEW_FIELDS: readonly FieldOption[] = [
  { flags: '--id <id>', field: 'id', about: 'a short name for keys of sessions; made unless given' },
  ...FIELDS,
]

/** `escapement agents …`: what does the work. */
export function addAgents(program: Command, desk: Desk): void {
  const group = groupOf(program, 'agents', 'make, see and change agents')
  remote<PageOptions>(desk, withPages(commandOf(group, 'list', 'list agents')), {
    work: async (talk, _, options) => {
      const page = await readPages(talk, options, (asked) => talk.client.agents.list(asked))
      await showList(talk, page, { columns: columnsOf(talk), none: 'No agents.' })
    },
  })
  remote(desk, commandOf(group, 'get <id>', 'show an agent'), {
    work: async (talk, [id = '']) => show(talk, await talk.client.agents.get(id)),
  })
  const create = withBody(commandOf(group, 'create', 'make an agent'), NEW_FIELDS, 'new')
  remote(desk, withFields(create, MODEL_FIELDS), {
    names: { ...namesOf(NEW_FIELDS), ...MODEL_NAMES },
    work: async (talk, _, options) => {
      const given = await bodyOf(talk.terminal, NEW_FIELDS, options)
      const body = await withModel(talk, given, { options, before: () => Promise.resolve({}) })
      // The server says what is missing, with better words than a compiler.
      await show(talk, await talk.client.agents.create(body as unknown as AgentInput))
    },
  })
  const update = withBody(commandOf(group, 'update <id>', 'change an agent'), FIELDS, 'change')
  remote<VersionOptions>(desk, withVersion(withFields(update, MODEL_FIELDS)), {
    names: { ...namesOf(FIELDS), ...MODEL_NAMES },
    work: async (talk, [id = ''], options) => {
      const before = async () => (await talk.client.agents.get(id)).executor
      const body = await withModel(talk, await bodyOf(talk.terminal, FIELDS, options), { options, before })
      await show(talk, await talk.client.agents.update(id, body, ifMatch(options)))
    },
  })
  remote(desk, commandOf(group, 'delete <id>', 'delete an agent that no schedule wakes'), {
    work: async (talk, [id = '']) => {
      await talk.client.agents.delete(id)
      await showDone(talk, { id, deleted: true }, `${id} is deleted.`)
    },
  })
}

const show = (talk: Talk, agent: AgentView): Promise<void> => showOne(talk, agent, () => factsOf(talk, agent))

function columnsOf({ terminal }: Talk): readonly Column<AgentView>[] {
  const now = terminal.now()
  return [
    { title: 'ID', of: ({ id }) => id },
    { title: 'NAME', of: ({ name }) => valueText(name), flexible: true },
    { title: 'EXECUTOR', of: ({ executor }) => executor.kind },
    { title: 'AT ONCE', of: ({ max_concurrent }) => valueText(max_concurrent), right: true },
    { title: 'DESCRIPTION', of: ({ description }) => valueText(description), flexible: true },
    { title: 'CHANGED', of: ({ updated_at }) => agoText(updated_at, now) },
  ]
}

const factsOf = ({ terminal }: Talk, agent: AgentView): Facts => [
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
  ['changed', momentText(agent.updated_at, terminal.now())],
  ['version', String(agent.version)],
]
