import { BUDGET_ALERT_KINDS, type AlertDecision, type BudgetAlertKind } from '../../domain/alerts.ts'
import { decideBudgetAlert, isExhausted } from '../../domain/budget/budget-alerts.ts'
import { fromMicros, budgetUnitText, type Budget } from '../../domain/budget/budget.ts'
import type { BudgetId, ScheduleId } from '../../domain/ids.ts'
import { because } from '../../domain/reasons.ts'
import { endAlert, raiseAlert } from '../commands/alerts.ts'
import { leastExpected, periodOf, balanceOf, type BudgetWithUsage } from './budget-usage.ts'
import type { OrgState } from './org-state.ts'

/**
 * Pauses a budget with `pause` that is used up, and raises or clears the alerts at 80 %, at 100 % and when the rest
 * admits no further run. Evaluated once per transaction from the balance, not from the spending of the transaction: a
 * larger amount and the next period clear the alerts, and the usage that a node of an earlier release has counted
 * raises them.
 */
export function checkBudgets(state: OrgState): void {
  if (state.budgets === null) return
  for (const entry of state.budgets.budgets.values()) {
    const use = balanceOf(entry, state.now, 0)
    if (isExhausted(entry.budget, use, 0)) pauseBudget(state, entry)
    const leastReserve = leastExpected(state.budgets, entry.budget)
    for (const kind of BUDGET_ALERT_KINDS) {
      const raised = entry.alerts[kind] !== undefined
      const periodEnd = periodOf(entry, state.now).end
      const facts = { budget: entry.budget, spent: use.spent, periodEnd, leastReserve, raised }
      applyBudgetAlert(state, entry, { kind, decision: decideBudgetAlert(kind, facts) })
    }
  }
}

/** Nothing starts under the budget from now on, also in the next period, until a user resumes it. */
export function pauseBudget(state: OrgState, entry: BudgetWithUsage): void {
  entry.budget = { ...entry.budget, pausedAt: state.now }
  state.changes.budgets.add(entry)
  state.changes.events.push({ kind: 'budget.changed', subject: entry.budget.id, data: { change: 'paused' } })
}

function applyBudgetAlert(
  state: OrgState,
  entry: BudgetWithUsage,
  { kind, decision }: { readonly kind: BudgetAlertKind; readonly decision: AlertDecision },
): void {
  if (decision.kind === 'none') return
  const { [kind]: open, ...others } = entry.alerts
  const id = open ?? budgetAlertId(state, entry.budget)
  const alert = { id, kind, ...budgetAlertSubject(entry.budget), why: decision.why }
  state.changes.budgets.add(entry)
  entry.alerts = decision.kind === 'raise' ? { ...others, [kind]: id } : others
  if (decision.kind === 'raise') raiseAlert(state, alert)
  else endAlert(state, alert)
}

/**
 * A larger amount has room again, as far as this node knows; a node that knows the expected usage may raise the alert
 * again.
 */
export function clearNoRoom(state: OrgState, id: BudgetId): void {
  const entry = state.budgets?.budgets.get(id)
  if (entry?.alerts.budget_no_room === undefined) return
  const { amount, unit } = entry.budget
  const evidence = { budget: id, spent: balanceOf(entry, state.now, 0).spent, amount, unit: budgetUnitText(unit) }
  applyBudgetAlert(state, entry, {
    ...{ kind: 'budget_no_room', decision: { kind: 'clear', why: because('budget_open', 'budget.amount', evidence) } },
  })
}

const budgetAlertSubject = (budget: Budget) =>
  ({ subjectKind: 'budget', subjectId: budget.id, about: budgetTitle(budget) }) as const

/** A budget as text: `1000 tokens per day of agent writer`. */
export function budgetTitle({
  scope,
  unit,
  amount,
  period,
}: Pick<Budget, 'scope' | 'unit' | 'amount' | 'period'>): string {
  const shown = unit === 'money' ? fromMicros(amount) : amount
  return `${shown} ${unit === 'money' ? 'money' : 'tokens'} per ${period} of ${scopeName(scope)}`
}

function scopeName(scope: Budget['scope']): string {
  switch (scope.kind) {
    case 'org':
      return 'the org'
    case 'agent':
      return `agent ${scope.agentId}`
    case 'schedule':
      return `schedule ${scope.scheduleId}`
    case 'owner':
      return `everything created by ${scope.owner}`
  }
}

/** Transaction numbers are unique within an org; one transaction may raise several alerts, also of the same budget. */
const budgetAlertId = ({ transactionNo: turnNo, changes }: OrgState, { id }: Budget): string =>
  `alr_${id.replace(/^bud_/, '')}_${turnNo}_${changes.alerts.length}`

/** Ends the alerts of a deleted budget. */
export function endBudgetAlerts(state: OrgState, { budget, alerts }: Pick<BudgetWithUsage, 'budget' | 'alerts'>): void {
  const why = because('budget_gone', 'budget.delete', { budget: budgetTitle(budget) })
  for (const kind of BUDGET_ALERT_KINDS) {
    const id = alerts[kind]
    if (id !== undefined) endAlert(state, { id, kind, ...budgetAlertSubject(budget), why })
  }
}

/** Deletes the budgets of a deleted schedule. */
export function deleteBudgetsOf(state: OrgState, gone: ScheduleId): void {
  const budgets = state.budgets
  if (budgets === null) return
  for (const [id, entry] of budgets.budgets) {
    const { scope } = entry.budget
    if (scope.kind !== 'schedule' || scope.scheduleId !== gone) continue
    endBudgetAlerts(state, entry)
    budgets.budgets.delete(id)
    state.changes.goneBudgets.add(id)
    state.changes.events.push({ kind: 'budget.changed', subject: id, data: { change: 'deleted' } })
  }
  if (budgets.budgets.size > 0) return
  state.budgets = null
  state.reservesChanged = true
}
