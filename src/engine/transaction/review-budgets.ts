import type { RunId } from '../../domain/ids.ts'
import type { Command } from '../commands-port.ts'
import { budgetLoads, applyBudgetRows } from '../commands/budgets.ts'
import { quotaLoads, applyProviderRows, agentsToRead } from '../commands/quotas.ts'
import { checkBudgets } from '../org-state/budget-balance.ts'
import {
  storeTypicalUsage,
  recordUsage,
  type OrgBudgets,
  TYPICAL_USAGE_RUNS,
  requestTypicalUsage,
} from '../org-state/budget-usage.ts'
import type { LoadedOrg } from '../org-state/memory.ts'
import type { OrgState } from '../org-state/org-state.ts'
import { storeTypicalTokens as bookQuotaHabits, recordTokens, TYPICAL_TOKENS_RUNS } from '../org-state/quota-usage.ts'
import { loadBudgets } from '../../features/budgets/store.ts'
import {
  loadRecentUsageOfAgents,
  loadRecentUsageOfSchedules,
  loadUsages,
  type RunUsage,
} from '../../features/budgets/usage-store.ts'
import { loadProviders } from '../../features/providers/store.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'

/** Loads the providers of the org with their quota state, and the usage of runs that other nodes have ended. */
export async function loadQuotasIntoState(
  connection: Connection,
  { state }: LoadedOrg,
  touched: ReadonlySet<RunId>,
): Promise<void> {
  const { orgId } = state
  applyProviderRows(state, await loadProviders(connection, { orgId }))
  const usage = state.quotas
  if (usage === null || usage.typicalTokens.size === 0) return
  const ids = [...touched].filter((id) => !state.runs.has(id))
  if (ids.length === 0) return
  for (const run of await loadUsages(connection, { orgId, ids })) recordTokens(usage, run)
}

/** Updates the ready queue with the providers' present quotas, before runs are picked. */
export async function reviewQuotas(tx: Transaction, org: LoadedOrg): Promise<void> {
  const { state } = org
  const ids = state.quotas === null ? [] : agentsToRead(state, state.quotas)
  if (state.quotas !== null && ids.length > 0) {
    const each = TYPICAL_TOKENS_RUNS
    bookQuotaHabits(state.quotas, ids, await loadRecentUsageOfAgents(tx, { orgId: state.orgId, ids, perId: each }))
  }
  applyQuotas(org)
}

/** The same, once the token usage of all agents is read. */
export function applyQuotas({ state, readyQueue }: LoadedOrg): void {
  if (state.quotasChanged) readyQueue.setProviders(quotaLoads(state))
  state.quotasChanged = false
  readyQueue.reviewProviders(state.now)
}

/** Loads the budgets of the org with their usage, and the usage of runs that other nodes have ended. */
export async function loadBudgetsIntoState(
  connection: Connection,
  { state }: LoadedOrg,
  touched: ReadonlySet<RunId>,
): Promise<void> {
  const { orgId } = state
  applyBudgetRows(state, await loadBudgets(connection, { orgId }))
  const ended = [...touched].filter((id) => !state.runs.has(id))
  if (state.budgets === null || ended.length === 0) return
  for (const run of await loadUsages(connection, { orgId, ids: ended })) recordUsage(state.budgets, run)
}

/** Reads the typical usage of all agents and schedules of the commands, before they are applied. */
export async function loadTypicalUsageFor(
  tx: Transaction,
  { state }: LoadedOrg,
  commands: readonly Pick<Command<unknown>, 'needs'>[],
): Promise<void> {
  if (state.budgets === null) return
  for (const { needs } of commands) {
    for (const agentId of needs?.agents ?? []) requestTypicalUsage(state.budgets, { agentId, scheduleId: null })
    for (const id of needs?.schedules ?? []) {
      const row = state.schedules.get(id)
      if (row !== undefined) requestTypicalUsage(state.budgets, { agentId: row.agentId, scheduleId: id })
    }
  }
  await readTypicalUsage(tx, state, state.budgets)
}

async function readTypicalUsage(connection: Connection, { orgId }: OrgState, usage: OrgBudgets): Promise<void> {
  const { agents, schedules } = usage.unread
  if (agents.size === 0 && schedules.size === 0) return
  const nothing: readonly RunUsage[] = []
  const each = TYPICAL_USAGE_RUNS
  storeTypicalUsage(usage, {
    agents:
      agents.size === 0 ? nothing : await loadRecentUsageOfAgents(connection, { orgId, ids: [...agents], perId: each }),
    schedules:
      schedules.size === 0
        ? nothing
        : await loadRecentUsageOfSchedules(connection, { orgId, ids: [...schedules], perId: each }),
  })
}

/** Updates the ready queue with the remaining budgets, before runs are picked. */
export async function reviewBudgets(tx: Transaction, org: LoadedOrg): Promise<void> {
  const { state } = org
  if (state.budgets !== null) await readTypicalUsage(tx, state, state.budgets)
  applyBudgets(org)
}

/** The same, once all typical usage is read. */
export function applyBudgets({ state, readyQueue, timers }: LoadedOrg): void {
  if (state.reservesChanged) for (const run of state.runs.values()) readyQueue.put(run)
  state.reservesChanged = false
  checkBudgets(state)
  const loads = budgetLoads(state)
  readyQueue.setBudgets(loads)
  // A period that ends lets waiting runs start. Timers are keyed by run ids; no run has the id of a budget.
  for (const [id, { until }] of loads) timers.set(id as string as RunId, until)
}
