import type { BudgetTerms, ScheduleBudgetInput } from '../features/budgets/schema.ts'
import { Refusal } from '../api/refusals.ts'
import { budgetId, type BudgetId, type OrgId, type ScheduleId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { UTC, type Zone } from '../core/time/zone.ts'
import { deleteBudgets, insertBudget, loadBudgets, saveBudget, type BudgetOnRecord } from '../features/budgets/store.ts'
import type { BudgetRow } from '../features/budgets/store.ts'
import type { Transaction } from '../store/database.ts'
import { loadSchedules, updateSchedule } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { settingsOf } from './budget-view.ts'
import { pausedAfter, type Kept } from './kept-budget.ts'
import { budgetRow } from './budget-row.ts'
import type { Caller } from './caller.ts'
import type { Desk } from './desk/desk.ts'

/**
 * The budget that a schedule brings with it, as its field `budget`. It is a budget like every other, under a name that
 * follows from the schedule's, so that either can be found from the other; whichever of the two is changed, both say so.
 */

/** The name of the schedule's own budget. */
export const ownBudgetId = (id: ScheduleId): BudgetId => budgetId(`bud_${id.replace(/^sch_/, '')}`)

/** What a schedule says of its own budget; null: it has none. */
export const termsIn = ({ input }: Pick<ScheduleRow, 'input'>): BudgetTerms | null =>
  (input['budget'] as BudgetTerms | undefined) ?? null

/** The field with its defaults. Days and months stay those they were unless a zone is named; otherwise they are the org's. */
export function givenTerms(
  given: ScheduleBudgetInput,
  { before, usual }: { readonly before: string | undefined; readonly usual: Zone },
): BudgetTerms {
  return termsOf(budgetRow({ ...(before === undefined ? {} : { timezone: before }), ...given }, usual))
}

function termsOf(row: Parameters<typeof settingsOf>[0]): BudgetTerms {
  const { scope: _scope, agent_id: _agent, schedule_id: _schedule, owner: _owner, ...terms } = settingsOf(row)
  return terms
}

/** Refuses to make, change or remove a budget on the way of a schedule to whoever may not do it by itself. */
export function requireBudgets({ principal, writesBudgets }: Caller, given: unknown): void {
  const names = typeof given === 'object' && given !== null && 'budget' in given && given.budget !== undefined
  if (!names || principal === null || writesBudgets === true) return
  throw new Refusal(
    'FORBIDDEN',
    'budgets:write is needed to give a schedule a budget, to change it or to take it away',
    {
      details: { permission: 'budgets:write' },
    },
  )
}

/** What was done to the schedule's own budget, and all budgets of the org as they are now. */
export interface KeptOwn {
  readonly kept: Kept
  readonly budgets: readonly BudgetOnRecord[]
}

interface OwnChange {
  readonly schedule: Pick<ScheduleRow, 'orgId' | 'id'>
  readonly before: BudgetTerms | null
  readonly after: BudgetTerms | null
  readonly now: Instant
}

/** Makes, changes or removes the schedule's own budget with the schedule. Null: there is nothing to do. */
export async function keepOwnBudget(tx: Transaction, change: OwnChange): Promise<KeptOwn | null> {
  const { schedule, before, after, now } = change
  if (JSON.stringify(before) === JSON.stringify(after)) return null
  const { orgId } = schedule
  const id = ownBudgetId(schedule.id)
  const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === id) ?? null
  const wanted = after === null ? null : ownBudgetOf(schedule, after, now)
  const kept = await writeBudget(tx, { found, wanted, now })
  return kept === null ? null : { kept: { id, ...kept }, budgets: await loadBudgets(tx, { orgId }) }
}

/** The schedule's own budget as it is when it begins. */
export function ownBudgetOf({ orgId, id }: OwnChange['schedule'], terms: BudgetTerms, now: Instant): BudgetRow {
  const scope = { kind: 'schedule', scheduleId: id } as const
  return { ...budgetRow(terms, UTC), scope, orgId, id: ownBudgetId(id), pausedAt: null, alerts: null, createdAt: now }
}

interface Writing {
  readonly found: BudgetOnRecord | null
  readonly wanted: BudgetRow | null
  readonly now: Instant
}

/** What counts something else, or in other days, is another budget, and begins with nothing. */
export async function writeBudget(tx: Transaction, { found, wanted, now }: Writing): Promise<Omit<Kept, 'id'> | null> {
  if (wanted === null) {
    if (found === null) return null
    deleteBudgets(tx, { orgId: found.orgId, ids: [found.id] })
    return { change: 'deleted', before: found, after: null }
  }
  if (found !== null && countsAlike(found, wanted)) {
    const after = {
      ...{ ...found, amount: wanted.amount, onExceed: wanted.onExceed, defaultReserve: wanted.defaultReserve },
      pausedAt: pausedAfter(found, wanted, now),
    }
    await saveBudget(tx, after)
    return { change: 'updated', before: found, after }
  }
  if (found !== null) deleteBudgets(tx, { orgId: found.orgId, ids: [found.id] })
  await insertBudget(tx, wanted)
  return { change: found === null ? 'created' : 'updated', before: found, after: wanted }
}

const countsAlike = (one: BudgetRow, other: BudgetRow): boolean =>
  one.unit === other.unit && one.period === other.period && one.timezone.name === other.timezone.name

/** A budget was changed by itself: the schedule whose own it is says the same from now on. Null: it is nobody's own. */
export async function noteInSchedule(
  tx: Transaction,
  { orgId, kept, now }: { readonly orgId: OrgId; readonly kept: Kept; readonly now: Instant },
): Promise<ScheduleRow | null> {
  const row = kept.after ?? kept.before
  if (row?.scope.kind !== 'schedule' || row.id !== ownBudgetId(row.scope.scheduleId)) return null
  const [found] = await loadSchedules(tx, { orgId, ids: [row.scope.scheduleId] })
  if (found === undefined) return null
  const { budget: _before, ...others } = found.input
  const input = kept.after === null ? others : { ...others, budget: termsOf(kept.after) }
  const noted = { ...found, input, updatedAt: now }
  await updateSchedule(tx, noted)
  return { ...noted, version: found.version + 1 }
}

/** What is remembered of the schedule becomes what it is now. */
export function retellSchedule(desk: Desk, schedule: ScheduleRow): void {
  if (desk.schedules.has(schedule.id)) desk.schedules.set(schedule.id, schedule)
  const data = { change: 'updated', state: schedule.state }
  desk.changes.events.push({ kind: 'schedule.changed', subject: schedule.id, data })
}
