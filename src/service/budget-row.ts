import { budgetInput, type BudgetInput, type BudgetPatch } from '../features/budgets/schema.ts'
import { readShape } from '../contract/read-shape.ts'
import { invalid } from '../api/refusals.ts'
import { NO_AMOUNTS, parseAmounts } from '../core/budget/amount.ts'
import { BUDGET_DEFAULTS, type BudgetScope } from '../domain/budget/budget.ts'
import { agentId, scheduleId } from '../domain/ids.ts'
import { parsed, type Parsed } from '../domain/input.ts'
import { parseZone, type Zone } from '../core/time/zone.ts'
import type { BudgetRow } from '../features/budgets/store.ts'

/** What a person decides about a budget. */
export type DecidedBudget = Pick<
  BudgetRow,
  'scope' | 'unit' | 'amount' | 'period' | 'timezone' | 'onExceed' | 'defaultReserve'
>

/** A new budget as it is kept. Whether what it is for exists is not looked at. */
export function budgetRow(input: BudgetInput, defaultZone: Zone): DecidedBudget {
  const { unit, period = BUDGET_DEFAULTS.period, on_exceed: onExceed = BUDGET_DEFAULTS.onExceed } = input
  const zone = parseZone('timezone', input.timezone)
  const amounts = parseAmounts(unit, input, NO_AMOUNTS)
  if (!amounts.ok) throw invalid(amounts.flaws)
  return {
    scope: scopeOf(input),
    unit,
    ...amounts.value,
    period,
    timezone: zone.ok ? zone.value : defaultZone,
    onExceed,
  }
}

/** Reads a new budget that is not read by the API. */
export function readBudget(value: unknown, defaultZone: Zone): Parsed<DecidedBudget> {
  const read = readShape(budgetInput, value)
  return read.ok ? parsed(budgetRow(read.value, defaultZone)) : read
}

/** A budget with a change: what the change leaves out stays. What amounts there may be depends on the unit. */
export function changedBudget(before: BudgetRow, change: BudgetPatch): BudgetRow {
  const amounts = parseAmounts(before.unit, change, before)
  if (!amounts.ok) throw invalid(amounts.flaws)
  return { ...before, ...amounts.value, onExceed: change.on_exceed ?? before.onExceed }
}

function scopeOf({ agent_id: agent, schedule_id: schedule }: BudgetInput): BudgetScope {
  if (agent !== undefined) return { kind: 'agent', agentId: agentId(agent) }
  return schedule === undefined ? { kind: 'org' } : { kind: 'schedule', scheduleId: scheduleId(schedule) }
}
