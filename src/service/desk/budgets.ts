import { amountsStated, amountsUsed } from '../../core/budget/amounts.ts'
import { isUsedUp } from '../../domain/budget/budget-alerts.ts'
import { decideBudget, remaining, unitWord } from '../../domain/budget/budget.ts'
import type { BudgetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { BudgetLoad } from '../../domain/queue/gates.ts'
import type { Why } from '../../domain/reasons.ts'
import { isInFlight } from '../../domain/run/run.ts'
import { isTerminal, type RunState } from '../../domain/run/run-machine.ts'
import type { BudgetOnRecord } from '../../features/budgets/store.ts'
import type { RunRow } from '../../store/run-row.ts'
import {
  bookBudgets,
  bookUsage,
  budgetsOf,
  emptyBook,
  expectedUse,
  periodOf,
  reservedIn,
  useOf,
  wantHabits,
  type BudgetBook,
  type Spender,
  type StatedReserve,
} from './budget-book.ts'
import { pauseBudget } from './budget-standing.ts'
import type { Desk } from './desk.ts'

/**
 * Budgets at work. `skip` and `pause` close admission; at picking every budget closes its gate, so that work which was
 * let in while there was room does not start when there is none any more. What a waiting run will set aside is worked
 * out when it is asked for; what a run in flight has set aside is fixed, on record, and given back by its leaving flight.
 * Work that `pause` refuses, although all that is in flight gave back what it has set aside, makes the budget stand still.
 */

/** Takes in the budgets of the org as they are on record; with others than before, all waiting work is judged anew. */
export function takeBudgets(desk: Desk, loaded: readonly BudgetOnRecord[]): void {
  if (loaded.length === 0 && desk.budgets === null) return
  const book = desk.budgets ?? bookOfHolders(desk)
  const others = bookBudgets(book, loaded)
  desk.budgets = loaded.length === 0 ? null : book
  if (!others || desk.runs.size === 0) return
  for (const run of desk.runs.values()) {
    if (isInFlight(run.state)) continue
    run.reserves = desk.budgets === null ? [] : reservesFor(book, run)
  }
  desk.reservesChanged = true
}

/** A new book. Another node may have started runs under a budget before this one has heard of it. */
function bookOfHolders(desk: Desk): BudgetBook {
  const book = emptyBook()
  for (const run of desk.runs.values()) noteHolder(book, run)
  return book
}

function noteHolder(book: BudgetBook, run: RunRow): void {
  if (isInFlight(run.state) && run.reserves.length > 0) book.holders.add(run)
}

/** What the run will set aside when it starts, live: what its predecessors used may change while it waits. */
function reservesFor(book: BudgetBook, run: RunRow): readonly StatedReserve[] {
  const stated = statedBy(book, run)
  const { agentId, scheduleId } = run
  wantHabits(book, run)
  return budgetsOf(book, run).map(({ budget: { id, unit } }) => {
    const spender = { agentId, scheduleId, stated: stated[unit] }
    return {
      budgetId: id,
      stated: stated[unit],
      get amount() {
        return expectedUse(book, id, spender)
      },
    }
  })
}

/** A large payload is not in memory; what it stated is kept with what is set aside. */
function statedBy(book: BudgetBook, run: RunRow): ReturnType<typeof amountsStated> {
  if (run.payload !== undefined) return amountsStated(run.payload)
  const stated: Record<keyof ReturnType<typeof amountsStated>, number | null> = { tokens: null, money: null }
  for (const reserve of run.reserves) {
    const unit = book.budgets.get(reserve.budgetId)?.budget.unit
    if (unit !== undefined) stated[unit] ??= (reserve as Partial<StatedReserve>).stated ?? null
  }
  return stated
}

/** A run was made, loaded, or has changed its state: what it sets aside follows. Null: it was nowhere before. */
export function noteSpender(book: BudgetBook, run: RunRow, from: RunState | null): void {
  if (isTerminal(run.state)) {
    // However it ended: what an earlier attempt has reported is on record, and is read again after a restart.
    if (run.usage !== null) bookUsage(book, run)
    return
  }
  if (!isInFlight(run.state)) {
    run.reserves = reservesFor(book, run)
    return
  }
  // Loaded in flight, its reserves are what was fixed when it started.
  if (from !== null && !isInFlight(from)) run.reserves = run.reserves.map((reserve) => ({ ...reserve }))
  noteHolder(book, run)
}

/** A closed budget, in its own words, and when it opens at the latest. Null: when a person lets it go on. */
export interface ClosedBudget {
  readonly why: Why
  readonly until: Instant | null
}

/** The budget that refuses new work of the spender, if one does. Those that queue let it in. */
export function closedBudget(desk: Desk, spender: Spender & Pick<RunRow, 'payload'>): ClosedBudget | null {
  const book = desk.budgets
  if (book === null) return null
  const stated = amountsStated(spender.payload)
  const reserved = reservedOn(desk, book)
  const facts = budgetsOf(book, spender).map((booked) => {
    const { id, unit } = booked.budget
    const reserve = expectedUse(book, id, { ...spender, stated: stated[unit] })
    const use = useOf(booked, desk.now, reserved.get(id) ?? 0)
    if (isUsedUp(booked.budget, use, reserve)) pauseBudget(desk, booked)
    return { budget: booked.budget, use, reserve }
  })
  const decision = decideBudget(facts, desk.now)
  return decision.kind === 'open' || decision.action === 'queue' ? null : decision
}

/** Counts what an attempt used, in the period of its report, and remembers it for those that come after. */
export function spend(desk: Desk, run: RunRow): void {
  const book = desk.budgets
  if (book === null) return
  const used = amountsUsed(run.usage)
  for (const booked of budgetsOf(book, run)) {
    const { budget, spent } = booked
    const amount = used[budget.unit] ?? 0
    if (amount === 0) continue
    const { start } = periodOf(booked, desk.now)
    spent.set(start, (spent.get(start) ?? 0) + amount)
    const key = `${budget.id} ${start}`
    const before = desk.changes.spendings.get(key)?.used ?? 0
    desk.changes.spendings.set(key, { budgetId: budget.id, start, used: before + amount })
  }
}

/** What every budget has left, for the gate at picking. */
export function budgetLoads(desk: Desk): ReadonlyMap<BudgetId, BudgetLoad> {
  const loads = new Map<BudgetId, BudgetLoad>()
  const book = desk.budgets
  if (book === null) return loads
  const reserved = reservedOn(desk, book)
  for (const [id, booked] of book.budgets) {
    const { budget } = booked
    loads.set(id, {
      remaining: remaining(budget, useOf(booked, desk.now, reserved.get(id) ?? 0)),
      unit: unitWord(budget.unit),
      until: budget.pausedAt === null ? periodOf(booked, desk.now).end : null,
    })
  }
  return loads
}

/** A row that was loaded again is another object: the one before holds nothing. */
const reservedOn = (desk: Desk, book: BudgetBook): ReadonlyMap<BudgetId, number> =>
  reservedIn(book, (run) => desk.runs.get(run.id) === run)
