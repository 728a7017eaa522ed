import type { agentOperations } from '../../operations/agents.ts'
import { changeAgent, createAgent, findAgentPage, getAgent, removeAgent } from '../../service/agents.ts'
import type { HandlersOf } from '../call.ts'

/** What does the work. */
export const agentHandlers: HandlersOf<typeof agentOperations> = {
  'agents.create': ({ ports, caller, body }) => createAgent(ports, caller, body),
  'agents.list': ({ ports, caller, query }) => findAgentPage(ports, caller, query),
  'agents.get': ({ ports, caller, params }) => getAgent(ports, caller, params.id),
  'agents.update': ({ ports, caller, params, body, ifMatch }) =>
    changeAgent(ports, caller, { id: params.id, version: ifMatch, change: body }),
  'agents.delete': async ({ ports, caller, params, ifMatch }) => {
    await removeAgent(ports, caller, { id: params.id, version: ifMatch })
    return undefined
  },
}
