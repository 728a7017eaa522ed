import { toMicros } from '../../domain/budget/budget.ts'
import { budgetId, type OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { GuardRails } from '../../core/rails/guard-rails.ts'
import { parseZone, UTC } from '../../core/time/zone.ts'
import { loadBudgets, type BudgetRow } from '../../features/budgets/store.ts'
import type { Transaction } from '../../store/database.ts'
import { loadOrg } from '../../features/access/orgs-store.ts'
import { writeBudget, type KeptOwn } from '../schedule-budget.ts'

interface RailBudgetChange {
  readonly orgId: OrgId
  readonly owner: string
  readonly before: GuardRails | null
  readonly after: GuardRails | null
  readonly now: Instant
}

/** Makes, changes or removes the budget of an owner with their guard rails. Null: there is nothing to do. */
export async function keepRailBudget(tx: Transaction, change: RailBudgetChange): Promise<KeptOwn | null> {
  const { orgId, owner, now } = change
  const [was, is] = [change.before?.budget ?? null, change.after?.budget ?? null]
  if (JSON.stringify(was) === JSON.stringify(is)) return null
  const id = budgetId(`bud_rails_${owner}`)
  const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === id) ?? null
  const zone = parseZone('default_timezone', (await loadOrg(tx, orgId))?.defaultTimezone)
  const wanted: BudgetRow | null =
    is === null
      ? null
      : {
          ...{ orgId, id, scope: { kind: 'owner', owner }, unit: is.unit, period: is.period },
          amount: is.unit === 'money' ? toMicros(is.amount) : is.amount,
          timezone: found?.timezone ?? (zone.ok ? zone.value : UTC),
          ...{ onExceed: 'skip', defaultReserve: 0, pausedAt: null, alerts: null, createdAt: now },
        }
  const kept = await writeBudget(tx, { found, wanted, now })
  return kept === null ? null : { kept: { id, ...kept }, budgets: await loadBudgets(tx, { orgId }) }
}
