import type { RunId } from '../../domain/ids.ts'
import { loadHabitsOfAgents, loadUsages } from '../../features/budgets/usage-store.ts'
import type { Connection, Transaction } from '../../store/database.ts'
import { loadProviders } from '../../features/providers/store.ts'
import { bookHabits, bookTokens, TOKEN_HABIT_RUNS } from '../desk/quota-book.ts'
import { quotaLoads, takeProviders, unknownHabits } from '../desk/quotas.ts'
import type { Memory } from './memory.ts'

/** Loads the providers of the org with what is left of their quotas, and what the runs that others have ended used. */
export async function recallQuotas(
  connection: Connection,
  { desk }: Memory,
  touched: ReadonlySet<RunId>,
): Promise<void> {
  const { orgId } = desk
  takeProviders(desk, await loadProviders(connection, { orgId }))
  const book = desk.quotas
  if (book === null || book.habits.size === 0) return
  const ids = [...touched].filter((id) => !desk.runs.has(id))
  if (ids.length === 0) return
  for (const run of await loadUsages(connection, { orgId, ids })) bookTokens(book, run)
}

/** Brings the line-up in line with what providers let through now, before anything is picked. */
export async function reviewQuotas(tx: Transaction, memory: Memory): Promise<void> {
  const { desk } = memory
  const ids = desk.quotas === null ? [] : unknownHabits(desk, desk.quotas)
  if (desk.quotas !== null && ids.length > 0) {
    const each = TOKEN_HABIT_RUNS
    bookHabits(desk.quotas, ids, await loadHabitsOfAgents(tx, { orgId: desk.orgId, ids, each }))
  }
  applyQuotas(memory)
}

/** The same, with everybody's use of tokens known. */
export function applyQuotas({ desk, lineUp }: Memory): void {
  if (desk.quotasChanged) lineUp.setProviders(quotaLoads(desk))
  desk.quotasChanged = false
  lineUp.reviewProviders(desk.now)
}
