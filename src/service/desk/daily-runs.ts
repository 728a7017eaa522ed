import { periodBounds } from '../../domain/budget/budget-period.ts'
import { type DailyRuns, overDailyRuns } from '../../domain/admission/admission.ts'
import { budgetId, type BudgetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Zone } from '../../core/time/zone.ts'
import type { PeriodUse } from '../../features/budgets/store.ts'
import type { CountedDay, Desk } from './desk.ts'

/** Under this name the runs of a day are counted where budgets are counted. No budget has it. */
export const RUNS_PER_DAY: BudgetId = budgetId('runs_per_day')

/** Takes in the limit of the org and what was counted; null when there is none. */
export function takeDailyRuns(
  desk: Desk,
  limit: { readonly perDay: number; readonly zone: Zone } | null,
  counted: readonly PeriodUse[],
): void {
  if (limit === null) {
    desk.daily = null
    return
  }
  // Which day it is shows when somebody asks: the desk may be loaded long before its first turn.
  const [newest] = counted
  const start = newest?.start ?? (0 as Instant)
  const { end } = periodBounds('day', limit.zone, start)
  desk.daily = { limit: limit.perDay, zone: limit.zone, start, end, made: newest?.used ?? 0 }
}

/** How the day stands; null without a limit. */
export function dailyRuns(desk: Desk): DailyRuns | null {
  const { daily } = desk
  if (daily === null) return null
  if (desk.now >= daily.end) {
    const { start, end } = periodBounds('day', daily.zone, desk.now)
    daily.start = start
    daily.end = end
    daily.made = 0
  }
  return daily
}

/** Why nothing new may be made today, and until when; null while something may. */
export function closedDay(desk: Desk): { readonly why: Why; readonly until: Instant } | null {
  const facts = dailyRuns(desk)
  const why = facts === null ? null : overDailyRuns(facts)
  return why === null || desk.daily === null ? null : { why, until: desk.daily.end }
}

/** Counts what the present turn has made and nobody has written yet, after the count was read again. */
export function countUnwritten(desk: Desk): void {
  if (desk.daily !== null) desk.daily.made += desk.changes.spendings.get(nameOf(desk.daily))?.used ?? 0
}

const nameOf = ({ start }: CountedDay): string => `${RUNS_PER_DAY} ${start}`

/** Counts a run that was made. */
export function countDailyRun(desk: Desk): void {
  const { daily } = desk
  if (daily === null || dailyRuns(desk) === null) return
  daily.made += 1
  const name = nameOf(daily)
  const used = (desk.changes.spendings.get(name)?.used ?? 0) + 1
  desk.changes.spendings.set(name, { budgetId: RUNS_PER_DAY, start: daily.start, used })
}
