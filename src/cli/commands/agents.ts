import type { Command } from 'commander'
import { agentInput, agentPatch, type AgentView } from '../../contract/agent.ts'
import { manyLines, oneLine, valueText } from '../output/text.ts'
import { agoText, momentText } from '../output/times.ts'
import { withFields } from '../remote/fields.ts'
import type { Desk } from '../remote/talk.ts'
import { addResource } from '../resource.ts'
import { EXECUTOR } from './executor-field.ts'
import { MODEL_FIELDS, MODEL_NAMES, withModel } from './model-fields.ts'
import { SELF_SERVICE } from './rail-fields.ts'
import { railsText } from './rails-text.ts'

/** `escapement agents …`: what does the work. */
export function addAgents(group: Command, desk: Desk): void {
  addResource<AgentView>(group, desk, {
    ...{ one: 'an agent', input: agentInput, patch: agentPatch, isVersioned: true },
    operations: ({ agents }) => agents,
    flags: {
      executor: { ...EXECUTOR, about: 'executor: a kind such as echo, a URL, or JSON' },
      self_service: SELF_SERVICE,
    },
    extra: {
      options: (command) => withFields(command, MODEL_FIELDS),
      names: MODEL_NAMES,
      body: (talk, body, { id, ...options }) =>
        withModel(talk, body, {
          options,
          before: async () => (id === undefined ? {} : (await talk.client.agents.get(id)).executor),
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
