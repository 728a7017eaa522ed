import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUDGET_ACTIONS, type BudgetAction } from '../../../src/domain/budget/budget.ts'
import { daysBetween, maxWaiting } from '../../../src/domain/forecast/runs-per-day.ts'
import {
  simulateBudgets,
  type SimulatedBudget,
  type ForecastBudget,
  type LimitedSource,
} from '../../../src/domain/forecast/within-budgets.ts'
import { DAY_MS, HOUR_MS, instant, later } from '../../../src/domain/instant.ts'
import { DEFAULT_SCHEDULE_RULES, type ScheduleRules } from '../../../src/domain/schedule/rules.ts'
import { UTC } from '../../../src/domain/time/zone.ts'
import { NOW } from '../../support/builders.ts'

/** Half a day, three days, half a day. */
const days = daysBetween(UTC, { from: NOW, to: later(NOW, 4 * DAY_MS) })
const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0)

const aBudget = (onExceed: BudgetAction, over: Partial<ForecastBudget> = {}): ForecastBudget => ({
  ...{ amount: 1_000, period: 'day', timezone: UTC, onExceed, pausedAt: null, used: 0, ...over },
})

const using = (use: number, reserve = use, over: Partial<LimitedSource> = {}): LimitedSource => ({
  ...{ isWhole: true, maxWaiting: Infinity, draws: [{ budget: 0, use, reserve }], ...over },
})

interface Played {
  readonly ran: readonly (readonly number[])[]
  readonly heldBack: readonly number[]
  readonly courses: readonly SimulatedBudget[]
}

/** What starts on each day, of sources that all want so many runs a day. */
function play(budgets: readonly ForecastBudget[], sources: readonly LimitedSource[], perDay: number): Played {
  const game = simulateBudgets(budgets, sources)
  const ran = days.map((day) =>
    game.next(
      day,
      sources.map(() => perDay),
    ),
  )
  return { ran, heldBack: game.heldBack(), courses: game.courses() }
}

const perDay = ({ ran }: Played): readonly number[] => ran.map(sum)

describe('a source under one budget', () => {
  it('runs as often as there is room for what a run sets aside', () => {
    // Of 1000, nine runs of 100 leave 100: too little for a reserve of 150.
    const played = play([aBudget('skip')], [using(100, 150)], 24)
    expect(perDay(played)).toEqual([9, 9, 9, 9, 9])
    expect(played.heldBack).toEqual([5 * 15])
    expect(played.courses).toMatchObject([
      { heldBackRuns: 75, periods: days.map(() => ({ used: 900, heldBack: 1_500 })) },
    ])
  })

  it('waits under `queue` and starts in the next period, before that is full too', () => {
    const monthly = aBudget('queue', { period: 'month', used: 700 })
    expect(perDay(play([monthly], [using(100)], 2))).toEqual([2, 1, 0, 0, 0])
    expect(play([monthly], [using(100)], 2)).toMatchObject({
      heldBack: [7],
      courses: [{ usedUpAt: instant(NOW + 12 * HOUR_MS + 12 * HOUR_MS), periods: [{ used: 1_000, heldBack: 700 }] }],
    })
    // Full for the rest of the first day only: what waited runs on the second.
    const daily = play([aBudget('queue', { used: 900 })], [using(100)], 6)
    expect(perDay(daily)).toEqual([1, 10, 7, 6, 6])
    expect(daily.heldBack).toEqual([0])
    expect(daily.courses[0]?.periods.map(({ heldBack }) => heldBack)).toEqual([500, 100, 0, 0, 0])
  })

  it('keeps no more waiting than its policies let wait', () => {
    const daily = play([aBudget('queue', { used: 900 })], [using(100, 100, { maxWaiting: 2 })], 6)
    expect(perDay(daily)).toEqual([1, 8, 6, 6, 6])
    expect(daily.heldBack).toEqual([3])
    const rules: ScheduleRules = { ...DEFAULT_SCHEDULE_RULES, queueDepth: 4, maxConcurrency: 2 }
    const waits = (over: Partial<ScheduleRules>): number => maxWaiting({ ...rules, ...over })
    expect([waits({}), waits({ concurrencyPolicy: 'SKIP' }), waits({ overlapAction: 'SKIP' })]).toEqual([6, 2, 1])
    expect([waits({ overlapAction: 'BUFFER_ONE' }), waits({ overlapAction: 'PARALLEL', maxParallel: 7 })]).toEqual([
      3, 7,
    ])
    expect(waits({ concurrencyPolicy: 'PARALLEL' })).toBe(Infinity)
  })

  it('stops for good under `pause`, and at once where the budget is paused', () => {
    const monthly = play([aBudget('pause', { period: 'day' })], [using(100)], 12)
    expect(perDay(monthly)).toEqual([10, 0, 0, 0, 0])
    expect(monthly.heldBack).toEqual([50])
    expect(perDay(play([aBudget('pause', { pausedAt: NOW })], [using(100)], 1))).toEqual([0, 0, 0, 0, 0])
  })

  it('whose run asks for more than there ever is stops nothing else', () => {
    const played = play([aBudget('pause')], [using(100, 5_000), using(100)], 3)
    expect(played.ran).toEqual(days.map(() => [0, 3]))
    expect(played.courses[0]?.usedUpAt).toBeNull()
  })

  it('of which nothing is known runs until the budget is used up', () => {
    expect(perDay(play([aBudget('skip')], [using(0)], 24))).toEqual([24, 24, 24, 24, 24])
    expect(perDay(play([aBudget('skip', { used: 1_000 })], [using(0)], 24))).toEqual([0, 24, 24, 24, 24])
  })
})

describe('the time at which a budget is used up', () => {
  const at = (budget: ForecastBudget, runs: number, use = 10): unknown =>
    play([budget], [using(use)], runs).courses[0]?.usedUpAt

  it('is when the rest of it is used, with what it has used already', () => {
    // 40 and 30 of the first day leave 30 of 100: all of the second day's.
    expect(at(aBudget('skip', { amount: 100, period: 'month', used: 40 }), 3)).toBe(days[1]?.to)
    expect(at(aBudget('skip', { amount: 100, used: 60 }), 5)).toBe(instant(NOW + 0.8 * 12 * HOUR_MS))
    expect(at(aBudget('skip', { amount: 100 }), 5)).toBeNull()
    expect(at(aBudget('skip', { amount: 100, used: 100 }), 0)).toBe(NOW)
  })
})

describe('sources that share', () => {
  it('are cut evenly, and one that another budget stops leaves its share', () => {
    const org = aBudget('skip')
    expect(play([org], [using(100), using(100)], 24).ran[1]).toEqual([5, 5])
    const own = aBudget('skip', { amount: 200 })
    const both = using(100, 100, { draws: [0, 1].map((budget) => ({ budget, use: 100, reserve: 100 })) })
    expect(play([org, own], [both, using(100)], 24).ran[1]).toEqual([2, 8])
  })

  it('get what is less than a run for each in the order of what they want', () => {
    const game = simulateBudgets([aBudget('skip', { amount: 100 })], [using(100), using(100)])
    expect(days.map((day) => game.next(day, [1, 24]))).toEqual(days.map(() => [0, 1]))
  })

  it('count every run once, and take from no budget more than it has', () => {
    const budgets = fc.array(
      fc.record({
        amount: fc.integer({ min: 1, max: 3_000 }),
        used: fc.integer({ min: 0, max: 3_000 }),
        period: fc.constantFrom('day' as const, 'month' as const),
        onExceed: fc.constantFrom(...BUDGET_ACTIONS),
      }),
      { minLength: 1, maxLength: 4 },
    )
    const sources = fc.array(
      fc.record({
        isWhole: fc.boolean(),
        maxWaiting: fc.constantFrom(1, 3, Infinity),
        draws: fc.uniqueArray(
          fc.record({ budget: fc.nat(3), use: fc.integer({ min: 0, max: 400 }), more: fc.nat(100) }),
          { selector: ({ budget }) => budget, maxLength: 4 },
        ),
        wanted: fc.array(fc.nat(60), { minLength: days.length, maxLength: days.length }),
      }),
      { minLength: 1, maxLength: 6 },
    )
    fc.assert(
      fc.property(budgets, sources, (given, made) => {
        const limits = given.map((one) => aBudget(one.onExceed, one))
        const limited = made.map(({ draws, ...one }) => ({
          ...one,
          draws: draws
            .filter(({ budget }) => budget < limits.length)
            .map(({ budget, use, more }) => ({ budget, use, reserve: use + more })),
        }))
        const game = simulateBudgets(limits, limited)
        const ran = days.map((day, place) =>
          game.next(
            day,
            made.map(({ wanted }) => wanted[place] ?? 0),
          ),
        )
        const heldBack = game.heldBack()
        for (const [place, { wanted, draws }] of limited.entries()) {
          const started = sum(ran.map((runs) => runs[place] ?? 0))
          expect(started + (heldBack[place] ?? 0)).toBeCloseTo(sum(wanted))
          if (draws.length === 0) expect(started).toBe(sum(wanted))
        }
        for (const [place, { periods, heldBackRuns }] of game.courses().entries()) {
          const { amount = 0, used = 0 } = limits[place] ?? {}
          for (const period of periods) expect(period.used).toBeLessThanOrEqual(Math.max(amount, used) + 1e-6)
          expect(heldBackRuns).toBeGreaterThanOrEqual(0)
        }
      }),
      { numRuns: 300, seed: 23 },
    )
  })
})
