import { amountsStated, amountsUsed } from '../../domain/budget/amounts.ts'
import { isExhausted } from '../../domain/budget/budget-alerts.ts'
import { decideBudget, remaining, budgetUnitText } from '../../domain/budget/budget.ts'
import type { BudgetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { BudgetLoad } from '../../domain/queue/gates.ts'
import type { Why } from '../../domain/reasons.ts'
import { isInFlight } from '../../domain/run/run.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { BudgetWithPeriods } from '../../features/budgets/store.ts'
import type { RunRow } from '../../features/runs/store.ts'
import {
  replaceBudgets,
  recordUsage,
  budgetsFor,
  emptyBudgets,
  expectedUse,
  periodOf,
  reservedIn,
  balanceOf,
  requestTypicalUsage,
  type OrgBudgets,
  type Spender,
  type StatedReserve,
} from '../org-state/budget-usage.ts'
import { pauseBudget } from '../org-state/budget-balance.ts'
import type { OrgState } from '../org-state/org-state.ts'

/**
 * Applies budgets. `skip` and `pause` refuse new work; when runs are picked, every budget closes its gate, so that work
 * admitted while there was room does not start when there is none any more. The reserve of a waiting run is computed on
 * demand; that of a run in flight is fixed, stored, and released when the run leaves flight. A budget with `pause` is
 * paused by work it refuses although all reserves in flight were released.
 */

/**
 * Replaces the budgets by those from the database; when the set has changed, the reserves of all waiting runs are
 * computed again.
 */
export function applyBudgetRows(state: OrgState, rows: readonly BudgetWithPeriods[]): void {
  if (rows.length === 0 && state.budgets === null) return
  const budgets = state.budgets ?? budgetsWithHolders(state)
  const others = replaceBudgets(budgets, rows)
  state.budgets = rows.length === 0 ? null : budgets
  if (!others || state.runs.size === 0) return
  for (const run of state.runs.values()) {
    if (isInFlight(run.state)) continue
    run.reserves = state.budgets === null ? [] : reservesFor(budgets, run)
  }
  state.reservesChanged = true
}

/** A new set of budgets. Other nodes may have started runs under a budget before this node loads it. */
function budgetsWithHolders(state: OrgState): OrgBudgets {
  const budgets = emptyBudgets()
  for (const run of state.runs.values()) addHolder(budgets, run)
  return budgets
}

function addHolder(budgets: OrgBudgets, run: RunRow): void {
  if (isInFlight(run.state) && run.reserves.length > 0) budgets.holders.add(run)
}

/**
 * The reserves of a waiting run, computed on each read, because the usage of earlier runs may change while it waits.
 */
function reservesFor(budgets: OrgBudgets, run: RunRow): readonly StatedReserve[] {
  const stated = statedAmounts(budgets, run)
  const { agentId, scheduleId } = run
  requestTypicalUsage(budgets, run)
  return budgetsFor(budgets, run).map(({ budget: { id, unit } }) => {
    const spender = { agentId, scheduleId, stated: stated[unit] }
    return {
      budgetId: id,
      stated: stated[unit],
      get amount() {
        return expectedUse(budgets, id, spender)
      },
    }
  })
}

/** A large payload is not in memory; what it stated is kept in the reserves. */
function statedAmounts(budgets: OrgBudgets, run: RunRow): ReturnType<typeof amountsStated> {
  if (run.payload !== undefined) return amountsStated(run.payload)
  const stated: Record<keyof ReturnType<typeof amountsStated>, number | null> = { tokens: null, money: null }
  for (const reserve of run.reserves) {
    const unit = budgets.budgets.get(reserve.budgetId)?.budget.unit
    if (unit !== undefined) stated[unit] ??= (reserve as Partial<StatedReserve>).stated ?? null
  }
  return stated
}

/**
 * Updates the reserves of a run that was created, loaded, or has changed its state. `from` is null for a new or loaded
 * one.
 */
export function updateReserves(budgets: OrgBudgets, run: RunRow, from: RunState | null): void {
  if (isTerminal(run.state)) {
    // Includes failed runs, because the usage an earlier attempt reported is stored and read again after a restart.
    if (run.usage !== null) recordUsage(budgets, run)
    return
  }
  if (!isInFlight(run.state)) {
    run.reserves = reservesFor(budgets, run)
    return
  }
  // A run loaded in flight keeps the reserves that were fixed when it started.
  if (from !== null && !isInFlight(from)) run.reserves = run.reserves.map((reserve) => ({ ...reserve }))
  addHolder(budgets, run)
}

/** A closed budget: why, and when it opens at the latest. Null: when a user resumes it. */
export interface ClosedBudget {
  readonly why: Why
  readonly until: Instant | null
}

/** The budget that refuses new work of the spender, if one does. Budgets that queue admit it. */
export function closedBudget(state: OrgState, spender: Spender & Pick<RunRow, 'payload'>): ClosedBudget | null {
  const budgets = state.budgets
  if (budgets === null) return null
  const stated = amountsStated(spender.payload)
  const reserved = reservedInState(state, budgets)
  const facts = budgetsFor(budgets, spender).map((entry) => {
    const { id, unit } = entry.budget
    const reserve = expectedUse(budgets, id, { ...spender, stated: stated[unit] })
    const usage = balanceOf(entry, state.now, reserved.get(id) ?? 0)
    if (isExhausted(entry.budget, usage, reserve)) pauseBudget(state, entry)
    return { budget: entry.budget, usage, reserve }
  })
  const decision = decideBudget(facts, state.now)
  return decision.kind === 'open' || decision.action === 'queue' ? null : decision
}

/** Adds the usage of an attempt to the period of its report. */
export function recordSpending(state: OrgState, run: RunRow): void {
  const budgets = state.budgets
  if (budgets === null) return
  const used = amountsUsed(run.usage)
  for (const entry of budgetsFor(budgets, run)) {
    const { budget, spent } = entry
    const amount = used[budget.unit] ?? 0
    if (amount === 0) continue
    const { start } = periodOf(entry, state.now)
    spent.set(start, (spent.get(start) ?? 0) + amount)
    const key = `${budget.id} ${start}`
    const before = state.changes.spendings.get(key)?.used ?? 0
    state.changes.spendings.set(key, { budgetId: budget.id, start, used: before + amount })
  }
}

/** The remaining amount of every budget, for the gate at picking. */
export function budgetLoads(state: OrgState): ReadonlyMap<BudgetId, BudgetLoad> {
  const loads = new Map<BudgetId, BudgetLoad>()
  const budgets = state.budgets
  if (budgets === null) return loads
  const reserved = reservedInState(state, budgets)
  for (const [id, entry] of budgets.budgets) {
    const { budget } = entry
    loads.set(id, {
      remaining: remaining(budget, balanceOf(entry, state.now, reserved.get(id) ?? 0)),
      unit: budgetUnitText(budget.unit),
      until: budget.pausedAt === null ? periodOf(entry, state.now).end : null,
    })
  }
  return loads
}

/** A run that was loaded again is another object: the one before holds nothing. */
const reservedInState = (state: OrgState, budgets: OrgBudgets): ReadonlyMap<BudgetId, number> =>
  reservedIn(budgets, (run) => state.runs.get(run.id) === run)
