import { BUDGET_ALERT_KINDS, type AlertDecision, type BudgetAlertKind } from '../../domain/alerts.ts'
import { decideBudgetAlert, isUsedUp } from '../../domain/budget/budget-alerts.ts'
import { fromMicros, unitWord, type Budget } from '../../domain/budget/budget.ts'
import type { BudgetId, ScheduleId } from '../../domain/ids.ts'
import { because } from '../../domain/reasons.ts'
import { endAlert, raiseAlert } from './alerts.ts'
import { leastExpected, periodOf, useOf, type BookedBudget } from './budget-book.ts'
import type { Desk } from './desk.ts'

/**
 * What becomes of a budget by itself: it stands still when it is used up and says `pause`, and its org is told at 80 %, at
 * 100 % and when what is left admits no further run. Judged once per turn from where the budget stands, not from what was spent in the turn: so a larger amount and
 * the next period clear what they should, and what a node of an earlier release has counted is told of too.
 */
export function judgeBudgets(desk: Desk): void {
  if (desk.budgets === null) return
  for (const booked of desk.budgets.budgets.values()) {
    const use = useOf(booked, desk.now, 0)
    if (isUsedUp(booked.budget, use, 0)) pauseBudget(desk, booked)
    const leastReserve = leastExpected(desk.budgets, booked.budget)
    for (const kind of BUDGET_ALERT_KINDS) {
      const raised = booked.alerts[kind] !== undefined
      const periodEnd = periodOf(booked, desk.now).end
      const facts = { budget: booked.budget, spent: use.spent, periodEnd, leastReserve, raised }
      follow(desk, booked, { kind, decision: decideBudgetAlert(kind, facts) })
    }
  }
}

/** From now on nothing starts under the budget, also in the next period, until a person lets it go on. */
export function pauseBudget(desk: Desk, booked: BookedBudget): void {
  booked.budget = { ...booked.budget, pausedAt: desk.now }
  desk.changes.budgets.add(booked)
  desk.changes.events.push({ kind: 'budget.changed', subject: booked.budget.id, data: { change: 'paused' } })
}

function follow(
  desk: Desk,
  booked: BookedBudget,
  { kind, decision }: { readonly kind: BudgetAlertKind; readonly decision: AlertDecision },
): void {
  if (decision.kind === 'none') return
  const { [kind]: open, ...others } = booked.alerts
  const id = open ?? alertIdOf(desk, booked.budget)
  const alert = { id, kind, ...aboutOf(booked.budget), why: decision.why }
  desk.changes.budgets.add(booked)
  booked.alerts = decision.kind === 'raise' ? { ...others, [kind]: id } : others
  if (decision.kind === 'raise') raiseAlert(desk, alert)
  else endAlert(desk, alert)
}

/** A larger amount has room, as far as this node knows; one that knows what runs need says otherwise in its next turn. */
export function clearNoRoom(desk: Desk, id: BudgetId): void {
  const booked = desk.budgets?.budgets.get(id)
  if (booked?.alerts.budget_no_room === undefined) return
  const { amount, unit } = booked.budget
  const evidence = { budget: id, spent: useOf(booked, desk.now, 0).spent, amount, unit: unitWord(unit) }
  follow(desk, booked, {
    ...{ kind: 'budget_no_room', decision: { kind: 'clear', why: because('budget_open', 'budget.amount', evidence) } },
  })
}

const aboutOf = (budget: Budget) => ({ subjectKind: 'budget', subjectId: budget.id, about: nameOf(budget) }) as const

/** What people call a budget: `1000 tokens per day of agent writer`. */
export function nameOf({ scope, unit, amount, period }: Budget): string {
  const shown = unit === 'money' ? fromMicros(amount) : amount
  return `${shown} ${unit === 'money' ? 'money' : 'tokens'} per ${period} of ${ownerOf(scope)}`
}

function ownerOf(scope: Budget['scope']): string {
  switch (scope.kind) {
    case 'org':
      return 'the org'
    case 'agent':
      return `agent ${scope.agentId}`
    case 'schedule':
      return `schedule ${scope.scheduleId}`
    case 'owner':
      return `everything made by ${scope.owner}`
  }
}

/** No two turns of an org have the same number; in one, several may be raised, also of the same budget. */
const alertIdOf = ({ turnNo, changes }: Desk, { id }: Budget): string =>
  `alr_${id.replace(/^bud_/, '')}_${turnNo}_${changes.alerts.length}`

/** A budget goes, and with it what there was to look at. */
export function forgetBudgetAlerts(desk: Desk, { budget, alerts }: Pick<BookedBudget, 'budget' | 'alerts'>): void {
  const why = because('budget_gone', 'budget.delete', { budget: nameOf(budget) })
  for (const kind of BUDGET_ALERT_KINDS) {
    const id = alerts[kind]
    if (id !== undefined) endAlert(desk, { id, kind, ...aboutOf(budget), why })
  }
}

/** A schedule goes, and its budgets with it: nothing will ever count in them again. */
export function dropBudgetsOf(desk: Desk, gone: ScheduleId): void {
  const book = desk.budgets
  if (book === null) return
  for (const [id, booked] of book.budgets) {
    const { scope } = booked.budget
    if (scope.kind !== 'schedule' || scope.scheduleId !== gone) continue
    forgetBudgetAlerts(desk, booked)
    book.budgets.delete(id)
    desk.changes.goneBudgets.add(id)
    desk.changes.events.push({ kind: 'budget.changed', subject: id, data: { change: 'deleted' } })
  }
  if (book.budgets.size > 0) return
  desk.budgets = null
  desk.reservesChanged = true
}
