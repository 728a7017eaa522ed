import { hasRoom, STRICTNESS, type Budget } from '../budget/budget.ts'
import { isExhausted } from '../budget/budget-alerts.ts'
import { periodBounds } from '../budget/budget-period.ts'
import { instant, type Instant } from '../instant.ts'
import type { ForecastDay } from './runs-per-day.ts'

/** A budget at the start of a forecast. Reserves of active runs count as used. */
export interface ForecastBudget extends Pick<Budget, 'amount' | 'period' | 'timezone' | 'onExceed' | 'pausedAt'> {
  readonly used: number
}

/** The usage of one budget by a run of a source. */
export interface BudgetDraw {
  /** The index of the budget. */
  readonly budget: number
  readonly use: number
  /** The amount that must be left for a run to start. */
  readonly reserve: number
}

/** A source of runs that budgets limit, such as a schedule. */
export interface LimitedSource {
  /** Whether its number of runs is whole; an average rate is fractional. */
  readonly isWhole: boolean
  /** The maximum number of its runs in the queue. */
  readonly maxWaiting: number
  readonly draws: readonly BudgetDraw[]
}

/** One period of a budget: the amounts used and held back by its end. */
export interface LimitedPeriod {
  readonly start: Instant
  readonly end: Instant
  readonly used: number
  readonly heldBack: number
}

/** The forecast of a budget. */
export interface SimulatedBudget {
  readonly periods: readonly LimitedPeriod[]
  /** When it is first exhausted; null if not within the forecast. */
  readonly usedUpAt: Instant | null
  /** Runs that are refused, plus runs that still wait at the end. */
  readonly heldBackRuns: number
}

interface SimulatedBudgetState {
  readonly budget: ForecastBudget
  periods: { start: Instant; end: Instant; used: number; lost: number; waiting: number }[]
  left: number
  /** The state at the start of the interval. */
  before: { readonly left: number; readonly used: number }
  /** The amount refused in the interval; null if none. */
  refused: number | null
  pausedAt: Instant | null
  usedUpAt: Instant | null
  lostRuns: number
  waitingRuns: number
}

/** Simulates the runs of a forecast against budgets, one time interval after another. */
export interface BudgetSimulation {
  /** The number of runs of each source that start in an interval. It must be within one period of every budget. */
  readonly next: (interval: ForecastDay, wanted: readonly number[]) => readonly number[]
  /** The number of runs of each source that have not started. */
  readonly heldBack: () => readonly number[]
  readonly courses: () => readonly SimulatedBudget[]
}

/** The smallest fraction of a run that is still distributed. */
const NEGLIGIBLE = 0.001

/**
 * Counts the runs that budgets allow. A run starts if every budget it draws on has room for its reserve, as when runs
 * are picked. Otherwise it is lost with `skip` and `pause`, and waits for the next period with `queue`. Within an
 * interval, budgets are shared in proportion to demand.
 */
export function simulateBudgets(
  budgets: readonly ForecastBudget[],
  sources: readonly LimitedSource[],
): BudgetSimulation {
  const states = budgets.map(startState)
  const waiting = sources.map(() => 0)
  const lost = sources.map(() => 0)
  return {
    next: (interval, wanted) => {
      for (const state of states) openInterval(state, interval.from)
      const missing = sources.map((_, index) => (wanted[index] ?? 0) + (waiting[index] ?? 0))
      const started = shareRoom(states, sources, missing)
      for (const [index, source] of sources.entries()) {
        const [unmet, waited] = [missing[index] ?? 0, waiting[index] ?? 0]
        if (unmet === 0) {
          waiting[index] = 0
          continue
        }
        const older = Math.max(0, waited - (started[index] ?? 0))
        const held = holdBackRuns(states, source, { older, newer: unmet - older, now: interval.from })
        waiting[index] = held.waiting
        lost[index] = (lost[index] ?? 0) + held.lost
      }
      for (const state of states) closeInterval(state, interval)
      return started
    },
    heldBack: () => lost.map((runs, index) => runs + (waiting[index] ?? 0)),
    courses: () =>
      states.map(({ periods, usedUpAt, lostRuns, waitingRuns }) => ({
        periods: periods.map(({ start, end, used, lost: gone, waiting: held }) => ({
          ...{ start, end, used, heldBack: gone + held },
        })),
        usedUpAt,
        heldBackRuns: lostRuns + waitingRuns,
      })),
  }
}

const startState = (budget: ForecastBudget): SimulatedBudgetState => ({
  ...{ budget, periods: [], left: 0, before: { left: 0, used: 0 }, refused: null, lostRuns: 0, waitingRuns: 0 },
  ...{ pausedAt: budget.pausedAt, usedUpAt: budget.pausedAt },
})

/** Starts an interval, and a new period of the budget if the previous one has ended. */
function openInterval(state: SimulatedBudgetState, from: Instant): void {
  const { budget, periods } = state
  const current = periods.at(-1)
  if (current === undefined || from >= current.end) {
    const used = current === undefined ? budget.used : 0
    periods.push({ ...periodBounds(budget.period, budget.timezone, from), used, lost: 0, waiting: 0 })
    state.left = state.pausedAt === null ? Math.max(0, budget.amount - used) : 0
  }
  const period = periods.at(-1)
  if (period !== undefined) period.waiting = 0
  state.before = { left: state.left, used: period?.used ?? 0 }
  state.refused = null
  state.waitingRuns = 0
}

/** Starts as many of the missing runs as the budgets have room for. Updates `missing`. */
function shareRoom(
  states: readonly SimulatedBudgetState[],
  sources: readonly LimitedSource[],
  missing: number[],
): readonly number[] {
  const started = sources.map(() => 0)
  const give = (index: number, { draws, isWhole }: LimitedSource, wanted: number): number => {
    const room = runsWithinRoom(states, draws)
    const runs = Math.min(missing[index] ?? 0, wanted, isWhole ? Math.floor(room) : room)
    deductUsage(states, draws, runs)
    missing[index] = (missing[index] ?? 0) - runs
    started[index] = (started[index] ?? 0) + runs
    return runs
  }
  for (;;) {
    const parts = shareOfDemand(states, sources, missing)
    let given = 0
    for (const [index, source] of sources.entries()) {
      const unmet = missing[index] ?? 0
      if (unmet === 0) continue
      const part = source.draws.reduce(
        (minimum, { budget, use }) => (use > 0 ? Math.min(minimum, parts[budget] ?? 1) : minimum),
        1,
      )
      given += give(index, source, source.isWhole ? Math.floor(unmet * part) : unmet * part)
    }
    // Less than one run per source is left: sources with the most missing runs come first.
    if (given < NEGLIGIBLE)
      for (const [index, source] of byMissing(sources, missing)) if (source.isWhole) given += give(index, source, 1)
    if (given < NEGLIGIBLE) return started
  }
}

/** The fraction of the demand that each budget has room for. Sources that cannot start do not count. */
function shareOfDemand(
  states: readonly SimulatedBudgetState[],
  sources: readonly LimitedSource[],
  missing: readonly number[],
): readonly number[] {
  const wanted = states.map(() => 0)
  for (const [index, { draws }] of sources.entries())
    if ((missing[index] ?? 0) > 0 && runsWithinRoom(states, draws) > 0)
      for (const { budget, use } of draws) wanted[budget] = (wanted[budget] ?? 0) + use * (missing[index] ?? 0)
  return states.map(({ left }, index) => left / Math.max(left, wanted[index] ?? 0) || 0)
}

const byMissing = (
  sources: readonly LimitedSource[],
  missing: readonly number[],
): readonly (readonly [number, LimitedSource])[] =>
  [...sources.entries()]
    .filter(([index]) => (missing[index] ?? 0) > 0)
    .toSorted(([one], [other]) => (missing[other] ?? 0) - (missing[one] ?? 0))

/** The number of runs that can start before one of the budgets has no room for another. */
function runsWithinRoom(states: readonly SimulatedBudgetState[], draws: readonly BudgetDraw[]): number {
  let minimum = Infinity
  for (const { budget, use, reserve } of draws) {
    const left = states[budget]?.left ?? 0
    if (!hasRoom(left, reserve)) return 0
    if (use > 0) minimum = Math.min(minimum, (left - reserve) / use + 1)
  }
  return minimum
}

function deductUsage(states: readonly SimulatedBudgetState[], draws: readonly BudgetDraw[], runs: number): void {
  for (const { budget, use } of draws) {
    const state = states[budget]
    const period = state?.periods.at(-1)
    if (state === undefined || period === undefined) continue
    state.left = Math.max(0, state.left - use * runs)
    period.used += use * runs
  }
}

/** Decides about runs that could not start. If several budgets have no room, the strictest one decides. */
function holdBackRuns(
  states: readonly SimulatedBudgetState[],
  { draws, maxWaiting }: LimitedSource,
  unmet: { readonly older: number; readonly newer: number; readonly now: Instant },
): { readonly waiting: number; readonly lost: number } {
  const closed = draws
    .flatMap((draw) => {
      const state = states[draw.budget]
      return state === undefined || hasRoom(state.left, draw.reserve) ? [] : [{ ...draw, state }]
    })
    .toSorted((a, b) => STRICTNESS[b.state.budget.onExceed] - STRICTNESS[a.state.budget.onExceed])
  const [strictest] = closed
  const all = unmet.older + unmet.newer
  // A fraction of an average rate that is too small to distribute.
  if (strictest === undefined) return { waiting: all, lost: 0 }
  for (const { state, use, reserve } of closed) {
    if (state.left > 0 && reserve > state.budget.amount) continue
    state.refused = (state.refused ?? 0) + use * all
    const spent = state.budget.amount - state.left
    if (state.pausedAt === null && isExhausted({ ...state.budget, pausedAt: null }, { spent }, reserve)) {
      state.pausedAt = unmet.now
      state.left = 0
    }
  }
  const { state, use } = strictest
  // Runs that already wait keep waiting; `on_exceed` only applies to new runs.
  const joining = state.budget.onExceed === 'queue' ? Math.max(0, Math.min(unmet.newer, maxWaiting - unmet.older)) : 0
  const held = { waiting: unmet.older + joining, lost: unmet.newer - joining }
  state.lostRuns += held.lost
  state.waitingRuns += held.waiting
  const period = state.periods.at(-1)
  if (period !== undefined) {
    period.lost += held.lost * use
    period.waiting += held.waiting * use
  }
  return held
}

/** Ends an interval. If a budget ran out, estimates when, assuming constant usage within the interval. */
function closeInterval(state: SimulatedBudgetState, { from, to }: ForecastDay): void {
  const { before, left, refused, periods } = state
  if (state.usedUpAt !== null || (refused === null && left > 0)) return
  const fraction = before.left / ((periods.at(-1)?.used ?? 0) - before.used + (refused ?? 0))
  const within = Number.isFinite(fraction) ? Math.min(1, Math.max(0, fraction)) : 0
  state.usedUpAt = instant(Math.round(from + (to - from) * within))
}
