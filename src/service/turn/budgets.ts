import type { RunId } from '../../domain/ids.ts'
import { loadBudgets } from '../../features/budgets/store.ts'
import {
  loadHabitsOfAgents,
  loadHabitsOfSchedules,
  loadUsages,
  type RunUsage,
} from '../../features/budgets/usage-store.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { bookHabits, bookUsage, HABIT_RUNS, wantHabits, type BudgetBook } from '../desk/budget-book.ts'
import { budgetLoads, takeBudgets } from '../desk/budgets.ts'
import { judgeBudgets } from '../desk/budget-standing.ts'
import type { Desk } from '../desk/desk.ts'
import type { Work } from '../turn-port.ts'
import type { Memory } from './memory.ts'

/** Loads the budgets of the org with what they have used, and what the runs that others have ended used. */
export async function recallBudgets(
  connection: Connection,
  { desk }: Memory,
  touched: ReadonlySet<RunId>,
): Promise<void> {
  const { orgId } = desk
  takeBudgets(desk, await loadBudgets(connection, { orgId }))
  const ended = [...touched].filter((id) => !desk.runs.has(id))
  if (desk.budgets === null || ended.length === 0) return
  for (const run of await loadUsages(connection, { orgId, ids: ended })) bookUsage(desk.budgets, run)
}

/** Reads the habits of everybody whom the works are about, before they are decided. */
export async function recallHabitsFor(
  tx: Transaction,
  { desk }: Memory,
  works: readonly Pick<Work<unknown>, 'needs'>[],
): Promise<void> {
  if (desk.budgets === null) return
  for (const { needs } of works) {
    for (const agentId of needs?.agents ?? []) wantHabits(desk.budgets, { agentId, scheduleId: null })
    for (const id of needs?.schedules ?? []) {
      const row = desk.schedules.get(id)
      if (row !== undefined) wantHabits(desk.budgets, { agentId: row.agentId, scheduleId: id })
    }
  }
  await readHabits(tx, desk, desk.budgets)
}

async function readHabits(connection: Connection, { orgId }: Desk, book: BudgetBook): Promise<void> {
  const { agents, schedules } = book.unread
  if (agents.size === 0 && schedules.size === 0) return
  const nothing: readonly RunUsage[] = []
  const each = HABIT_RUNS
  bookHabits(book, {
    agents: agents.size === 0 ? nothing : await loadHabitsOfAgents(connection, { orgId, ids: [...agents], each }),
    schedules:
      schedules.size === 0 ? nothing : await loadHabitsOfSchedules(connection, { orgId, ids: [...schedules], each }),
  })
}

/** Brings the line-up in line with what budgets have left now, before anything is picked. */
export async function reviewBudgets(tx: Transaction, memory: Memory): Promise<void> {
  const { desk } = memory
  if (desk.budgets !== null) await readHabits(tx, desk, desk.budgets)
  applyBudgets(memory)
}

/** The same, with every habit read. */
export function applyBudgets({ desk, lineUp, timers }: Memory): void {
  if (desk.reservesChanged) for (const run of desk.runs.values()) lineUp.put(run)
  desk.reservesChanged = false
  judgeBudgets(desk)
  const loads = budgetLoads(desk)
  lineUp.setBudgets(loads)
  // A period that ends lets waiting work go on. Timers tell runs by their ids; no run has the id of a budget.
  for (const [id, { until }] of loads) timers.set(id as string as RunId, until)
}
