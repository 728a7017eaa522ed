import type { BudgetView } from '../features/budgets/schema.ts'
import type { Page } from '../api/page.ts'
import type { PageFilter } from '../api/common.ts'
import { invalid } from '../api/refusals.ts'
import { instant } from '../domain/instant.ts'
import { findBudgets } from './budgets.ts'
import type { Caller } from './caller.ts'
import { pageOf, parseCursor, parseLimit, type Cursor } from '../platform/db/cursor.ts'
import { collectFlaws } from '../domain/input-fields.ts'
import type { Ports } from './ports.ts'

/** A page of the org's budgets, newest first. Every node has all of them in mind, so there are never many. */
export async function findBudgetPage(ports: Ports, caller: Caller, filter: PageFilter = {}): Promise<Page<BudgetView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const after = keep(parseCursor('cursor', filter.cursor))
  if (flaws.length > 0) throw invalid(flaws)
  const placed = (await findBudgets(ports, caller))
    .map((view) => ({ view, createdAt: instant(Date.parse(view.created_at)), key: view.id }))
    .toSorted((a, b) => (isBefore(a, b) ? 1 : -1))
    .filter((one) => after === null || isBefore(one, after))
  return pageOf(placed, limit, { view: ({ view }) => view, cursor: ({ createdAt, key }) => ({ createdAt, key }) })
}

const isBefore = (a: Cursor, b: Cursor): boolean =>
  a.createdAt === b.createdAt ? a.key < b.key : a.createdAt < b.createdAt
