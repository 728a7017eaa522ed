import { agentInput, agentPatch } from '../contract/agent.ts'
import { schemaReader } from '../contract/read-input.ts'
import { refreshOrgs } from '../engine/idle-orgs.ts'
import { agentId } from '../core/ids.ts'
import type { Escapement } from '../escapement.ts'
import { changeAgent, createAgent, findAgents, getAgent, removeAgent } from '../service/agents.ts'
import { ensureAgents } from '../service/first-start.ts'
import type { Handler } from '../executors/in-process/execute.ts'
import { requireFunction } from './given.ts'
import type { Running } from './running.ts'

/** Agents: what does the work. */
export function agentsOf(
  running: () => Running,
  register: (id: string, handler: Handler) => Promise<void>,
): Escapement['agents'] {
  return {
    create: async (input) => createAgent(running().app.ports, running().caller, schemaReader(agentInput)(input)),
    get: async (id) => getAgent(running().app.ports, running().caller, id),
    list: async () => findAgents(running().app.ports, running().caller),
    update: async (id, change) =>
      changeAgent(running().app.ports, running().caller, { id, change: schemaReader(agentPatch)(change) }),
    delete: async (id) => removeAgent(running().app.ports, running().caller, { id }),
    register: async (id, handler) => {
      requireFunction('handler', handler)
      await register(id, handler)
    },
  }
}

/** Makes functions of this process known as agents, and offers them to every org. Answers with the default agent. */
export async function registerAgents({ app, orgId }: Running, ids: readonly string[]): Promise<string | null> {
  const defaultAgent = await ensureAgents(app.ports, orgId, ids.map(agentId))
  refreshOrgs(app.parts)
  return defaultAgent
}
