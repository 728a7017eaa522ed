import type { PageFilter } from '../../api/common.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { periodBounds } from '../../domain/budget/budget-period.ts'
import type { BudgetScope } from '../../domain/budget/budget.ts'
import { budgetId, type OrgId } from '../../domain/ids.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { formatInstant, instant, type Instant } from '../../domain/instant.ts'
import { parseZone, UTC, type Zone } from '../../domain/time/zone.ts'
import type { Command } from '../../engine/commands-port.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Caller } from '../access/caller.ts'
import { loadOrg } from '../access/orgs-store.ts'
import { actorOf } from '../audit/entry.ts'
import type { BudgetInput, BudgetPatch, BudgetView } from './schema.ts'
import {
  type BudgetWithPeriods,
  type BudgetRow,
  deleteBudgets,
  insertBudget,
  isAgentKnown,
  loadBudgets,
  loadReserved,
  saveBudget,
} from './store.ts'
import {
  applyBudgetChange,
  budgetRow,
  changedBudget,
  type BudgetChangeRecord,
  pausedAfter,
  showAmount,
  spentIn,
  viewBudget,
} from './stored-budget.ts'
import { copyBudgetToSchedule, refreshSchedule } from '../schedules/budget.ts'
import { loadSchedules, type ScheduleRow } from '../schedules/store.ts'
import { type Cursor, pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'

const budgetNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no budget ${id}`)

/** Creates a budget. It counts from its creation on; attempts in flight have reserved nothing. */
export async function createBudget(ports: Ports, caller: Caller, input: BudgetInput): Promise<BudgetView> {
  const id = await ports.commands.execute(bindToKey(createBudgetCommand(ports, caller, { input }), caller))
  return getBudget(ports, caller, id)
}

/** A budget to create. */
interface BudgetCreation {
  readonly input: BudgetInput
  /** Generated unless given. */
  readonly id?: string | undefined
  /** Schedules created in the same transaction. */
  readonly newScheduleIds?: ReadonlySet<string> | undefined
}

/** The command that creates a budget. */
export const createBudgetCommand = (
  ports: Ports,
  caller: Caller,
  { input, id: given, newScheduleIds }: BudgetCreation,
): Command<string> =>
  saveBudgetCommand(caller, async (tx, now) => {
    const { orgId } = caller
    const decided = budgetRow(input, await orgZoneOf(tx, orgId))
    const { scope } = decided
    if (scope.kind !== 'schedule' || newScheduleIds?.has(scope.scheduleId) !== true)
      await refuseUnknownSubject(tx, orgId, scope)
    const id = budgetId(given ?? ports.newId('budget', now))
    const newRow = { ...decided, orgId, id, pausedAt: null, alerts: null, createdAt: now }
    if (!(await insertBudget(tx, newRow))) throw new Refusal('CONFLICT', `The budget ${newRow.id} already exists`)
    return { id: newRow.id, change: 'created', before: null, after: newRow }
  })

async function orgZoneOf(connection: Connection, orgId: OrgId): Promise<Zone> {
  const org = await loadOrg(connection, orgId)
  const zone = parseZone('default_timezone', org?.defaultTimezone)
  return zone.ok ? zone.value : UTC
}

/** Refuses an unknown id, because the budget would limit nothing. */
async function refuseUnknownSubject(connection: Connection, orgId: OrgId, scope: BudgetScope): Promise<void> {
  if (scope.kind === 'agent' && !(await isAgentKnown(connection, { orgId, id: scope.agentId })))
    throw invalid([{ field: 'agent_id', value: scope.agentId, message: 'is not an agent of the org' }])
  if (scope.kind !== 'schedule') return
  const found = await loadSchedules(connection, { orgId, ids: [scope.scheduleId] })
  if (found.length === 0)
    throw invalid([{ field: 'schedule_id', value: scope.scheduleId, message: 'is not a schedule of the org' }])
}

interface BudgetUpdateRequest {
  readonly id: string
  readonly change: BudgetPatch
}

/** Updates a budget. A higher amount releases waiting runs at once, also under a paused budget. */
export async function updateBudget(ports: Ports, caller: Caller, request: BudgetUpdateRequest): Promise<BudgetView> {
  return getBudget(ports, caller, await ports.commands.execute(bindToKey(updateBudgetCommand(caller, request), caller)))
}

/** The command that updates a budget. */
export const updateBudgetCommand = (caller: Caller, request: BudgetUpdateRequest): Command<string> =>
  saveBudgetCommand(caller, async (tx, now) => {
    const { orgId } = caller
    const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === request.id)
    if (found === undefined) throw budgetNotFound(request.id)
    refuseRestrictionBudget(found)
    const edited = changedBudget(found, request.change)
    const after = { ...edited, pausedAt: pausedAfter(found, edited, now) }
    await saveBudget(tx, after)
    return { id: found.id, change: 'updated', before: found, after }
  })

/** Resumes a paused budget. Refused while its period is used up, because it would be paused again at once. */
export async function resumeBudget(
  ports: Ports,
  caller: Caller,
  request: { readonly id: string },
): Promise<BudgetView> {
  const { orgId } = caller
  const command = saveBudgetCommand(caller, async (tx, now) => {
    const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === request.id)
    if (found === undefined) throw budgetNotFound(request.id)
    const spent = spentIn(found, now)
    if (found.pausedAt !== null && spent >= found.amount) throw budgetUsedUp(found, spent, now)
    const after = { ...found, pausedAt: null }
    await saveBudget(tx, after)
    return { id: found.id, change: 'resumed', before: found, after }
  })
  return getBudget(ports, caller, await ports.commands.execute(bindToKey(command, caller)))
}

function budgetUsedUp({ id, unit, amount, period, timezone }: BudgetWithPeriods, spent: number, now: Instant): Refusal {
  const until = formatInstant(periodBounds(period, timezone, now).end)
  const used = `${showAmount(unit, spent)} of ${showAmount(unit, amount)} are used until ${until}`
  const message = `Budget ${id} is used up: ${used}. Raise its amount, or resume it afterwards`
  return new Refusal('CONFLICT', message, { details: { spent: showAmount(unit, spent), until } })
}

/** Deletes a budget and its usage, and releases the runs that wait for it. */
export async function deleteBudget(ports: Ports, caller: Caller, request: { readonly id: string }): Promise<void> {
  await ports.commands.execute(bindToKey(deleteBudgetCommand(caller, request), caller))
}

/** The command that deletes a budget. */
export const deleteBudgetCommand = (caller: Caller, request: { readonly id: string }): Command<string> =>
  saveBudgetCommand(caller, async (tx) => {
    const { orgId } = caller
    const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === request.id)
    if (found === undefined) throw budgetNotFound(request.id)
    refuseRestrictionBudget(found)
    deleteBudgets(tx, { orgId, ids: [found.id] })
    return { id: found.id, change: 'deleted', before: found, after: null }
  })

/** A budget that belongs to restrictions is only changed together with them, so that they stay consistent. */
function refuseRestrictionBudget({ id, scope }: BudgetRow): void {
  if (scope.kind !== 'owner') return
  const how = scope.owner.startsWith('agent:') ? 'update self_service of the agent' : 'create a new key'
  throw new Refusal('CONFLICT', `Budget ${id} belongs to the restrictions of ${scope.owner}; ${how}`)
}

interface PreparedBudgetChange {
  readonly kept: BudgetChangeRecord
  readonly budgets: readonly BudgetWithPeriods[]
  /** The schedule that this budget belongs to, with its new input. */
  readonly schedule: ScheduleRow | null
}

/** A command that changes budgets in the database and in the org state of every node. */
function saveBudgetCommand(
  caller: Caller,
  write: (tx: Transaction, now: Instant) => Promise<BudgetChangeRecord>,
): Command<string> {
  const { orgId } = caller
  return {
    orgId,
    prepare: async (tx, now): Promise<PreparedBudgetChange> => {
      const saved = await write(tx, now)
      const schedule = await copyBudgetToSchedule(tx, { orgId, kept: saved, now })
      return { kept: saved, schedule, budgets: await loadBudgets(tx, { orgId }) }
    },
    apply: (state, prepared) => {
      const { schedule, ...done } = prepared as PreparedBudgetChange
      if (schedule !== null) refreshSchedule(state, schedule)
      applyBudgetChange(state, actorOf(caller), done)
      return done.kept.id
    },
  }
}

/** The budget and its usage. */
export async function getBudget(ports: Ports, caller: Caller, id: string): Promise<BudgetView> {
  const found = (await findBudgets(ports, caller)).find((budget) => budget.id === id)
  if (found === undefined) throw budgetNotFound(id)
  return found
}

/** All budgets of the org, oldest first. */
export async function findBudgets(ports: Ports, { orgId }: Caller): Promise<readonly BudgetView[]> {
  const rows = await loadBudgets(ports.database, { orgId })
  if (rows.length === 0) return []
  const reserved = await loadReserved(ports.database, { orgId })
  const now = ports.clock.now()
  return rows.map((row) => viewBudget(row, { now, reserved: reserved.get(row.id) ?? 0 }))
}

/**
 * A page of the org's budgets, newest first. All are loaded: every node has them in memory anyway, so there are few.
 */
export async function findBudgetPage(ports: Ports, caller: Caller, filter: PageFilter = {}): Promise<Page<BudgetView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const after = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const positioned = (await findBudgets(ports, caller))
    .map((view) => ({ view, createdAt: instant(Date.parse(view.created_at)), key: view.id }))
    .toSorted((a, b) => (isBefore(a, b) ? 1 : -1))
    .filter((one) => after === null || isBefore(one, after))
  return pageOf(positioned, limit, { view: ({ view }) => view, cursor: ({ createdAt, key }) => ({ createdAt, key }) })
}

const isBefore = (a: Cursor, b: Cursor): boolean =>
  a.createdAt === b.createdAt ? a.key < b.key : a.createdAt < b.createdAt
