import { readShape } from '../../api/read-input.ts'
import { invalid } from '../../api/refusals.ts'
import { BUDGET_ALERT_KINDS } from '../../domain/alerts.ts'
import { NO_AMOUNTS, parseAmounts } from '../../domain/budget/amounts.ts'
import { periodBounds } from '../../domain/budget/budget-period.ts'
import {
  BUDGET_DEFAULTS,
  type BudgetScope,
  type BudgetUnit,
  fromMicros,
  remaining,
} from '../../domain/budget/budget.ts'
import { agentId, scheduleId } from '../../domain/ids.ts'
import { parsed, type Parsed } from '../../domain/input.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import { parseZone, type Zone } from '../../domain/time/zone.ts'
import { applyBudgetRows } from '../../engine/commands/budgets.ts'
import { clearNoRoom, endBudgetAlerts } from '../../engine/org-state/budget-balance.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import { type AuditEntry, changed, created, deleted } from '../audit/entry.ts'
import { budgetInput, type BudgetInput, type BudgetPatch, type BudgetTerms, type BudgetView } from './schema.ts'
import type { BudgetWithPeriods, BudgetRow } from './store.ts'

/** An amount in API units: tokens, or money in whole units. */
export const showAmount = (unit: BudgetUnit, amount: number): number => (unit === 'money' ? fromMicros(amount) : amount)

type Settings = Pick<BudgetRow, 'scope' | 'unit' | 'amount' | 'period' | 'timezone' | 'onExceed' | 'defaultReserve'>

/** The fields of a budget that a user can set. */
type BudgetSettings = Pick<BudgetView, 'scope' | 'agent_id' | 'schedule_id' | 'owner' | keyof BudgetTerms>

/** The user's settings of a budget. */
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

/** A budget and its usage. */
export function viewBudget(
  row: BudgetWithPeriods,
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
    // The remaining amount regardless of a pause, which is reported separately.
    remaining: show(remaining({ amount: row.amount, pausedAt: null }, { spent, reserved })),
    paused_at: row.pausedAt === null ? null : formatInstant(row.pausedAt),
    alerts: BUDGET_ALERT_KINDS.filter((kind) => row.alerts?.[kind] !== undefined),
    period_start: formatInstant(start),
    period_end: formatInstant(end),
    created_at: formatInstant(row.createdAt),
  }
}

/** The user's settings of a budget. */
export type DecidedBudget = Pick<
  BudgetRow,
  'scope' | 'unit' | 'amount' | 'period' | 'timezone' | 'onExceed' | 'defaultReserve'
>

/** The settings of a new budget. Whether its subject exists is not checked. */
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

/** Parses a new budget that does not come through the API. */
export function readBudget(value: unknown, defaultZone: Zone): Parsed<DecidedBudget> {
  const read = readShape(budgetInput, value)
  return read.ok ? parsed(budgetRow(read.value, defaultZone)) : read
}

/** A budget after a change; omitted fields stay. The allowed amounts depend on the unit. */
export function changedBudget(before: BudgetRow, change: BudgetPatch): BudgetRow {
  const amounts = parseAmounts(before.unit, change, before)
  if (!amounts.ok) throw invalid(amounts.flaws)
  return { ...before, ...amounts.value, onExceed: change.on_exceed ?? before.onExceed }
}

function scopeOf({ agent_id: agent, schedule_id: schedule }: BudgetInput): BudgetScope {
  if (agent !== undefined) return { kind: 'agent', agentId: agentId(agent) }
  return schedule === undefined ? { kind: 'org' } : { kind: 'schedule', scheduleId: scheduleId(schedule) }
}

/** A budget before and after a change. */
export interface BudgetChangeRecord {
  readonly id: string
  readonly change: 'created' | 'updated' | 'resumed' | 'deleted'
  readonly before: BudgetRow | null
  readonly after: BudgetRow | null
}

/** The audit record of a change. */
function budgetAuditEntry(actor: string, { id, change, before, after }: BudgetChangeRecord): AuditEntry {
  const object = { kind: 'budget', id } as const
  const shown = (row: BudgetRow) => ({ ...settingsOf(row), paused: row.pausedAt !== null })
  if (after === null) return deleted(actor, object, before === null ? {} : shown(before))
  if (before === null) return created(actor, object, shown(after))
  const verb = change === 'resumed' ? ({ verb: 'resume' } as const) : {}
  return changed(actor, object, { before: shown(before), after: shown(after), ...verb })
}

/** Applies a saved change to the org state, and emits its event and audit record. */
export function applyBudgetChange(
  state: OrgState,
  actor: string,
  { kept, budgets }: { readonly kept: BudgetChangeRecord; readonly budgets: readonly BudgetWithPeriods[] },
): void {
  const { before, after } = kept
  if (after === null && before !== null) endBudgetAlerts(state, { budget: before, alerts: before.alerts ?? {} })
  applyBudgetRows(state, budgets)
  if (after !== null && before !== null && after.amount > before.amount) clearNoRoom(state, after.id)
  state.changes.events.push({ kind: 'budget.changed', subject: kept.id, data: { change: kept.change } })
  state.changes.audits.push(budgetAuditEntry(actor, kept))
}

/** When the budget is paused after a change: a higher amount or another `on_exceed` resumes it. */
export const pausedAfter = (
  before: BudgetWithPeriods,
  after: Pick<BudgetRow, 'amount' | 'onExceed'>,
  now: Instant,
): Instant | null =>
  after.onExceed === 'pause' && (after.amount <= before.amount || spentIn(before, now) >= after.amount)
    ? before.pausedAt
    : null

/** The usage of the current period. */
export const spentIn = ({ period, timezone, uses }: BudgetWithPeriods, now: Instant): number => {
  const { start } = periodBounds(period, timezone, now)
  return uses.find((use) => use.start === start)?.used ?? 0
}
