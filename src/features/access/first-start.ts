import { Refusal } from '../../api/refusals.ts'
import { agentId, type AgentId, type OrgId } from '../../domain/ids.ts'
import { insertAgents, type AgentRow } from '../agents/store.ts'
import { readClock } from '../../platform/db/clock.ts'
import { ensureOrg, loadOrg, setDefaultAgent } from './orgs-store.ts'
import type { Database, Transaction } from '../../platform/db/database.ts'
import { orgLock } from '../../engine/transaction/history-store.ts'
import type { Instant } from '../../domain/instant.ts'
import { viewAgent } from '../agents/service.ts'
import { appendAudits, created, SYSTEM_ACTOR } from '../audit/entry.ts'
import type { Ports } from '../../engine/ports.ts'

/** The built-in agent for trying things out. */
export const ECHO = agentId('echo')

/**
 * Ensures that the org exists, with an agent for each function of this process and the built-in echo agent. Existing
 * agents are not changed. Returns the default agent.
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
  if ((await loadOrg(database, orgId)) === undefined)
    throw new Refusal('CONFLICT', `The org ${orgId} is being deleted; use another, or wait until it is gone`)
  const wanted = [
    echoAgent(orgId, now),
    ...ids.filter((id) => id !== ECHO).map((id) => agentOf(orgId, id, { kind: 'in-process', now })),
  ]
  await database.transaction((tx) => insertMissing(tx, orgId, { wanted, now }), { lock: orgLock(orgId) })
  const defaultAgent = (await loadOrg(database, orgId))?.defaultAgentId ?? null
  if (defaultAgent !== null && (defaultAgent !== ECHO || ids.length === 0)) return defaultAgent
  // The first function that is registered replaces the echo agent as default.
  await setDefaultAgent(database, { orgId, agentId: first })
  return first
}

/** Agents created by the program are audited like those created by users. */
async function insertMissing(
  tx: Transaction,
  orgId: OrgId,
  { wanted, now: at }: { readonly wanted: readonly AgentRow[]; readonly now: Instant },
): Promise<void> {
  const createdIds = new Set(await insertAgents(tx, wanted))
  const entries = wanted
    .filter(({ id }) => createdIds.has(id))
    .map((row) => created(SYSTEM_ACTOR, { kind: 'agent', id: row.id }, viewAgent(row)))
  if (entries.length > 0) await appendAudits(tx, orgId, { entries, at })
}

/** The built-in echo agent of an org. */
export const echoAgent = (orgId: OrgId, now: Instant): AgentRow => agentOf(orgId, ECHO, { kind: 'echo', now })

/** The default agent of the org. */
export const defaultAgentOf = async ({ database }: Pick<Ports, 'database'>, id: OrgId): Promise<AgentId | null> =>
  (await loadOrg(database, id))?.defaultAgentId ?? null

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
  provider: null,
  selfService: null,
  contextWindow: null,
  defaultSession: null,
  version: 1,
  createdAt: of.now,
  updatedAt: of.now,
})
