import type { BudgetInput, BudgetPatch, BudgetView } from '../features/budgets/schema.ts'
import { invalid, Refusal } from '../api/refusals.ts'
import type { BudgetScope } from '../domain/budget/budget.ts'
import { periodBounds } from '../domain/budget/budget-period.ts'
import { budgetId, type OrgId } from '../domain/ids.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { parseZone, UTC, type Zone } from '../core/time/zone.ts'
import {
  deleteBudgets,
  insertBudget,
  isAgentKnown,
  loadBudgets,
  loadReserved,
  saveBudget,
  type BudgetOnRecord,
  type BudgetRow,
} from '../features/budgets/store.ts'
import type { Connection, Transaction } from '../store/database.ts'
import { loadOrg } from '../features/access/orgs-store.ts'
import { loadSchedules } from '../store/schedules.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'
import { actorOf } from '../features/audit/entry.ts'
import { showAmount, viewBudget } from './budget-view.ts'
import { budgetRow, changedBudget } from './budget-row.ts'
import type { Caller } from './caller.ts'
import { bound } from './idempotent.ts'
import { applyKept, pausedAfter, spentIn, type Kept } from './kept-budget.ts'
import type { Ports } from './ports.ts'
import { noteInSchedule, retellSchedule } from './schedule-budget.ts'
import type { Work } from './turn-port.ts'

const noBudget = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no budget ${id}`)

/** Makes a budget. What it counts begins with it; work that is in flight already has set nothing aside. */
export async function createBudget(ports: Ports, caller: Caller, input: BudgetInput): Promise<BudgetView> {
  const id = await ports.turns.take(bound(budgetCreation(ports, caller, { input }), caller))
  return getBudget(ports, caller, id)
}

/** A budget to be made. */
interface Making {
  readonly input: BudgetInput
  /** Made unless given. */
  readonly id?: string | undefined
  /** Schedules that are made in the same turn. */
  readonly coming?: ReadonlySet<string> | undefined
}

/** The work of making a budget. */
export const budgetCreation = (ports: Ports, caller: Caller, { input, id: given, coming }: Making): Work<string> =>
  keepingBudgets(caller, async (tx, now) => {
    const { orgId } = caller
    const decided = budgetRow(input, await zoneOf(tx, orgId))
    const { scope } = decided
    if (scope.kind !== 'schedule' || coming?.has(scope.scheduleId) !== true) await refuseUnknown(tx, orgId, scope)
    const id = budgetId(given ?? ports.newId('budget', now))
    const made = { ...decided, orgId, id, pausedAt: null, alerts: null, createdAt: now }
    if (!(await insertBudget(tx, made))) throw new Refusal('CONFLICT', `There is a budget ${made.id} already`)
    return { id: made.id, change: 'created', before: null, after: made }
  })

async function zoneOf(connection: Connection, orgId: OrgId): Promise<Zone> {
  const org = await loadOrg(connection, orgId)
  const zone = parseZone('default_timezone', org?.defaultTimezone)
  return zone.ok ? zone.value : UTC
}

/** A misspelt id would be a budget that holds nobody back. */
async function refuseUnknown(connection: Connection, orgId: OrgId, scope: BudgetScope): Promise<void> {
  if (scope.kind === 'agent' && !(await isAgentKnown(connection, { orgId, id: scope.agentId })))
    throw invalid([{ field: 'agent_id', value: scope.agentId, message: 'names no agent' }])
  if (scope.kind !== 'schedule') return
  const found = await loadSchedules(connection, { orgId, ids: [scope.scheduleId] })
  if (found.length === 0)
    throw invalid([{ field: 'schedule_id', value: scope.scheduleId, message: 'names no schedule' }])
}

interface AskedChange {
  readonly id: string
  readonly change: BudgetPatch
}

/** Changes a budget. More room lets waiting work go on at once, also under a budget that stood still. */
export async function changeBudget(ports: Ports, caller: Caller, asked: AskedChange): Promise<BudgetView> {
  return getBudget(ports, caller, await ports.turns.take(bound(budgetChange(caller, asked), caller)))
}

/** The work of changing a budget. */
export const budgetChange = (caller: Caller, asked: AskedChange): Work<string> =>
  keepingBudgets(caller, async (tx, now) => {
    const { orgId } = caller
    const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === asked.id)
    if (found === undefined) throw noBudget(asked.id)
    refuseRails(found)
    const edited = changedBudget(found, asked.change)
    const after = { ...edited, pausedAt: pausedAfter(found, edited, now) }
    await saveBudget(tx, after)
    return { id: found.id, change: 'updated', before: found, after }
  })

/** Lets a budget that stands still go on. One whose period is used up would stand still again at once, and is refused. */
export async function resumeBudget(ports: Ports, caller: Caller, asked: { readonly id: string }): Promise<BudgetView> {
  const { orgId } = caller
  const work = keepingBudgets(caller, async (tx, now) => {
    const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === asked.id)
    if (found === undefined) throw noBudget(asked.id)
    const spent = spentIn(found, now)
    if (found.pausedAt !== null && spent >= found.amount) throw stillUsedUp(found, spent, now)
    const after = { ...found, pausedAt: null }
    await saveBudget(tx, after)
    return { id: found.id, change: 'resumed', before: found, after }
  })
  return getBudget(ports, caller, await ports.turns.take(bound(work, caller)))
}

function stillUsedUp({ id, unit, amount, period, timezone }: BudgetOnRecord, spent: number, now: Instant): Refusal {
  const until = formatInstant(periodBounds(period, timezone, now).end)
  const used = `${showAmount(unit, spent)} of ${showAmount(unit, amount)} are used until ${until}`
  const message = `Budget ${id} has nothing left to go on with: ${used}. Raise its amount, or resume it afterwards`
  return new Refusal('CONFLICT', message, { details: { spent: showAmount(unit, spent), until } })
}

/** Deletes a budget and what it has counted. Nothing waits for it any more. */
export async function removeBudget(ports: Ports, caller: Caller, asked: { readonly id: string }): Promise<void> {
  await ports.turns.take(bound(budgetRemoval(caller, asked), caller))
}

/** The work of deleting a budget. */
export const budgetRemoval = (caller: Caller, asked: { readonly id: string }): Work<string> =>
  keepingBudgets(caller, async (tx) => {
    const { orgId } = caller
    const found = (await loadBudgets(tx, { orgId })).find((row) => row.id === asked.id)
    if (found === undefined) throw noBudget(asked.id)
    refuseRails(found)
    deleteBudgets(tx, { orgId, ids: [found.id] })
    return { id: found.id, change: 'deleted', before: found, after: null }
  })

/** What belongs to guard rails is changed with them: otherwise they would say one thing and do another. */
function refuseRails({ id, scope }: BudgetRow): void {
  if (scope.kind !== 'owner') return
  const how = scope.owner.startsWith('agent:') ? 'change self_service of the agent' : 'make a new key'
  throw new Refusal('CONFLICT', `Budget ${id} belongs to the guard rails of ${scope.owner}; ${how}`)
}

interface Prepared {
  readonly kept: Kept
  readonly budgets: readonly BudgetOnRecord[]
  /** The schedule whose own budget it is, as it says so now. */
  readonly schedule: ScheduleRow | null
}

/** Changes budgets on record and what every node remembers of them. */
function keepingBudgets(caller: Caller, write: (tx: Transaction, now: Instant) => Promise<Kept>): Work<string> {
  const { orgId } = caller
  return {
    orgId,
    prepare: async (tx, now): Promise<Prepared> => {
      const kept = await write(tx, now)
      const schedule = await noteInSchedule(tx, { orgId, kept, now })
      return { kept, schedule, budgets: await loadBudgets(tx, { orgId }) }
    },
    apply: (desk, prepared) => {
      const { schedule, ...done } = prepared as Prepared
      if (schedule !== null) retellSchedule(desk, schedule)
      applyKept(desk, actorOf(caller), done)
      return done.kept.id
    },
  }
}

/** The budget, and where it stands. */
export async function getBudget(ports: Ports, caller: Caller, id: string): Promise<BudgetView> {
  const found = (await findBudgets(ports, caller)).find((budget) => budget.id === id)
  if (found === undefined) throw noBudget(id)
  return found
}

/** All budgets of the org, the oldest first. */
export async function findBudgets(ports: Ports, { orgId }: Caller): Promise<readonly BudgetView[]> {
  const rows = await loadBudgets(ports.database, { orgId })
  if (rows.length === 0) return []
  const reserved = await loadReserved(ports.database, { orgId })
  const now = ports.clock.now()
  return rows.map((row) => viewBudget(row, { now, reserved: reserved.get(row.id) ?? 0 }))
}
