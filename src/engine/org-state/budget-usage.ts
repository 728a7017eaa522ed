import { smallest } from '../../domain/long-lists.ts'
import { amountsUsed, type Amounts } from '../../domain/budget/amounts.ts'
import {
  reserveFor,
  reserveUnder,
  type Budget,
  type BudgetScope,
  type BudgetUsage,
} from '../../domain/budget/budget.ts'
import { periodBounds, type PeriodBounds } from '../../domain/budget/budget-period.ts'
import type { AgentId, BudgetId, RunId, ScheduleId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Reserve } from '../../domain/queue/gates.ts'
import { isInFlight } from '../../domain/run/run.ts'
import type { BudgetAlerts, BudgetWithPeriods, BudgetRow } from '../../features/budgets/store.ts'
import type { RunUsage } from '../../features/budgets/usage-store.ts'
import type { RunRow } from '../../features/runs/store.ts'

/** The budgets of an org that has any, with their usage. */
export interface OrgBudgets {
  readonly budgets: Map<BudgetId, BudgetWithUsage>
  /** The usage of the latest runs, newest first, for agents and schedules under a budget. */
  readonly typicalUsage: {
    readonly agents: Map<AgentId, TypicalUsage>
    readonly schedules: Map<ScheduleId, TypicalUsage>
  }
  /** Agents and schedules whose typical usage must be read before the next decision about them. */
  readonly unread: { readonly agents: Set<AgentId>; readonly schedules: Set<ScheduleId> }
  /**
   * Runs that may have a reserve. The run itself is checked each time, so that nothing stays reserved for a run that is
   * gone.
   */
  readonly holders: Set<RunRow>
}

/** A budget and its usage, by the start of the period. */
export interface BudgetWithUsage {
  budget: Budget
  /** Its open alerts by kind, with their ids. */
  alerts: BudgetAlerts
  readonly spent: Map<Instant, number>
  /** The last period asked for; computing one needs the calendar. */
  lastPeriod: PeriodBounds | null
}

export interface TypicalUsage {
  readonly recent: { readonly id: RunId; readonly used: Amounts }[]
}

/** A reserve with the maximum the run itself stated, which outlives the payload in memory. */
export interface StatedReserve extends Reserve {
  readonly stated: number | null
}

/** How many runs typical usage is computed from; `reserveFor` uses as many. */
export const TYPICAL_USAGE_RUNS = 20

/** Maximum number of cached entries; the ones read first are evicted first and read again on demand. */
const MAX_CACHED_USAGES = 10_000

const NO_ALERTS: BudgetAlerts = {}

export const emptyBudgets = (): OrgBudgets => ({
  budgets: new Map(),
  typicalUsage: { agents: new Map(), schedules: new Map() },
  unread: { agents: new Set(), schedules: new Set() },
  holders: new Set(),
})

/** Replaces the budgets by those from the database. Returns whether the set of budgets has changed. */
export function replaceBudgets(budgets: OrgBudgets, rows: readonly BudgetWithPeriods[]): boolean {
  const before = [...budgets.budgets.keys()].join(' ')
  budgets.budgets.clear()
  for (const { uses, alerts, ...budget } of rows)
    budgets.budgets.set(budget.id, {
      ...{ budget, alerts: alerts ?? NO_ALERTS, lastPeriod: null },
      spent: new Map(uses.map(({ start, used }) => [start, used])),
    })
  return [...budgets.budgets.keys()].join(' ') !== before
}

/** The owner of usage, as far as budgets are concerned. */
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
export function budgetsFor(budgets: OrgBudgets, spender: Spender): readonly BudgetWithUsage[] {
  const found: BudgetWithUsage[] = []
  for (const entry of budgets.budgets.values()) if (covers(entry.budget.scope, spender)) found.push(entry)
  return found
}

/** Marks the typical usage that must be read before runs of the spender are decided. */
export function requestTypicalUsage(budgets: OrgBudgets, spender: Spender): void {
  for (const { budget } of budgetsFor(budgets, spender)) {
    if (budget.scope.kind !== 'schedule') {
      if (!budgets.typicalUsage.agents.has(spender.agentId)) budgets.unread.agents.add(spender.agentId)
    } else if (!budgets.typicalUsage.schedules.has(budget.scope.scheduleId))
      budgets.unread.schedules.add(budget.scope.scheduleId)
  }
}

/** Stores typical usage that was read, oldest run first. */
export function storeTypicalUsage(
  budgets: OrgBudgets,
  read: { readonly agents: readonly RunUsage[]; readonly schedules: readonly RunUsage[] },
): void {
  const { typicalUsage, unread } = budgets
  for (const id of unread.agents) typicalUsage.agents.set(id, { recent: [] })
  for (const id of unread.schedules) typicalUsage.schedules.set(id, { recent: [] })
  for (const run of read.agents) addToTypicalUsage(typicalUsage.agents.get(run.agentId), run)
  for (const run of read.schedules)
    addToTypicalUsage(run.scheduleId === null ? undefined : typicalUsage.schedules.get(run.scheduleId), run)
  unread.agents.clear()
  unread.schedules.clear()
  evictSome(typicalUsage.agents)
  evictSome(typicalUsage.schedules)
}

function evictSome(typicalUsage: Map<unknown, TypicalUsage>): void {
  for (const key of typicalUsage.keys()) {
    if (typicalUsage.size <= MAX_CACHED_USAGES) return
    typicalUsage.delete(key)
  }
}

/** Records the usage of a run that has ended; a repetition is ignored. */
export function recordUsage(budgets: OrgBudgets, run: RunUsage): void {
  addToTypicalUsage(budgets.typicalUsage.agents.get(run.agentId), run)
  if (run.scheduleId !== null) addToTypicalUsage(budgets.typicalUsage.schedules.get(run.scheduleId), run)
}

function addToTypicalUsage(typical: TypicalUsage | undefined, { id, usage }: RunUsage): void {
  if (typical === undefined || typical.recent.some((known) => known.id === id)) return
  typical.recent.push({ id, used: amountsUsed(usage) })
  // In the order of the query: by creation, not by end.
  typical.recent.sort((a, b) => (creationOrder(a.id) < creationOrder(b.id) ? 1 : -1))
  typical.recent.length = Math.min(typical.recent.length, TYPICAL_USAGE_RUNS)
}

/** Ids of runs and tasks have different prefixes; after it they sort by creation. */
const creationOrder = (id: RunId): string => id.slice(4)

/** The expected usage of a run under a budget. */
export function expectedUse(
  budgets: OrgBudgets,
  id: BudgetId,
  run: Spender & { readonly stated: number | null },
): number {
  const budget = budgets.budgets.get(id)?.budget
  if (budget === undefined) return 0
  const { scope, unit } = budget
  const typical =
    scope.kind === 'schedule'
      ? budgets.typicalUsage.schedules.get(scope.scheduleId)
      : budgets.typicalUsage.agents.get(run.agentId)
  const last: number[] = []
  for (const { used } of typical?.recent ?? []) if (used[unit] !== null) last.push(used[unit])
  return reserveUnder(budget, run.stated, last)
}

/** The smallest expected usage of the known runs under a budget; null: no usage is known. */
export function leastExpected(budgets: OrgBudgets, { id, scope, unit, amount, defaultReserve }: Budget): number | null {
  const { agents, schedules } = budgets.typicalUsage
  const known =
    scope.kind === 'schedule'
      ? [schedules.get(scope.scheduleId)]
      : scope.kind === 'agent'
        ? [agents.get(scope.agentId)]
        : [...agents.values()]
  const least = known.flatMap((typical) => {
    const last =
      typical?.recent.flatMap(({ used }) => (used[unit] === null ? [] : [Math.min(used[unit], amount)])) ?? []
    return last.length === 0 ? [] : [reserveFor(null, last, 0)]
  })
  if (least.length > 0) return smallest(least)
  return defaultReserve > 0 && budgets.budgets.has(id) ? Math.min(defaultReserve, amount) : null
}

/** The reserves of all runs in flight, by budget. */
export function reservedIn(budgets: OrgBudgets, isPresent: (run: RunRow) => boolean): ReadonlyMap<BudgetId, number> {
  const sums = new Map<BudgetId, number>()
  for (const run of budgets.holders) {
    if (!isInFlight(run.state) || !isPresent(run)) {
      budgets.holders.delete(run)
      continue
    }
    for (const { budgetId, amount } of run.reserves) sums.set(budgetId, (sums.get(budgetId) ?? 0) + amount)
  }
  return sums
}

/** The period of the budget that contains `now`. */
export function periodOf(entry: BudgetWithUsage, now: Instant): PeriodBounds {
  const { budget, lastPeriod } = entry
  if (lastPeriod !== null && now >= lastPeriod.start && now < lastPeriod.end) return lastPeriod
  entry.lastPeriod = periodBounds(budget.period, budget.timezone, now)
  return entry.lastPeriod
}

/** The fields of a budget that the engine itself changes. */
export const storedBudgetState = ({
  budget,
  alerts,
}: BudgetWithUsage): Pick<BudgetRow, 'id' | 'pausedAt' | 'alerts'> => ({
  ...{ id: budget.id, pausedAt: budget.pausedAt },
  alerts: Object.keys(alerts).length === 0 ? null : alerts,
})

/** The usage of the budget in its present period, and its reserves. */
export const balanceOf = (entry: BudgetWithUsage, now: Instant, reserved: number): BudgetUsage => ({
  spent: entry.spent.get(periodOf(entry, now).start) ?? 0,
  reserved,
})
