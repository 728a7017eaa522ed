import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BUDGET_ALERT_KINDS, type AlertDecision, type BudgetAlertKind } from '../../../src/domain/alerts.ts'
import { decideBudgetAlert, isExhausted } from '../../../src/domain/budget/budget-alerts.ts'
import type { Budget } from '../../../src/domain/budget/budget.ts'
import { later } from '../../../src/domain/instant.ts'
import { explainWhy } from '../../../src/domain/reasons.ts'
import { NOW } from '../../support/builders.ts'
import { expectExplained } from '../../support/why.ts'
import { aBudget } from '../../engine/commands/budget-records.ts'

const decide = (kind: BudgetAlertKind, budget: Budget, { spent = 0, raised = false }): AlertDecision =>
  decideBudgetAlert(kind, { budget, spent, periodEnd: later(NOW, 1_000), raised })

describe('the alerts of a budget', () => {
  it.each([
    [799, 'none', 'none'],
    [800, 'raise', 'none'],
    [999, 'raise', 'none'],
    [1_000, 'raise', 'raise'],
    [1_500, 'raise', 'raise'],
  ])('at %i of 1000 they are %s and %s', (spent, low, usedUp) => {
    const budget = aBudget({ amount: 1_000 })
    const decisions = BUDGET_ALERT_KINDS.map((kind) => decide(kind, budget, { spent }))
    expect(decisions.map(({ kind }) => kind)).toEqual([low, usedUp, 'none'])
    for (const decision of decisions) if (decision.kind !== 'none') expectExplained(decision.why)
  })

  it.each([
    [59, false, 'none'],
    [61, false, 'raise'],
    [99, false, 'raise'],
    [100, false, 'none'],
    [100, true, 'none'],
    [59, true, 'clear'],
    [0, true, 'clear'],
  ])('at %i of 100, where a run needs 40, that nothing fits any more (raised: %s) is: %s', (spent, raised, kind) => {
    const facts = { budget: aBudget({ amount: 100 }), spent, periodEnd: later(NOW, 1_000), raised }
    const decision = decideBudgetAlert('budget_no_room', { ...facts, leastReserve: 40 })
    expect(decision.kind).toBe(kind)
    if (decision.kind !== 'none') expectExplained(decision.why)
    const unknown = decideBudgetAlert('budget_no_room', { ...facts, leastReserve: null })
    expect(unknown.kind).toBe(raised && spent === 0 ? 'clear' : 'none')
  })

  it('are exact where a hundred times the sum is no exact number any more', () => {
    const amount = Number.MAX_SAFE_INTEGER
    expect(decide('budget_used_up', aBudget({ amount }), { spent: amount - 1 }).kind).toBe('none')
    expect(decide('budget_used_up', aBudget({ amount }), { spent: amount }).kind).toBe('raise')
  })

  it('are raised and cleared exactly as often as the share is crossed', () => {
    const spending = fc.array(fc.nat(3_000), { maxLength: 30 })
    fc.assert(
      fc.property(spending, fc.integer({ min: 1, max: 3_000 }), (sums, amount) => {
        let raised = false
        for (const spent of sums) {
          const { kind } = decide('budget_low', aBudget({ amount }), { spent, raised })
          const isReached = spent * 100 >= amount * 80
          expect(kind).toBe(isReached === raised ? 'none' : isReached ? 'raise' : 'clear')
          raised = isReached
        }
      }),
      { seed: 63 },
    )
  })

  it('stay while the budget stands still, and say that somebody has to resume it', () => {
    const paused = aBudget({ onExceed: 'pause', pausedAt: NOW })
    expect(decide('budget_used_up', paused, { spent: 0, raised: true }).kind).toBe('none')
    const decision = decide('budget_used_up', paused, { spent: 0 })
    if (decision.kind === 'none') throw new Error('nothing was raised')
    expectExplained(decision.why)
    expect(explainWhy(decision.why)).toContain('until it is resumed')
  })
})

describe('a budget that pauses', () => {
  const pausing = { amount: 100, onExceed: 'pause', pausedAt: null } as const

  it.each([
    [99, 0, false],
    [100, 0, true],
    [60, 41, true],
    [60, 40, false],
    [60, 101, false],
  ])('has come to its end with %i spent and %i asked for: %s', (spent, reserve, expected) => {
    expect(isExhausted(pausing, { spent }, reserve)).toBe(expected)
    expect(isExhausted({ ...pausing, onExceed: 'skip' }, { spent }, reserve)).toBe(false)
    expect(isExhausted({ ...pausing, pausedAt: NOW }, { spent }, reserve)).toBe(false)
  })
})
