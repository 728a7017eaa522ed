import type { AgentInput, AgentPatch, AgentView } from '../features/agents/schema.ts'
import type { Page } from '../api/page.ts'
import type { PageFilter } from '../api/common.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import { maskedExecutor } from '../core/executor/masked.ts'
import { agentId, type OrgId } from '../domain/ids.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { ownerOfAgent } from '../core/rails/railed.ts'
import { withPolicyInForce } from '../domain/run/retry-policy.ts'
import {
  deleteAgent,
  insertAgents,
  listAgentPage,
  loadAgents,
  saveAgent,
  type AgentRow,
} from '../features/agents/store.ts'
import { loadOrg } from '../features/access/orgs-store.ts'
import { countSchedules } from '../store/schedules.ts'
import type { Transaction } from '../store/database.ts'
import { judgeExecutor } from './agent-executor.ts'
import { changedAgent, newAgent } from './agent-input.ts'
import { loadHeartbeats, type HeartbeatRow } from '../features/heartbeats/store.ts'
import { endStreak } from './heartbeat/alert.ts'
import { actorOf, changed, created, deleted } from '../features/audit/entry.ts'
import { applyKept } from './kept-budget.ts'
import type { Caller } from './caller.ts'
import { judgeCommand } from './command-agents.ts'
import { pageOfListed, parseIdCursor, parseLimit, writeCursorParts } from '../platform/db/cursor.ts'
import type { Desk } from './desk/desk.ts'
import { collectFlaws } from '../domain/input-fields.ts'
import { bound } from './idempotent.ts'
import type { Ports } from './ports.ts'
import { requireProvider } from './providers-input.ts'
import { keepRailBudget } from './rails/budget.ts'
import { judgeSelfService } from './rails/self-service.ts'
import { viewRailsOrNull } from './rails/view.ts'
import type { KeptOwn } from './schedule-budget.ts'
import { viewRetryPolicy } from './schedule-view.ts'
import type { Asked } from './schedule-editing.ts'
import { judgeSecrets } from './secret/use.ts'
import { refuseLongTimeout } from './timeout-limit.ts'
import { onDesk } from './turn/recall.ts'
import type { Work } from './turn-port.ts'

const noAgent = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no agent ${id}`)

/** Makes an agent. Its id is made too unless it brings one. */
export const createAgent = async (ports: Ports, caller: Caller, input: AgentInput): Promise<AgentView> =>
  ports.turns.take(bound(await agentCreation(ports, caller, input), caller))

/** The work of making an agent, judged as far as it can be before it is handed in. */
export async function agentCreation(ports: Ports, caller: Caller, input: AgentInput): Promise<Work<AgentView>> {
  const { orgId } = caller
  judgeCommand(ports, caller, input)
  await judgeSelfService(ports, caller, input)
  await judgeExecutor(ports, input)
  return {
    orgId,
    prepare: async (tx, now) => {
      const made = newAgent(input, { orgId, now, newId: () => ports.newId('agent', now) })
      const wrong = await judgeSecrets(tx, caller, { executor: made.executor, before: null })
      if (wrong.length > 0) throw invalid(wrong)
      await refuseLong(tx, orgId, input)
      await requireProvider(tx, made)
      const [inserted] = await insertAgents(tx, [made])
      if (inserted === undefined) throw new Refusal('CONFLICT', `There is an agent ${made.id} already`)
      return { made, budget: await railBudget(tx, { orgId, id: made.id, before: null, after: made, now }) }
    },
    apply: (desk, prepared) => {
      const { made, budget } = prepared as { readonly made: AgentRow; readonly budget: KeptOwn | null }
      if (budget !== null) applyKept(desk, actorOf(caller), budget)
      const view = remember(desk, made, 'created')
      desk.changes.audits.push(created(actorOf(caller), { kind: 'agent', id: view.id }, view))
      return view
    },
  }
}

/** The agent. */
export async function getAgent(ports: Ports, { orgId }: Caller, id: string): Promise<AgentView> {
  const [row] = await loadAgents(ports.database, { orgId, ids: [agentId(id)] })
  if (row === undefined) throw noAgent(id)
  return viewAgent(withPolicyInForce(row, ports.settings().retry))
}

/** A page of the org's agents, by id. */
export async function findAgentPage(
  ports: Pick<Ports, 'database' | 'settings'>,
  { orgId }: Caller,
  filter: PageFilter = {},
): Promise<Page<AgentView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const after = keep(parseIdCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const listed = await listAgentPage(ports.database, { orgId, after: agentId(after ?? ''), limit })
  const { retry } = ports.settings()
  const view = (row: AgentRow): AgentView => viewAgent(withPolicyInForce(row, retry))
  return pageOfListed(listed, view, ({ id }) => writeCursorParts([id]))
}

type AskedChange = Asked & { readonly change: AgentPatch }

/** Changes an agent. Runs that are pending keep the limits they were made with. */
export const changeAgent = async (ports: Ports, caller: Caller, asked: AskedChange): Promise<AgentView> =>
  ports.turns.take(await agentChange(ports, caller, asked))

/** The work of changing an agent, judged as far as it can be before it is handed in. */
export async function agentChange(ports: Ports, caller: Caller, asked: AskedChange): Promise<Work<AgentView>> {
  const { orgId } = caller
  judgeCommand(ports, caller, asked.change)
  await judgeSelfService(ports, caller, asked.change)
  await judgeExecutor(ports, asked.change)
  return {
    orgId,
    prepare: async (tx, now): Promise<ChangedAgent> => {
      const found = await agentAsked(tx, orgId, asked)
      const saved = { ...found, ...changedAgent(found, asked.change), updatedAt: now }
      const wrong = await judgeSecrets(tx, caller, { executor: saved.executor, before: found.executor })
      if (wrong.length > 0) throw invalid(wrong)
      await refuseLong(tx, orgId, asked.change)
      await requireProvider(tx, saved)
      await saveAgent(tx, saved)
      const after = { ...saved, version: found.version + 1 }
      return { before: found, after, budget: await railBudget(tx, { orgId, id: found.id, before: found, after, now }) }
    },
    apply: (desk, prepared) => {
      const { before, after, budget } = prepared as ChangedAgent
      if (budget !== null) applyKept(desk, actorOf(caller), budget)
      const view = remember(desk, after, 'updated')
      const views = { before: viewAgent(before), after: view }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'agent', id: view.id }, views))
      return view
    },
  }
}

async function refuseLong(tx: Transaction, orgId: OrgId, given: AgentPatch): Promise<void> {
  const org = given.timeout_seconds === undefined ? undefined : await loadOrg(tx, orgId)
  if (org !== undefined) refuseLongTimeout(given, org)
}

interface ChangedAgent {
  readonly before: AgentRow
  readonly after: AgentRow
  /** What everything may use that its attempts make by themselves. */
  readonly budget: KeptOwn | null
}

const railBudget = (
  tx: Transaction,
  of: {
    readonly orgId: OrgId
    readonly id: AgentRow['id']
    readonly before: AgentRow | null
    readonly after: AgentRow | null
    readonly now: Instant
  },
): Promise<KeptOwn | null> =>
  keepRailBudget(tx, {
    ...{ orgId: of.orgId, owner: ownerOfAgent(of.id), now: of.now },
    ...{ before: of.before?.selfService ?? null, after: of.after?.selfService ?? null },
  })

/** The agent somebody wants to change, if it is still what they saw. */
async function agentAsked(tx: Transaction, orgId: OrgId, { id, version }: Asked): Promise<AgentRow> {
  const [found] = await loadAgents(tx, { orgId, ids: [agentId(id)] })
  if (found === undefined) throw noAgent(id)
  if (version === undefined || version === found.version) return found
  throw new Refusal('STALE_VERSION', `Agent ${found.id} is at version ${found.version}`, {
    details: { version: found.version },
  })
}

/** Deletes an agent that no schedule wakes. Its runs stay. */
export const removeAgent = async (ports: Ports, caller: Caller, asked: Asked): Promise<void> =>
  ports.turns.take(agentRemoval(caller, asked))

interface Removal {
  readonly found: AgentRow
  readonly heartbeat: HeartbeatRow | undefined
  readonly budget: KeptOwn | null
}

/** The work of deleting an agent. `isUnused`: whoever hands it in has seen to it that no schedule wakes it then. */
export function agentRemoval(caller: Caller, asked: Asked & { readonly isUnused?: true }): Work<void> {
  const { orgId } = caller
  const { id } = asked
  return {
    orgId,
    prepare: async (tx, now) => {
      const found = await agentAsked(tx, orgId, asked)
      const schedules = asked.isUnused === true ? 0 : await countSchedules(tx, { orgId, agentId: agentId(id) })
      if (schedules > 0)
        throw new Refusal('CONFLICT', `Agent ${id} is woken by ${schedules} schedules`, { details: { schedules } })
      const [heartbeat] = await loadHeartbeats(tx, { orgId, agentIds: [found.id] })
      await deleteAgent(tx, { orgId, id: agentId(id) })
      return {
        found,
        heartbeat,
        budget: await railBudget(tx, { orgId, id: found.id, before: found, after: null, now }),
      }
    },
    apply: (desk, prepared) => {
      const { found, heartbeat, budget } = prepared as Removal
      if (heartbeat !== undefined) endStreak(desk, heartbeat)
      if (budget !== null) applyKept(desk, actorOf(caller), budget)
      // Pending runs of it go on with what is remembered of it.
      const isNeeded = [...desk.runs.values()].some((run) => run.agentId === id)
      if (!isNeeded) desk.agents.delete(agentId(id))
      desk.changes.events.push({ kind: 'agent.changed', subject: id, data: { change: 'deleted' } })
      const before = viewAgent(found)
      desk.changes.audits.push(deleted(actorOf(caller), { kind: 'agent', id }, before))
    },
  }
}

function remember(desk: Desk, row: AgentRow, change: string): AgentView {
  const { id } = row
  if (desk.agents.has(id)) desk.agents.set(id, onDesk(row))
  desk.changes.events.push({ kind: 'agent.changed', subject: id, data: { change } })
  return viewAgent(withPolicyInForce(row, desk.settings.retry))
}

/** An agent as every surface shows it. */
export const viewAgent = (row: AgentRow): AgentView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  description: row.description,
  executor: maskedExecutor(row.executor) as AgentView['executor'],
  retry_policy: row.retryPolicy === null ? null : viewRetryPolicy(row.retryPolicy),
  timeout_seconds: row.timeoutSeconds,
  max_concurrent: row.maxConcurrent,
  context_window: row.contextWindow,
  default_session: row.defaultSession,
  self_service: viewRailsOrNull(row.selfService),
  provider: row.provider,
  version: row.version,
  created_at: formatInstant(row.createdAt),
  updated_at: formatInstant(row.updatedAt),
})
