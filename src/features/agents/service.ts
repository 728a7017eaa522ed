import type { PageFilter } from '../../api/common.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { ownerOfAgent } from '../../domain/access/restrictions.ts'
import { fromMicros } from '../../domain/budget/budget.ts'
import { agentId, type OrgId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { DAY_MS, formatInstant, type Instant, instant, later } from '../../domain/instant.ts'
import { withEffectivePolicy } from '../../domain/run/retry-policy.ts'
import { maskExecutor } from '../../domain/secret/mask.ts'
import type { Command } from '../../engine/commands-port.ts'
import { endHeartbeatAlert } from '../../engine/commands/heartbeats.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import { toLoadedAgent } from '../../engine/org-state/load.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { Ports } from '../../engine/ports.ts'
import { commandRefusal, NO_COMMANDS, parseCommandOptions } from '../../executors/command/options.ts'
import type { Caller } from '../access/caller.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { saveRestrictionBudget } from '../access/restricted-input.ts'
import { viewRestrictionsOrNull } from '../access/restrictions.ts'
import { changedAgent, checkExecutorUrl, newAgent, requireProvider } from './input.ts'
import type {
  AgentInput,
  AgentOutcomes,
  AgentOutcomesFilter,
  AgentPatch,
  AgentStats,
  AgentStatsFilter,
  AgentView,
} from './schema.ts'
import {
  type AgentDay,
  type AgentRow,
  deleteAgentRow,
  insertAgents,
  listAgentPage,
  loadAgentDays,
  loadAgentOutcomes,
  loadAgents,
  saveAgent,
} from './store.ts'
import { actorOf, changed, created, deleted } from '../audit/entry.ts'
import { refuseLongTimeout } from '../budgets/limits.ts'
import { applyBudgetChange } from '../budgets/stored-budget.ts'
import { type HeartbeatRow, loadHeartbeats } from '../heartbeats/store.ts'
import type { OwnBudgetResult } from '../schedules/budget.ts'
import type { ScheduleRef } from '../schedules/editing.ts'
import { countSchedules } from '../schedules/store.ts'
import { viewRetryPolicy } from '../schedules/view.ts'
import { checkSecretsOfExecutor } from '../secrets/use.ts'
import { pageOfListed, parseIdCursor, parseLimit, writeCursorParts } from '../../platform/db/cursor.ts'
import type { Transaction } from '../../platform/db/database.ts'

/**
 * Refuses `self_service` to callers without `admin:*`, and on a deployment without an encryption key to sign attempt keys
 * with, so that it does not fail at the first attempt.
 */
async function checkSelfService({ vault }: Pick<Ports, 'vault'>, caller: Caller, input: AgentPatch): Promise<void> {
  if ((input as AgentPatch | null)?.self_service === undefined || input.self_service === null) return
  if (caller.principal !== null && caller.isAdmin !== true)
    throw new Refusal('FORBIDDEN', 'admin:* is required to set self_service, which gives attempts keys of their own', {
      details: { permission: 'admin:*', field: 'self_service' },
    })
  await vault.check()
}

/**
 * A command runs on the operator's machine, so only an owner of the operator org may set it, and only to a command that
 * the operator's file allows. Checked for every way to create or update an agent.
 */
function checkCommandExecutor(
  { commandRules: commands }: Pick<Ports, 'commandRules'>,
  { isOperatorOwner = false }: Caller,
  { executor }: AgentPatch,
): void {
  if (executor?.kind !== 'command') return
  if (!isOperatorOwner)
    throw new Refusal('FORBIDDEN', 'Only an owner of the operator org can create agents with the command executor')
  const read = parseCommandOptions('executor', executor)
  if (!read.ok) throw invalid(read.flaws)
  const refusal = commandRefusal(read.value, commands?.() ?? NO_COMMANDS)
  if (refusal === null) return
  const { field, message, allowed } = refusal
  const value = field === 'kind' ? 'command' : read.value[field]
  throw invalid([{ field: `executor.${field}`, value, message, ...(allowed === undefined ? {} : { allowed }) }])
}

const agentNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no agent ${id}`)

/** Creates an agent, with a generated id unless one is given. */
export const createAgent = async (ports: Ports, caller: Caller, input: AgentInput): Promise<AgentView> =>
  ports.commands.execute(bindToKey(await createAgentCommand(ports, caller, input), caller))

/** The command that creates an agent, after the checks that need no transaction. */
export async function createAgentCommand(ports: Ports, caller: Caller, input: AgentInput): Promise<Command<AgentView>> {
  const { orgId } = caller
  checkCommandExecutor(ports, caller, input)
  await checkSelfService(ports, caller, input)
  await checkExecutorUrl(ports, input)
  return {
    orgId,
    prepare: async (tx, now) => {
      const newRow = newAgent(input, { orgId, now, newId: () => ports.newId('agent', now) })
      const wrong = await checkSecretsOfExecutor(tx, caller, { executor: newRow.executor, before: null })
      if (wrong.length > 0) throw invalid(wrong)
      await refuseLongAgentTimeout(tx, orgId, input)
      await requireProvider(tx, newRow)
      const [inserted] = await insertAgents(tx, [newRow])
      if (inserted === undefined) throw new Refusal('CONFLICT', `The agent ${newRow.id} already exists`)
      return {
        made: newRow,
        budget: await saveAgentRestrictionBudget(tx, { orgId, id: newRow.id, before: null, after: newRow, now }),
      }
    },
    apply: (state, prepared) => {
      const { made: newRow, budget } = prepared as { readonly made: AgentRow; readonly budget: OwnBudgetResult | null }
      if (budget !== null) applyBudgetChange(state, actorOf(caller), budget)
      const view = updateAgentState(state, newRow, 'created')
      state.changes.audits.push(created(actorOf(caller), { kind: 'agent', id: view.id }, view))
      return view
    },
  }
}

export async function getAgent(ports: Ports, { orgId }: Caller, id: string): Promise<AgentView> {
  const [row] = await loadAgents(ports.database, { orgId, ids: [agentId(id)] })
  if (row === undefined) throw agentNotFound(id)
  return viewAgent(withEffectivePolicy(row, ports.settings().retry))
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
  const view = (row: AgentRow): AgentView => viewAgent(withEffectivePolicy(row, retry))
  return pageOfListed(listed, view, ({ id }) => writeCursorParts([id]))
}

type AgentUpdateRequest = ScheduleRef & { readonly change: AgentPatch }

/** Updates an agent. Pending runs keep the limits they were created with. */
export const updateAgent = async (ports: Ports, caller: Caller, request: AgentUpdateRequest): Promise<AgentView> =>
  ports.commands.execute(await updateAgentCommand(ports, caller, request))

/** The command that updates an agent, after the checks that need no transaction. */
export async function updateAgentCommand(
  ports: Ports,
  caller: Caller,
  request: AgentUpdateRequest,
): Promise<Command<AgentView>> {
  const { orgId } = caller
  checkCommandExecutor(ports, caller, request.change)
  await checkSelfService(ports, caller, request.change)
  await checkExecutorUrl(ports, request.change)
  return {
    orgId,
    prepare: async (tx, now): Promise<PreparedAgentUpdate> => {
      const found = await loadRequestedAgent(tx, orgId, request)
      const saved = { ...found, ...changedAgent(found, request.change), updatedAt: now }
      const wrong = await checkSecretsOfExecutor(tx, caller, { executor: saved.executor, before: found.executor })
      if (wrong.length > 0) throw invalid(wrong)
      await refuseLongAgentTimeout(tx, orgId, request.change)
      await requireProvider(tx, saved)
      await saveAgent(tx, saved)
      const after = { ...saved, version: found.version + 1 }
      return {
        before: found,
        after,
        budget: await saveAgentRestrictionBudget(tx, { orgId, id: found.id, before: found, after, now }),
      }
    },
    apply: (state, prepared) => {
      const { before, after, budget } = prepared as PreparedAgentUpdate
      if (budget !== null) applyBudgetChange(state, actorOf(caller), budget)
      const view = updateAgentState(state, after, 'updated')
      const views = { before: viewAgent(before), after: view }
      state.changes.audits.push(changed(actorOf(caller), { kind: 'agent', id: view.id }, views))
      return view
    },
  }
}

async function refuseLongAgentTimeout(tx: Transaction, orgId: OrgId, given: AgentPatch): Promise<void> {
  const org = given.timeout_seconds === undefined ? undefined : await loadOrg(tx, orgId)
  if (org !== undefined) refuseLongTimeout(given, org)
}

interface PreparedAgentUpdate {
  readonly before: AgentRow
  readonly after: AgentRow
  /** The budget of everything its attempts create. */
  readonly budget: OwnBudgetResult | null
}

const saveAgentRestrictionBudget = (
  tx: Transaction,
  of: {
    readonly orgId: OrgId
    readonly id: AgentRow['id']
    readonly before: AgentRow | null
    readonly after: AgentRow | null
    readonly now: Instant
  },
): Promise<OwnBudgetResult | null> =>
  saveRestrictionBudget(tx, {
    ...{ orgId: of.orgId, owner: ownerOfAgent(of.id), now: of.now },
    ...{ before: of.before?.selfService ?? null, after: of.after?.selfService ?? null },
  })

/** The agent to change, if it still has the version the caller read. */
async function loadRequestedAgent(tx: Transaction, orgId: OrgId, { id, version }: ScheduleRef): Promise<AgentRow> {
  const [found] = await loadAgents(tx, { orgId, ids: [agentId(id)] })
  if (found === undefined) throw agentNotFound(id)
  if (version === undefined || version === found.version) return found
  throw new Refusal('STALE_VERSION', `Agent ${found.id} is at version ${found.version}`, {
    details: { version: found.version },
  })
}

/** Deletes an agent that no schedule uses. Its runs stay. */
export const deleteAgent = async (ports: Ports, caller: Caller, request: ScheduleRef): Promise<void> =>
  ports.commands.execute(deleteAgentCommand(caller, request))

interface PreparedAgentDeletion {
  readonly found: AgentRow
  readonly heartbeat: HeartbeatRow | undefined
  readonly budget: OwnBudgetResult | null
}

/** The command that deletes an agent. `isUnused`: the caller has checked that no schedule uses it. */
export function deleteAgentCommand(caller: Caller, request: ScheduleRef & { readonly isUnused?: true }): Command<void> {
  const { orgId } = caller
  const { id } = request
  return {
    orgId,
    prepare: async (tx, now) => {
      const found = await loadRequestedAgent(tx, orgId, request)
      const schedules = request.isUnused === true ? 0 : await countSchedules(tx, { orgId, agentId: agentId(id) })
      if (schedules > 0)
        throw new Refusal('CONFLICT', `Agent ${id} is used by ${schedules} schedules`, { details: { schedules } })
      const [heartbeat] = await loadHeartbeats(tx, { orgId, agentIds: [found.id] })
      await deleteAgentRow(tx, { orgId, id: agentId(id) })
      return {
        found,
        heartbeat,
        budget: await saveAgentRestrictionBudget(tx, { orgId, id: found.id, before: found, after: null, now }),
      }
    },
    apply: (state, prepared) => {
      const { found, heartbeat, budget } = prepared as PreparedAgentDeletion
      if (heartbeat !== undefined) endHeartbeatAlert(state, heartbeat)
      if (budget !== null) applyBudgetChange(state, actorOf(caller), budget)
      // Pending runs of the agent still need its settings.
      const isNeeded =
        [...state.runs.values()].some((run) => run.agentId === id) ||
        [...state.backlog.lines.values()].some((line) => line.agentId === id)
      if (!isNeeded) state.agents.delete(agentId(id))
      state.changes.events.push({ kind: 'agent.changed', subject: id, data: { change: 'deleted' } })
      const before = viewAgent(found)
      state.changes.audits.push(deleted(actorOf(caller), { kind: 'agent', id }, before))
    },
  }
}

function updateAgentState(state: OrgState, row: AgentRow, change: string): AgentView {
  const { id } = row
  if (state.agents.has(id)) state.agents.set(id, toLoadedAgent(row))
  state.changes.events.push({ kind: 'agent.changed', subject: id, data: { change } })
  return viewAgent(withEffectivePolicy(row, state.settings.retry))
}

/** An agent as the API returns it. */
export const viewAgent = (row: AgentRow): AgentView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  description: row.description,
  executor: maskExecutor(row.executor) as AgentView['executor'],
  retry_policy: row.retryPolicy === null ? null : viewRetryPolicy(row.retryPolicy),
  timeout_seconds: row.timeoutSeconds,
  max_concurrent: row.maxConcurrent,
  context_window: row.contextWindow,
  default_session: row.defaultSession,
  self_service: viewRestrictionsOrNull(row.selfService),
  provider: row.provider,
  version: row.version,
  created_at: formatInstant(row.createdAt),
  updated_at: formatInstant(row.updatedAt),
})

const DEFAULT_DAYS = 14

/** How the runs of an agent went, day by day. */
export async function readAgentStats(
  ports: Ports,
  caller: Caller,
  { id, filter }: { readonly id: string; readonly filter: AgentStatsFilter },
): Promise<AgentStats> {
  const { id: known } = await getAgent(ports, caller, id)
  const { days = DEFAULT_DAYS } = filter
  const now = ports.clock.now()
  const from = instant(Math.floor(now / DAY_MS) * DAY_MS - (days - 1) * DAY_MS)
  const rows = await loadAgentDays(ports.database, { orgId: caller.orgId, agentId: agentId(known), from })
  const byDay = new Map(rows.map((row) => [row.at, row]))
  return {
    agent_id: known,
    from: formatInstant(from),
    to: formatInstant(now),
    total: figuresOf(byDay.get(null)),
    days: Array.from({ length: days }, (_, index) => {
      const at = later(from, index * DAY_MS)
      return { at: formatInstant(at), ...figuresOf(byDay.get(at)) }
    }),
  }
}

const figuresOf = (day: AgentDay | undefined): AgentStats['total'] => ({
  runs: day?.runs ?? 0,
  success: day?.success ?? 0,
  duration_p50_ms: roundedOrNull(day?.p50 ?? null),
  duration_p95_ms: roundedOrNull(day?.p95 ?? null),
  tokens: day?.tokens ?? 0,
  cost: fromMicros(day?.costMicros ?? 0),
})

const roundedOrNull = (ms: number | null): number | null => (ms === null ? null : Math.round(ms))

const MAX_OUTCOME_AGENTS = 200
const DEFAULT_OUTCOMES = 20

/** The last runs of some agents. Unknown agents are left out. */
export async function readAgentOutcomes(
  { database }: Pick<Ports, 'database'>,
  { orgId }: Caller,
  filter: AgentOutcomesFilter,
): Promise<AgentOutcomes> {
  const ids = [...new Set(filter.ids.split(',').map((id) => id.trim()))].filter((id) => id !== '')
  if (ids.length > MAX_OUTCOME_AGENTS)
    throw invalid([
      { field: 'ids', value: ids.length, message: 'names too many agents', allowed: `${MAX_OUTCOME_AGENTS}` },
    ])
  const rows = await loadAgentOutcomes(database, {
    ...{ orgId, ids: ids.map((id) => agentId(id)), limit: filter.limit ?? DEFAULT_OUTCOMES },
  })
  const runs = new Map<string, AgentOutcomes['items'][number]['runs'][number][]>()
  for (const { agentId: agent, id, state, createdAt } of rows) {
    const known = runs.get(agent) ?? []
    if (id !== null) known.push({ id, status: state, created_at: formatInstant(createdAt) })
    runs.set(agent, known)
  }
  return { items: [...runs].map(([agent, found]) => ({ agent_id: agent, runs: found })) }
}
