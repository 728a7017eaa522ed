import type { BudgetTerms, BudgetView } from '../features/budgets/schema.ts'
import { BUDGET_ALERT_KINDS } from '../domain/alerts.ts'
import { fromMicros, remaining, type BudgetUnit } from '../domain/budget/budget.ts'
import { periodBounds } from '../domain/budget/budget-period.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import type { BudgetOnRecord, BudgetRow } from '../features/budgets/store.ts'

/** An amount as people give and read it: tokens, or money in whole units. */
export const showAmount = (unit: BudgetUnit, amount: number): number => (unit === 'money' ? fromMicros(amount) : amount)

type Settings = Pick<BudgetRow, 'scope' | 'unit' | 'amount' | 'period' | 'timezone' | 'onExceed' | 'defaultReserve'>

/** The fields of a budget that a person decides. */
export type BudgetSettings = Pick<BudgetView, 'scope' | 'agent_id' | 'schedule_id' | 'owner' | keyof BudgetTerms>

/** What a person has decided about a budget. */
export const settingsOf = ({ scope, unit, ...row }: Settings): BudgetSettings => ({
  scope: scope.kind,
  agent_id: scope.kind === 'agent' ? scope.agentId : null,
  schedule_id: scope.kind === 'schedule' ? scope.scheduleId : null,
  owner: scope.kind === 'owner' ? scope.owner : null,
  unit,
  amount: showAmount(unit, row.amount),
  period: row.period,
  timezone: row.timezone.name,
  on_exceed: row.onExceed,
  default_reserve: showAmount(unit, row.defaultReserve),
})

/** A budget and where it stands. */
export function viewBudget(
  row: BudgetOnRecord,
  { now, reserved }: { readonly now: Instant; readonly reserved: number },
): BudgetView {
  const { start, end } = periodBounds(row.period, row.timezone, now)
  const spent = row.uses.find((use) => use.start === start)?.used ?? 0
  const show = (amount: number): number => showAmount(row.unit, amount)
  return {
    id: row.id,
    org_id: row.orgId,
    ...settingsOf(row),
    spent: show(spent),
    reserved: show(reserved),
    // What the sums leave, also while it stands still: that it does is said beside it.
    remaining: show(remaining({ amount: row.amount, pausedAt: null }, { spent, reserved })),
    paused_at: row.pausedAt === null ? null : formatInstant(row.pausedAt),
    alerts: BUDGET_ALERT_KINDS.filter((kind) => row.alerts?.[kind] !== undefined),
    period_start: formatInstant(start),
    period_end: formatInstant(end),
    created_at: formatInstant(row.createdAt),
  }
}
