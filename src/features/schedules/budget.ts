import type { BudgetTerms, ScheduleBudgetInput } from '../budgets/schema.ts'
import { Refusal } from '../../api/refusals.ts'
import { budgetId, type BudgetId, type OrgId, type ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { UTC, type Zone } from '../../domain/time/zone.ts'
import {
  type BudgetWithPeriods,
  type BudgetRow,
  deleteBudgets,
  insertBudget,
  loadBudgets,
  saveBudget,
} from '../budgets/store.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { loadSchedules, type ScheduleRow, updateScheduleRow } from './store.ts'
import { budgetRow, type BudgetChangeRecord, pausedAfter, settingsOf } from '../budgets/stored-budget.ts'
import type { Caller } from '../access/caller.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'

/**
 * A schedule's own budget, its field `budget`. It is stored like any other budget, under an id derived from the
 * schedule's id. A change of the field changes the budget, and a change of the budget changes the field.
 */

/** The id of the schedule's own budget. */
export const ownBudgetId = (id: ScheduleId): BudgetId => budgetId(`bud_${id.replace(/^sch_/, '')}`)

/** The terms of the schedule's own budget; null: it has none. */
export const ownBudgetTerms = ({ input }: Pick<ScheduleRow, 'input'>): BudgetTerms | null =>
  (input['budget'] as BudgetTerms | undefined) ?? null

/** Fills in the defaults. Without a time zone, a change keeps the existing one, and a new budget gets the org's. */
export function parseBudgetTerms(
  given: ScheduleBudgetInput,
  { before, usual }: { readonly before: string | undefined; readonly usual: Zone },
): BudgetTerms {
  return budgetTermsOfRow(budgetRow({ ...(before === undefined ? {} : { timezone: before }), ...given }, usual))
}

function budgetTermsOfRow(row: Parameters<typeof settingsOf>[0]): BudgetTerms {
  const { scope: _scope, agent_id: _agent, schedule_id: _schedule, owner: _owner, ...terms } = settingsOf(row)
  return terms
}

/** Refuses a schedule that creates, changes or removes a budget if the caller lacks `budgets:write`. */
export function requireBudgetPermission({ principal, writesBudgets }: Caller, given: unknown): void {
  const hasBudget = typeof given === 'object' && given !== null && 'budget' in given && given.budget !== undefined
  if (!hasBudget || principal === null || writesBudgets === true) return
  throw new Refusal(
    'FORBIDDEN',
    "The permission budgets:write is required to set, change or remove a schedule's budget",
    {
      details: { permission: 'budgets:write' },
    },
  )
}

/** The change of the schedule's own budget, and all budgets of the org after it. */
export interface OwnBudgetResult {
  readonly kept: BudgetChangeRecord
  readonly budgets: readonly BudgetWithPeriods[]
}

interface OwnBudgetChange {
  readonly schedule: Pick<ScheduleRow, 'orgId' | 'id'>
  readonly before: BudgetTerms | null
  readonly after: BudgetTerms | null
  readonly now: Instant
}

/** Creates, updates or deletes the schedule's own budget together with the schedule. Null: nothing changed. */
export async function saveOwnBudget(tx: Transaction, change: OwnBudgetChange): Promise<OwnBudgetResult | null> {
  const { schedule, before, after, now } = change
  if (JSON.stringify(before) === JSON.stringify(after)) return null
  const { orgId } = schedule
  const id = ownBudgetId(schedule.id)
  const existing = (await loadBudgets(tx, { orgId })).find((row) => row.id === id) ?? null
  const wanted = after === null ? null : newOwnBudget(schedule, after, now)
  const kept = await writeBudget(tx, { existing, wanted, now })
  return kept === null ? null : { kept: { id, ...kept }, budgets: await loadBudgets(tx, { orgId }) }
}

/** A new budget of the schedule, with no usage. */
export function newOwnBudget({ orgId, id }: OwnBudgetChange['schedule'], terms: BudgetTerms, now: Instant): BudgetRow {
  const scope = { kind: 'schedule', scheduleId: id } as const
  return { ...budgetRow(terms, UTC), scope, orgId, id: ownBudgetId(id), pausedAt: null, alerts: null, createdAt: now }
}

interface BudgetWrite {
  readonly existing: BudgetWithPeriods | null
  readonly wanted: BudgetRow | null
  readonly now: Instant
}

/** A change of unit, period or zone creates a new budget with no usage, because the old usage does not convert. */
export async function writeBudget(
  tx: Transaction,
  { existing, wanted, now }: BudgetWrite,
): Promise<Omit<BudgetChangeRecord, 'id'> | null> {
  if (wanted === null) {
    if (existing === null) return null
    deleteBudgets(tx, { orgId: existing.orgId, ids: [existing.id] })
    return { change: 'deleted', before: existing, after: null }
  }
  if (existing !== null && hasSameCounting(existing, wanted)) {
    const after = {
      ...{ ...existing, amount: wanted.amount, onExceed: wanted.onExceed, defaultReserve: wanted.defaultReserve },
      pausedAt: pausedAfter(existing, wanted, now),
    }
    await saveBudget(tx, after)
    return { change: 'updated', before: existing, after }
  }
  if (existing !== null) deleteBudgets(tx, { orgId: existing.orgId, ids: [existing.id] })
  await insertBudget(tx, wanted)
  return { change: existing === null ? 'created' : 'updated', before: existing, after: wanted }
}

const hasSameCounting = (one: BudgetRow, other: BudgetRow): boolean =>
  one.unit === other.unit && one.period === other.period && one.timezone.name === other.timezone.name

/** Copies a direct change of a budget into the schedule that owns it. Null: no schedule owns it. */
export async function copyBudgetToSchedule(
  tx: Transaction,
  { orgId, kept, now }: { readonly orgId: OrgId; readonly kept: BudgetChangeRecord; readonly now: Instant },
): Promise<ScheduleRow | null> {
  const row = kept.after ?? kept.before
  if (row?.scope.kind !== 'schedule' || row.id !== ownBudgetId(row.scope.scheduleId)) return null
  const [existing] = await loadSchedules(tx, { orgId, ids: [row.scope.scheduleId] })
  if (existing === undefined) return null
  const { budget: _before, ...others } = existing.input
  const input = kept.after === null ? others : { ...others, budget: budgetTermsOfRow(kept.after) }
  const updated = { ...existing, input, updatedAt: now }
  await updateScheduleRow(tx, updated)
  return { ...updated, version: existing.version + 1 }
}

/** Replaces the schedule in the org state and emits an event. */
export function refreshSchedule(state: OrgState, schedule: ScheduleRow): void {
  if (state.schedules.has(schedule.id)) state.schedules.set(schedule.id, schedule)
  const data = { change: 'updated', state: schedule.state }
  state.changes.events.push({ kind: 'schedule.changed', subject: schedule.id, data })
}
