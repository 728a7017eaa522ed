import { periodBounds } from '../domain/budget/budget-period.ts'
import type { Instant } from '../domain/instant.ts'
import type { BudgetOnRecord, BudgetRow } from '../features/budgets/store.ts'
import { changed, created, deleted, type AuditEntry } from '../features/audit/entry.ts'
import { settingsOf } from './budget-view.ts'
import { takeBudgets } from './desk/budgets.ts'
import { clearNoRoom, forgetBudgetAlerts } from './desk/budget-standing.ts'
import type { Desk } from './desk/desk.ts'

/** A budget before and after somebody has changed it. */
export interface Kept {
  readonly id: string
  readonly change: 'created' | 'updated' | 'resumed' | 'deleted'
  readonly before: BudgetRow | null
  readonly after: BudgetRow | null
}

/** What the audit log says of it. */
function recordOf(actor: string, { id, change, before, after }: Kept): AuditEntry {
  const object = { kind: 'budget', id } as const
  const shown = (row: BudgetRow) => ({ ...settingsOf(row), paused: row.pausedAt !== null })
  if (after === null) return deleted(actor, object, before === null ? {} : shown(before))
  if (before === null) return created(actor, object, shown(after))
  const verb = change === 'resumed' ? ({ verb: 'resume' } as const) : {}
  return changed(actor, object, { before: shown(before), after: shown(after), ...verb })
}

/** Brings what is remembered in line with what was kept, and tells of it. */
export function applyKept(
  desk: Desk,
  actor: string,
  { kept, budgets }: { readonly kept: Kept; readonly budgets: readonly BudgetOnRecord[] },
): void {
  const { before, after } = kept
  if (after === null && before !== null) forgetBudgetAlerts(desk, { budget: before, alerts: before.alerts ?? {} })
  takeBudgets(desk, budgets)
  if (after !== null && before !== null && after.amount > before.amount) clearNoRoom(desk, after.id)
  desk.changes.events.push({ kind: 'budget.changed', subject: kept.id, data: { change: kept.change } })
  desk.changes.audits.push(recordOf(actor, kept))
}

/** Whoever makes room, or wants something else than a pause, lets the budget go on. */
export const pausedAfter = (
  before: BudgetOnRecord,
  after: Pick<BudgetRow, 'amount' | 'onExceed'>,
  now: Instant,
): Instant | null =>
  after.onExceed === 'pause' && (after.amount <= before.amount || spentIn(before, now) >= after.amount)
    ? before.pausedAt
    : null

/** What the present period has used. */
export const spentIn = ({ period, timezone, uses }: BudgetOnRecord, now: Instant): number => {
  const { start } = periodBounds(period, timezone, now)
  return uses.find((use) => use.start === start)?.used ?? 0
}
