import { agentId, type AgentId, type OrgId } from '../core/ids.ts'
import { insertAgents, type AgentRow } from '../store/agents.ts'
import { readClock } from '../store/clock.ts'
import { ensureOrg, loadOrg, setDefaultAgent } from '../store/orgs.ts'
import type { Database } from '../store/database.ts'
import type { Instant } from '../core/instant.ts'
import type { Ports } from './ports.ts'

/** The agent to try things with. */
const ECHO = agentId('echo')

/**
 * Sees to it that the org exists, with an agent for each function of this process and one that works offline. What
 * exists stays as it is. Answers with the agent that is woken when nobody names one.
 */
export async function ensureAgents(ports: Ports, orgId: OrgId, ids: readonly AgentId[]): Promise<AgentId> {
  const database = ports.database as Database
  const now = await readClock(database)
  const first = ids[0] ?? ECHO
  await ensureOrg(database, {
    id: orgId,
    name: orgId,
    defaultTimezone: ports.settings().schedules.defaultTimezone,
    defaultAgentId: first,
    at: now,
  })
  const wanted = [
    agentOf(orgId, ECHO, { kind: 'echo', now }),
    ...ids.filter((id) => id !== ECHO).map((id) => agentOf(orgId, id, { kind: 'in-process', now })),
  ]
  await database.transaction((tx) => insertAgents(tx, wanted))
  const known = (await loadOrg(database, orgId))?.defaultAgentId ?? null
  if (known !== null && (known !== ECHO || ids.length === 0)) return known
  // The first function somebody brings along replaces the agent that only answers with what it was given.
  await setDefaultAgent(database, { orgId, agentId: first })
  return first
}

const agentOf = (
  orgId: OrgId,
  id: AgentId,
  of: { readonly kind: 'echo' | 'in-process'; readonly now: Instant },
): AgentRow => ({
  orgId,
  id,
  name: id,
  description: '',
  executor: { kind: of.kind },
  retryPolicy: null,
  timeoutSeconds: null,
  maxConcurrent: null,
  contextWindow: null,
  defaultSession: null,
  version: 1,
  createdAt: of.now,
  updatedAt: of.now,
})
