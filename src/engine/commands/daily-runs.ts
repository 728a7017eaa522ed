import { periodBounds } from '../../domain/budget/budget-period.ts'
import { type DailyRuns, overDailyRuns } from '../../domain/admission/admission.ts'
import { budgetId, type BudgetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Zone } from '../../domain/time/zone.ts'
import type { PeriodUsage } from '../../features/budgets/store.ts'
import type { CountedDay, OrgState } from '../org-state/org-state.ts'

/** The name under which the runs of a day are counted in the budgets' usage table. No budget has it. */
export const RUNS_PER_DAY: BudgetId = budgetId('runs_per_day')

/** Sets the limit of the org and the stored count; null when there is none. */
export function setDailyRuns(
  state: OrgState,
  limit: { readonly perDay: number; readonly zone: Zone } | null,
  counted: readonly PeriodUsage[],
): void {
  if (limit === null) {
    state.daily = null
    return
  }
  // The present day is determined on demand, because an org may be loaded long before its first transaction.
  const [newest] = counted
  const start = newest?.start ?? (0 as Instant)
  const { end } = periodBounds('day', limit.zone, start)
  state.daily = { limit: limit.perDay, zone: limit.zone, start, end, created: newest?.used ?? 0 }
}

/** The runs of the present day; null without a limit. */
export function runsOfDay(state: OrgState): DailyRuns | null {
  const { daily } = state
  if (daily === null) return null
  if (state.now >= daily.end) {
    const { start, end } = periodBounds('day', daily.zone, state.now)
    daily.start = start
    daily.end = end
    daily.created = 0
  }
  return daily
}

/** Why no run may be created today, and until when; null while runs may be created. */
export function dailyLimitReached(state: OrgState): { readonly why: Why; readonly until: Instant } | null {
  const facts = runsOfDay(state)
  const why = facts === null ? null : overDailyRuns(facts)
  return why === null || state.daily === null ? null : { why, until: state.daily.end }
}

/** Adds the runs of the present transaction that are not written yet, after the count was read again. */
export function countUnwritten(state: OrgState): void {
  if (state.daily !== null) state.daily.created += state.changes.spendings.get(dayUsageKey(state.daily))?.used ?? 0
}

const dayUsageKey = ({ start }: CountedDay): string => `${RUNS_PER_DAY} ${start}`

/** Counts a run that was created. */
export function countDailyRun(state: OrgState): void {
  const { daily } = state
  if (daily === null || runsOfDay(state) === null) return
  daily.created += 1
  const name = dayUsageKey(daily)
  const used = (state.changes.spendings.get(name)?.used ?? 0) + 1
  state.changes.spendings.set(name, { budgetId: RUNS_PER_DAY, start: daily.start, used })
}
