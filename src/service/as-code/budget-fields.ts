import type { Fields } from '../../core/as-code/same.ts'
import type { BudgetScope } from '../../domain/budget/budget.ts'
import { BUDGET_DEFAULTS } from '../../domain/budget/budget.ts'
import type { BudgetRow } from '../../features/budgets/store.ts'
import { settingsOf } from '../budget-view.ts'

/** A budget in the names of the API, with every default written out. */
export const budgetFields = (row: Parameters<typeof settingsOf>[0]): Fields => {
  const { scope: _scope, owner: _owner, ...terms } = settingsOf(row)
  return terms
}

/** Whose it is, as a document says it, given the names that are clear. */
export interface ScopeNames {
  readonly agents: ReadonlyMap<string, string>
  readonly schedules: ReadonlyMap<string, string>
}

function writtenScope(scope: BudgetScope, names: ScopeNames): Fields {
  if (scope.kind === 'agent') {
    const name = names.agents.get(scope.agentId)
    return name === undefined ? { agent_id: scope.agentId } : { agent: name }
  }
  if (scope.kind !== 'schedule') return {}
  const name = names.schedules.get(scope.scheduleId)
  return name === undefined ? { schedule_id: scope.scheduleId } : { schedule: name }
}

/** A budget as a document says it: without what is usual. Days and months are somebody's, so the zone is always said. */
export function writtenBudget(row: BudgetRow, names: ScopeNames): Fields {
  const terms = settingsOf(row)
  return {
    ...writtenScope(row.scope, names),
    ...{ unit: terms.unit, amount: terms.amount },
    ...(terms.period === BUDGET_DEFAULTS.period ? {} : { period: terms.period }),
    timezone: terms.timezone,
    ...(terms.on_exceed === BUDGET_DEFAULTS.onExceed ? {} : { on_exceed: terms.on_exceed }),
    ...(terms.default_reserve === BUDGET_DEFAULTS.defaultReserve ? {} : { default_reserve: terms.default_reserve }),
  }
}

/** What makes a budget the one it is: whose, what it counts, and how often. */
export const budgetKey = ({ scope, unit, period }: Pick<BudgetRow, 'scope' | 'unit' | 'period'>): string => {
  const whose = scope.kind === 'agent' ? scope.agentId : scope.kind === 'schedule' ? scope.scheduleId : ''
  return [scope.kind, whose, unit, period].join('\u0000')
}

/** What a budget is called where things have names. */
export function budgetName(
  { scope, unit, period }: Pick<BudgetRow, 'scope' | 'unit' | 'period'>,
  nameOf: (kind: 'agents' | 'schedules', id: string) => string,
): string {
  const whose =
    scope.kind === 'agent'
      ? `agent ${nameOf('agents', scope.agentId)}`
      : scope.kind === 'schedule'
        ? `schedule ${nameOf('schedules', scope.scheduleId)}`
        : 'the org'
  return `${unit} per ${period} of ${whose}`
}
