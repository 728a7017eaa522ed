import { refreshOrgs } from '../engine/idle-orgs.ts'
import { agentId } from '../domain/ids.ts'
import { ensureAgents } from '../features/access/first-start.ts'
import type { Running } from './running.ts'

/** Makes functions of this process known as agents, and offers them to every org. Answers with the default agent. */
export async function registerAgents(
  { app, orgId }: Pick<Running, 'app' | 'orgId'>,
  ids: readonly string[],
): Promise<string | null> {
  const defaultAgent = await ensureAgents(app.ports, orgId, ids.map(agentId))
  refreshOrgs(app.parts)
  return defaultAgent
}
