import { hasRoom, STRICTNESS, type Budget } from '../budget/budget.ts'
import { isUsedUp } from '../budget/budget-alerts.ts'
import { periodBounds } from '../budget/budget-period.ts'
import { instant, type Instant } from '../instant.ts'
import type { ForecastDay } from './runs-per-day.ts'

/** A budget as it stands at the start of a forecast. What runs in flight have set aside counts as used. */
export interface ForecastBudget extends Pick<Budget, 'amount' | 'period' | 'timezone' | 'onExceed' | 'pausedAt'> {
  readonly used: number
}

/** What a run of a source takes from one budget. */
export interface Draw {
  /** The position of the budget. */
  readonly budget: number
  readonly use: number
  /** What has to be left for a run to start. */
  readonly reserve: number
}

/** Something that creates runs, as far as budgets limit it. */
export interface LimitedSource {
  /** Whether its runs are counted one by one; an average rate has fractions. */
  readonly isWhole: boolean
  /** How many of its runs may wait in the queue at once. */
  readonly maxWaiting: number
  readonly draws: readonly Draw[]
}

/** One period of a budget: what is used by its end, and what is held back then. */
export interface LimitedPeriod {
  readonly start: Instant
  readonly end: Instant
  readonly used: number
  readonly heldBack: number
}

/** Where a budget is going. */
export interface BudgetCourse {
  readonly periods: readonly LimitedPeriod[]
  /** When it first has no room. Null: not in the forecast. */
  readonly usedUpAt: Instant | null
  /** Runs that it lets neither start nor wait, and those that still wait at the end. */
  readonly heldBackRuns: number
}

interface State {
  readonly budget: ForecastBudget
  periods: { start: Instant; end: Instant; used: number; lost: number; waiting: number }[]
  left: number
  /** How the stretch began. */
  before: { readonly left: number; readonly used: number }
  /** What it refused in the stretch; null: nothing. */
  refused: number | null
  pausedAt: Instant | null
  usedUpAt: Instant | null
  lostRuns: number
  waitingRuns: number
}

/** Plays the runs of a forecast against the budgets, one stretch of time after the other. */
export interface BudgetPlay {
  /** How many of the wanted runs of each source start in the stretch, which lies inside one period of every budget. */
  readonly next: (stretch: ForecastDay, wanted: readonly number[]) => readonly number[]
  /** Of each source, the runs that have not started. */
  readonly heldBack: () => readonly number[]
  readonly courses: () => readonly BudgetCourse[]
}

/** Below this nothing of an average rate is left to share out. */
const NEGLIGIBLE = 0.001

/**
 * Counts what can run. A run starts when every budget it draws on has room for its reserve, as at picking; what has none is
 * lost under `skip` and `pause` and waits for the next period under `queue`. Inside a stretch the sources share evenly.
 */
export function playBudgets(budgets: readonly ForecastBudget[], sources: readonly LimitedSource[]): BudgetPlay {
  const states = budgets.map(begin)
  const waiting = sources.map(() => 0)
  const lost = sources.map(() => 0)
  return {
    next: (stretch, wanted) => {
      for (const state of states) open(state, stretch.from)
      const missing = sources.map((_, place) => (wanted[place] ?? 0) + (waiting[place] ?? 0))
      const started = share(states, sources, missing)
      for (const [place, source] of sources.entries()) {
        const [unmet, waited] = [missing[place] ?? 0, waiting[place] ?? 0]
        if (unmet === 0) {
          waiting[place] = 0
          continue
        }
        const older = Math.max(0, waited - (started[place] ?? 0))
        const held = hold(states, source, { older, newer: unmet - older, now: stretch.from })
        waiting[place] = held.waiting
        lost[place] = (lost[place] ?? 0) + held.lost
      }
      for (const state of states) close(state, stretch)
      return started
    },
    heldBack: () => lost.map((runs, place) => runs + (waiting[place] ?? 0)),
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

const begin = (budget: ForecastBudget): State => ({
  ...{ budget, periods: [], left: 0, before: { left: 0, used: 0 }, refused: null, lostRuns: 0, waitingRuns: 0 },
  ...{ pausedAt: budget.pausedAt, usedUpAt: budget.pausedAt },
})

/** Begins a stretch, and with it a period of the budget where the one before has ended. */
function open(state: State, from: Instant): void {
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

/** Gives out what the budgets have room for, and takes it off what is missing. */
function share(states: readonly State[], sources: readonly LimitedSource[], missing: number[]): readonly number[] {
  const started = sources.map(() => 0)
  const give = (place: number, { draws, isWhole }: LimitedSource, wanted: number): number => {
    const room = roomFor(states, draws)
    const runs = Math.min(missing[place] ?? 0, wanted, isWhole ? Math.floor(room) : room)
    take(states, draws, runs)
    missing[place] = (missing[place] ?? 0) - runs
    started[place] = (started[place] ?? 0) + runs
    return runs
  }
  for (;;) {
    const parts = partsOf(states, sources, missing)
    let given = 0
    for (const [place, source] of sources.entries()) {
      const unmet = missing[place] ?? 0
      if (unmet === 0) continue
      const part = source.draws.reduce(
        (least, { budget, use }) => (use > 0 ? Math.min(least, parts[budget] ?? 1) : least),
        1,
      )
      given += give(place, source, source.isWhole ? Math.floor(unmet * part) : unmet * part)
    }
    // What is left is less than a run for each: those that want most come first.
    if (given < NEGLIGIBLE)
      for (const [place, source] of byMissing(sources, missing)) if (source.isWhole) given += give(place, source, 1)
    if (given < NEGLIGIBLE) return started
  }
}

/** Which part of what is wanted each budget has room for; those that cannot start take nothing from the others. */
function partsOf(
  states: readonly State[],
  sources: readonly LimitedSource[],
  missing: readonly number[],
): readonly number[] {
  const wanted = states.map(() => 0)
  for (const [place, { draws }] of sources.entries())
    if ((missing[place] ?? 0) > 0 && roomFor(states, draws) > 0)
      for (const { budget, use } of draws) wanted[budget] = (wanted[budget] ?? 0) + use * (missing[place] ?? 0)
  return states.map(({ left }, place) => left / Math.max(left, wanted[place] ?? 0) || 0)
}

const byMissing = (
  sources: readonly LimitedSource[],
  missing: readonly number[],
): readonly (readonly [number, LimitedSource])[] =>
  [...sources.entries()]
    .filter(([place]) => (missing[place] ?? 0) > 0)
    .toSorted(([one], [other]) => (missing[other] ?? 0) - (missing[one] ?? 0))

/** So many runs can start one after the other before one of the budgets has no room for the next. */
function roomFor(states: readonly State[], draws: readonly Draw[]): number {
  let least = Infinity
  for (const { budget, use, reserve } of draws) {
    const left = states[budget]?.left ?? 0
    if (!hasRoom(left, reserve)) return 0
    if (use > 0) least = Math.min(least, (left - reserve) / use + 1)
  }
  return least
}

function take(states: readonly State[], draws: readonly Draw[], runs: number): void {
  for (const { budget, use } of draws) {
    const state = states[budget]
    const period = state?.periods.at(-1)
    if (state === undefined || period === undefined) continue
    state.left = Math.max(0, state.left - use * runs)
    period.used += use * runs
  }
}

/** What becomes of runs that no budget let start: of several without room the strictest decides. */
function hold(
  states: readonly State[],
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
  // A rest of an average rate, too small to be shared out.
  if (strictest === undefined) return { waiting: all, lost: 0 }
  for (const { state, use, reserve } of closed) {
    if (state.left > 0 && reserve > state.budget.amount) continue
    state.refused = (state.refused ?? 0) + use * all
    const spent = state.budget.amount - state.left
    if (state.pausedAt === null && isUsedUp({ ...state.budget, pausedAt: null }, { spent }, reserve)) {
      state.pausedAt = unmet.now
      state.left = 0
    }
  }
  const { state, use } = strictest
  // What was let in before waits, whatever the budget does with new work.
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

/** Ends a stretch: a budget that had no room for all of it had none from some point on, its use taken for even. */
function close(state: State, { from, to }: ForecastDay): void {
  const { before, left, refused, periods } = state
  if (state.usedUpAt !== null || (refused === null && left > 0)) return
  const share = before.left / ((periods.at(-1)?.used ?? 0) - before.used + (refused ?? 0))
  const within = Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0
  state.usedUpAt = instant(Math.round(from + (to - from) * within))
}
