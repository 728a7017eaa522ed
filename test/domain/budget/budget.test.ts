import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decideBudget,
  remaining,
  addReserve,
  reserveFor,
  settleUsage,
  toMicros,
  type Budget,
  type BudgetFacts,
  type BudgetUsage,
} from '../../../src/domain/budget/budget.ts'
import { agentId, budgetId } from '../../../src/domain/ids.ts'
import { instant } from '../../../src/domain/instant.ts'
import { UTC } from '../../../src/domain/time/zone.ts'
import { expectExplained } from '../../support/why.ts'

const noon = instant(Date.parse('2026-01-15T12:00:00Z'))

function aBudget(overrides: Partial<Budget> = {}): Budget {
  return {
    id: budgetId('bud_org'),
    scope: { kind: 'org' },
    unit: 'tokens',
    amount: 1000,
    period: 'day',
    timezone: UTC,
    onExceed: 'skip',
    defaultReserve: 100,
    pausedAt: null,
    ...overrides,
  }
}

const facts = (budget: Budget, spent: number, needed: number): BudgetFacts => ({
  budget,
  usage: { spent, reserved: 0 },
  reserve: needed,
})

describe('what is set aside for a run', () => {
  const twenty = Array.from({ length: 20 }, (_, index) => (index + 1) * 10)

  it.each([
    ['the default when nothing is known', null, [], 100],
    ['the stated maximum when there was no run', 70, [], 70],
    ['the p95 of its predecessors', null, twenty, 190],
    ['the p95 when it is the larger', 150, twenty, 190],
    ['the stated maximum when it is the larger', 500, twenty, 500],
    ['the only run there was', null, [42], 42],
    ['the newest twenty, not older ones', null, [...twenty, 9_999, 9_999], 190],
    ['nothing when runs used nothing', null, [0, 0], 0],
  ] as const)('is %s', (...[, statedMax, usages, expected]) => {
    expect(reserveFor(statedMax, usages, 100)).toBe(expected)
  })
})

describe('a budget', () => {
  it('has left what is neither spent nor set aside', () => {
    expect(remaining(aBudget(), { spent: 300, reserved: 200 })).toBe(500)
    expect(remaining(aBudget(), { spent: 1300, reserved: 0 })).toBe(0)
  })

  it.each([
    [900, 100, 'open'],
    [900, 101, 'closed'],
    [1000, 0, 'closed'],
    [999, 0, 'open'],
    [1200, 0, 'closed'],
  ] as const)('with %i of 1000 spent is, to a run that needs %i, %s', (spent, needed, kind) => {
    expect(decideBudget([facts(aBudget(), spent, needed)], noon).kind).toBe(kind)
  })

  it('counts what running work may still use', () => {
    expect(decideBudget([{ budget: aBudget(), usage: { spent: 500, reserved: 400 }, reserve: 200 }], noon).kind).toBe(
      'closed',
    )
  })

  it('says what it has left, what is needed and until when', () => {
    const decision = decideBudget([facts(aBudget(), 950, 100)], noon)
    expect(decision).toMatchObject({
      kind: 'closed',
      action: 'skip',
      until: Date.parse('2026-01-16T00:00:00Z'),
      why: { reason: 'budget', evidence: { budget: 'bud_org', remaining: 50, reserve: 100 } },
    })
    if (decision.kind === 'closed') expectExplained(decision.why)
  })
})

describe('the unit a budget speaks in', () => {
  it.each([
    ['tokens', 'tokens'],
    ['money', 'millionths'],
  ] as const)('of %s is %s, as its amounts are counted', (unit, shown) => {
    const decision = decideBudget([facts(aBudget({ unit }), 1000, 1)], noon)
    expect(decision).toMatchObject({ why: { evidence: { unit: shown } } })
  })
})

describe('several budgets', () => {
  const org = aBudget()
  const agent = aBudget({
    id: budgetId('bud_agent'),
    scope: { kind: 'agent', agentId: agentId('agt_1') },
    onExceed: 'queue',
  })

  it('must all have room', () => {
    expect(decideBudget([facts(org, 0, 10), facts(agent, 0, 10)], noon).kind).toBe('open')
    expect(decideBudget([facts(org, 0, 10), facts(agent, 995, 10)], noon)).toMatchObject({ budgetId: 'bud_agent' })
  })

  it('speak through the strictest of those that are closed', () => {
    const paused = aBudget({ id: budgetId('bud_pause'), onExceed: 'pause' })
    const closed = [facts(agent, 1000, 10), facts(org, 995, 10), facts(paused, 995, 10)]
    expect(decideBudget(closed, noon)).toMatchObject({ budgetId: 'bud_pause', action: 'pause' })
    expect(decideBudget(closed.slice(0, 2), noon)).toMatchObject({ budgetId: 'bud_org', action: 'skip' })
  })

  it('speak through the tightest of equals, then through the first', () => {
    const other = aBudget({ id: budgetId('bud_other') })
    expect(decideBudget([facts(org, 991, 10), facts(other, 995, 10)], noon)).toMatchObject({ budgetId: 'bud_other' })
    expect(decideBudget([facts(org, 995, 10), facts(other, 995, 10)], noon)).toMatchObject({ budgetId: 'bud_org' })
  })

  it('of nothing at all are the tightest', () => {
    const none = aBudget({ id: budgetId('bud_none'), amount: 0 })
    const budgets = [facts(org, 995, 10), facts(none, 0, 10)]
    expect(decideBudget(budgets, noon)).toMatchObject({ budgetId: 'bud_none' })
    expect(decideBudget(budgets.toReversed(), noon)).toMatchObject({ budgetId: 'bud_none' })
  })

  it('that do not exist close nothing', () => {
    expect(decideBudget([], noon).kind).toBe('open')
  })
})

describe('settling', () => {
  it('replaces what was set aside by what was used', () => {
    expect(settleUsage({ spent: 10, reserved: 150 }, { reserved: 100, actual: 60 })).toEqual({
      spent: 70,
      reserved: 50,
    })
  })

  it('counts what was used beyond what was set aside', () => {
    expect(settleUsage({ spent: 0, reserved: 100 }, { reserved: 100, actual: 130 })).toEqual({
      spent: 130,
      reserved: 0,
    })
  })

  it('gives everything back when the run will never report', () => {
    expect(settleUsage({ spent: 10, reserved: 100 }, { reserved: 100, actual: null })).toEqual({
      spent: 10,
      reserved: 0,
    })
  })

  it('never spends more than the amount while runs stay within what they set aside', () => {
    const step = fc.record({ needed: fc.nat(300), share: fc.nat(100), settleFirst: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = aBudget()
        let use: BudgetUsage = { spent: 0, reserved: 0 }
        let inFlight: readonly { readonly reserved: number; readonly actual: number }[] = []
        for (const { needed, share, settleFirst } of steps) {
          const [oldest] = inFlight
          if (settleFirst && oldest !== undefined) {
            use = settleUsage(use, oldest)
            inFlight = inFlight.slice(1)
          }
          if (decideBudget([{ budget, usage: use, reserve: needed }], noon).kind === 'closed') continue
          use = addReserve(use, needed)
          inFlight = [...inFlight, { reserved: needed, actual: Math.floor((needed * share) / 100) }]
          expect(use.spent + use.reserved).toBeLessThanOrEqual(budget.amount)
        }
        for (const run of inFlight) use = settleUsage(use, run)
        expect(use.spent).toBeLessThanOrEqual(budget.amount)
        expect(use.reserved).toBe(0)
      }),
      { seed: 61, numRuns: 300 },
    )
  })

  it('overspends by no more than was in flight when runs use more than they set aside', () => {
    const run = fc.record({ reserved: fc.integer({ min: 1, max: 50 }), actual: fc.nat(500) })
    fc.assert(
      fc.property(fc.array(run, { maxLength: 60 }), (runs) => {
        let use: BudgetUsage = { spent: 0, reserved: 0 }
        let last = 0
        for (const next of runs) {
          if (decideBudget([{ budget: aBudget(), usage: use, reserve: next.reserved }], noon).kind === 'closed') break
          use = settleUsage(addReserve(use, next.reserved), next)
          last = next.actual
        }
        expect(use.spent).toBeLessThanOrEqual(1000 + last)
      }),
      { seed: 62 },
    )
  })
})

describe('money', () => {
  it('is counted in millionths, exactly', () => {
    expect(toMicros(0.1) + toMicros(0.2)).toBe(toMicros(0.3))
    expect(toMicros(0.000001)).toBe(1)
    expect(Array.from({ length: 1000 }, () => toMicros(0.001)).reduce((sum, cost) => sum + cost, 0)).toBe(toMicros(1))
  })
})
