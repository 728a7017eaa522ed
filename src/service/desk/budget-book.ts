import { smallest } from '../../domain/long-lists.ts'
import { amountsUsed, type Amounts } from '../../core/budget/amounts.ts'
import { reserveFor, reserveUnder, type Budget, type BudgetScope, type BudgetUse } from '../../domain/budget/budget.ts'
import { periodBounds, type PeriodBounds } from '../../domain/budget/budget-period.ts'
import type { AgentId, BudgetId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import { isInFlight } from '../../domain/run/run.ts'
import type { BudgetAlerts, BudgetOnRecord, BudgetRow } from '../../features/budgets/store.ts'
import type { RunUsage } from '../../features/budgets/usage-store.ts'
import type { RunRow } from '../../store/run-row.ts'

/** What is known of the budgets of an org that has any. */
export interface BudgetBook {
  readonly budgets: Map<BudgetId, BookedBudget>
  /** What the newest runs used, newest first; nothing is kept of whom no budget concerns. */
  readonly habits: { readonly agents: Map<AgentId, Habit>; readonly schedules: Map<ScheduleId, Habit> }
  /** Whose habits have to be read before anything is decided about them. */
  readonly unread: { readonly agents: Set<AgentId>; readonly schedules: Set<ScheduleId> }
  /**
   * Where to look for runs that have something set aside. Only a list of places to look: whether one still has is asked
   * of the run itself each time, so that nothing stays reserved for a run that is gone.
   */
  readonly holders: Set<RunRow>
}

/** A budget and what it has used, by the start of the period. */
export interface BookedBudget {
  budget: Budget
  /** Its open alerts by kind, with their ids. */
  alerts: BudgetAlerts
  readonly spent: Map<Instant, number>
  /** The period that was asked for last: working one out asks the calendar. */
  lastPeriod: PeriodBounds | null
}

export interface Habit {
  readonly recent: { readonly id: RunId; readonly used: Amounts }[]
}

/** A reserve that also knows what the run itself said it needs at most, which outlives the payload in memory. */
export interface StatedReserve extends Reserve {
  readonly stated: number | null
}

/** How many runs a habit is read from: as many as `reserveFor` looks at. */
export const HABIT_RUNS = 20

/** More habits than these are not kept; those that were read first go first, and are read again when needed. */
const MOST_HABITS = 10_000

const NO_ALERTS: BudgetAlerts = {}

export const emptyBook = (): BudgetBook => ({
  budgets: new Map(),
  habits: { agents: new Map(), schedules: new Map() },
  unread: { agents: new Set(), schedules: new Set() },
  holders: new Set(),
})

/** Takes in what is on record. Answers whether there are other budgets than before. */
export function bookBudgets(book: BudgetBook, loaded: readonly BudgetOnRecord[]): boolean {
  const before = [...book.budgets.keys()].join(' ')
  book.budgets.clear()
  for (const { uses, alerts, ...budget } of loaded)
    book.budgets.set(budget.id, {
      ...{ budget, alerts: alerts ?? NO_ALERTS, lastPeriod: null },
      spent: new Map(uses.map(({ start, used }) => [start, used])),
    })
  return [...book.budgets.keys()].join(' ') !== before
}

/** Who works, as far as budgets care. */
export type Spender = Pick<RunRow, 'agentId' | 'scheduleId'> & Partial<Pick<RunRow, 'owner'>>

/** Whether a budget of the scope counts what the spender uses. */
export const covers = (scope: BudgetScope, spender: Spender): boolean => {
  switch (scope.kind) {
    case 'org':
      return true
    case 'agent':
      return scope.agentId === spender.agentId
    case 'schedule':
      return scope.scheduleId === spender.scheduleId
    case 'owner':
      return scope.owner === spender.owner
  }
}

/** The budgets that a run of the spender uses. */
export function budgetsOf(book: BudgetBook, spender: Spender): readonly BookedBudget[] {
  const found: BookedBudget[] = []
  for (const booked of book.budgets.values()) if (covers(booked.budget.scope, spender)) found.push(booked)
  return found
}

/** Notes whose habits have to be read before runs of the spender are judged. */
export function wantHabits(book: BudgetBook, spender: Spender): void {
  for (const { budget } of budgetsOf(book, spender)) {
    if (budget.scope.kind !== 'schedule') {
      if (!book.habits.agents.has(spender.agentId)) book.unread.agents.add(spender.agentId)
    } else if (!book.habits.schedules.has(budget.scope.scheduleId)) book.unread.schedules.add(budget.scope.scheduleId)
  }
}

/** Takes in habits that were read, oldest run first. */
export function bookHabits(
  book: BudgetBook,
  read: { readonly agents: readonly RunUsage[]; readonly schedules: readonly RunUsage[] },
): void {
  const { habits, unread } = book
  for (const id of unread.agents) habits.agents.set(id, { recent: [] })
  for (const id of unread.schedules) habits.schedules.set(id, { recent: [] })
  for (const run of read.agents) remember(habits.agents.get(run.agentId), run)
  for (const run of read.schedules)
    remember(run.scheduleId === null ? undefined : habits.schedules.get(run.scheduleId), run)
  unread.agents.clear()
  unread.schedules.clear()
  forgetSome(habits.agents)
  forgetSome(habits.schedules)
}

function forgetSome(habits: Map<unknown, Habit>): void {
  for (const key of habits.keys()) {
    if (habits.size <= MOST_HABITS) return
    habits.delete(key)
  }
}

/** A run has ended and said what it used. Heard twice it counts once. */
export function bookUsage(book: BudgetBook, run: RunUsage): void {
  remember(book.habits.agents.get(run.agentId), run)
  if (run.scheduleId !== null) remember(book.habits.schedules.get(run.scheduleId), run)
}

function remember(habit: Habit | undefined, { id, usage }: RunUsage): void {
  if (habit === undefined || habit.recent.some((known) => known.id === id)) return
  habit.recent.push({ id, used: amountsUsed(usage) })
  // As they are read from the tables: the newest by when they were made, not by when they ended.
  habit.recent.sort((a, b) => (madeWhen(a.id) < madeWhen(b.id) ? 1 : -1))
  habit.recent.length = Math.min(habit.recent.length, HABIT_RUNS)
}

/** Ids of runs and of tasks begin differently; behind that they sort in the order in which they were made. */
const madeWhen = (id: RunId): string => id.slice(4)

/** What a run is expected to use of a budget. */
export function expectedUse(book: BudgetBook, id: BudgetId, run: Spender & { readonly stated: number | null }): number {
  const budget = book.budgets.get(id)?.budget
  if (budget === undefined) return 0
  const { scope, unit } = budget
  const habit =
    scope.kind === 'schedule' ? book.habits.schedules.get(scope.scheduleId) : book.habits.agents.get(run.agentId)
  const last: number[] = []
  for (const { used } of habit?.recent ?? []) if (used[unit] !== null) last.push(used[unit])
  return reserveUnder(budget, run.stated, last)
}

/** What the smallest of the runs that are known under a budget is expected to use; null: nothing is known of any. */
export function leastExpected(book: BudgetBook, { id, scope, unit, amount, defaultReserve }: Budget): number | null {
  const { agents, schedules } = book.habits
  const known =
    scope.kind === 'schedule'
      ? [schedules.get(scope.scheduleId)]
      : scope.kind === 'agent'
        ? [agents.get(scope.agentId)]
        : [...agents.values()]
  const least = known.flatMap((habit) => {
    const last = habit?.recent.flatMap(({ used }) => (used[unit] === null ? [] : [Math.min(used[unit], amount)])) ?? []
    return last.length === 0 ? [] : [reserveFor(null, last, 0)]
  })
  if (least.length > 0) return smallest(least)
  return defaultReserve > 0 && book.budgets.has(id) ? Math.min(defaultReserve, amount) : null
}

/** What all runs in flight have set aside, by budget. */
export function reservedIn(book: BudgetBook, isPresent: (run: RunRow) => boolean): ReadonlyMap<BudgetId, number> {
  const sums = new Map<BudgetId, number>()
  for (const run of book.holders) {
    if (!isInFlight(run.state) || !isPresent(run)) {
      book.holders.delete(run)
      continue
    }
    for (const { budgetId, amount } of run.reserves) sums.set(budgetId, (sums.get(budgetId) ?? 0) + amount)
  }
  return sums
}

/** The period of the budget that this moment lies in. */
export function periodOf(booked: BookedBudget, now: Instant): PeriodBounds {
  const { budget, lastPeriod } = booked
  if (lastPeriod !== null && now >= lastPeriod.start && now < lastPeriod.end) return lastPeriod
  booked.lastPeriod = periodBounds(budget.period, budget.timezone, now)
  return booked.lastPeriod
}

/** What has become of the budget by itself, as it is kept on record. */
export const standingOf = ({ budget, alerts }: BookedBudget): Pick<BudgetRow, 'id' | 'pausedAt' | 'alerts'> => ({
  ...{ id: budget.id, pausedAt: budget.pausedAt },
  alerts: Object.keys(alerts).length === 0 ? null : alerts,
})

/** What the budget has used in its present period, and what is set aside. */
export const useOf = (booked: BookedBudget, now: Instant, reserved: number): BudgetUse => ({
  spent: booked.spent.get(periodOf(booked, now).start) ?? 0,
  reserved,
})
