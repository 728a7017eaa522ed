import { describe, expect, it } from 'vitest'
import { attemptId, budgetId, scheduleId } from '../../../src/domain/ids.ts'
import { HOUR_MS } from '../../../src/domain/instant.ts'
import { explainWhy } from '../../../src/domain/reasons.ts'
import { storeTypicalUsage } from '../../../src/engine/org-state/budget-usage.ts'
import { budgetLoads, closedBudget, applyBudgetRows } from '../../../src/engine/commands/budgets.ts'
import {
  deleteBudgetsOf,
  endBudgetAlerts,
  checkBudgets,
  budgetTitle,
} from '../../../src/engine/org-state/budget-balance.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import { applyReport } from '../../../src/engine/commands/settle.ts'
import type { BudgetWithPeriods } from '../../../src/features/budgets/store.ts'
import { NOW } from '../../support/builders.ts'
import { aBudget } from './budget-records.ts'
import { aTask, openCabinet, type Cabinet } from './cabinet.ts'

const BUDGET = budgetId('bud_1')

function withBudgets(...budgets: readonly BudgetWithPeriods[]): Cabinet {
  const cabinet = openCabinet()
  applyBudgetRows(cabinet.desk, budgets)
  return cabinet
}

/** A run starts, uses so much, and the turn is judged. */
function use(cabinet: Cabinet, run: string, tokens: number): void {
  submit(cabinet.desk, aTask())
  const started = cabinet.start(run)
  applyReport(cabinet.desk, started, {
    ...{ attemptId: started.attemptId ?? attemptId('none'), outcome: { kind: 'succeeded' } },
    usage: { inputTokens: tokens },
  })
  checkBudgets(cabinet.desk)
}

const alerts = ({ desk }: Cabinet): readonly string[] =>
  desk.changes.alerts.map(({ change, kind }) => `${kind} ${change}`)

const booked = ({ desk }: Cabinet) => desk.budgets?.budgets.get(BUDGET)

describe('the alerts of a budget', () => {
  it('are raised once each on the way, and cleared by the next period', () => {
    const cabinet = withBudgets(aBudget({ onExceed: 'queue' }))
    use(cabinet, 'r1', 79)
    expect(alerts(cabinet)).toEqual([])
    use(cabinet, 'r2', 1)
    use(cabinet, 'r3', 5)
    expect(alerts(cabinet)).toEqual(['budget_low raised'])
    use(cabinet, 'r4', 100)
    expect(alerts(cabinet)).toEqual(['budget_low raised', 'budget_used_up raised'])
    cabinet.pass(12 * HOUR_MS)
    checkBudgets(cabinet.desk)
    checkBudgets(cabinet.desk)
    expect(alerts(cabinet).slice(2)).toEqual(['budget_low cleared', 'budget_used_up cleared'])
    expect(booked(cabinet)?.alerts).toEqual({})
    expect([...cabinet.desk.changes.budgets]).toEqual([booked(cabinet)])
    const ids = cabinet.desk.changes.alerts.map(({ id }) => id)
    expect(ids.slice(2)).toEqual(ids.slice(0, 2))
  })

  it('say when what is left admits no further run, until the next period', () => {
    const cabinet = withBudgets(aBudget({ onExceed: 'queue' }))
    use(cabinet, 'r1', 30)
    if (cabinet.desk.budgets !== null) storeTypicalUsage(cabinet.desk.budgets, { agents: [], schedules: [] })
    use(cabinet, 'r2', 40)
    expect(alerts(cabinet)).toEqual(['budget_no_room raised'])
    expect(explainWhy(cabinet.desk.changes.alerts[0]?.why ?? { reason: 'due', rule: '', evidence: {} })).toContain(
      '70 of 100 tokens are used; a run requires about 40, so no further run is admitted until',
    )
    cabinet.pass(12 * HOUR_MS)
    checkBudgets(cabinet.desk)
    expect(alerts(cabinet).slice(1)).toEqual(['budget_no_room cleared'])
  })

  it('are cleared by a larger amount, and go with the budget', () => {
    const cabinet = withBudgets(aBudget({ onExceed: 'queue' }))
    use(cabinet, 'r1', 100)
    const onRecord = aBudget({ amount: 200, uses: [{ start: NOW, used: 100 }], ...booked(cabinet)?.budget })
    const raised = { ...onRecord, amount: 200, alerts: booked(cabinet)?.alerts ?? {} }
    applyBudgetRows(cabinet.desk, [raised])
    checkBudgets(cabinet.desk)
    expect(alerts(cabinet).slice(2)).toEqual(['budget_low cleared', 'budget_used_up cleared'])
    endBudgetAlerts(cabinet.desk, { budget: raised, alerts: { budget_low: 'alr_x' } })
    expect(alerts(cabinet).at(-1)).toBe('budget_low cleared')
    expect(explainWhy(cabinet.desk.changes.alerts.at(-1)?.why ?? { reason: 'due', rule: '', evidence: {} })).toBe(
      'Budget 200 tokens per day of the org no longer exists.',
    )
  })
})

describe('a budget that pauses', () => {
  const spender = { agentId: aTask().agentId, scheduleId: null, payload: { max_tokens: 60 } }

  it('stands still once it is used up, also in the next period', () => {
    const cabinet = withBudgets(aBudget({ onExceed: 'pause' }))
    use(cabinet, 'r1', 100)
    expect(booked(cabinet)?.budget.pausedAt).toBe(NOW)
    expect(cabinet.desk.changes.events).toContainEqual({
      ...{ kind: 'budget.changed', subject: BUDGET, data: { change: 'paused' } },
    })
    cabinet.pass(12 * HOUR_MS)
    checkBudgets(cabinet.desk)
    expect(budgetLoads(cabinet.desk).get(BUDGET)).toMatchObject({ remaining: 0, until: null })
    const refused = submit(cabinet.desk, aTask())
    expect(refused).toMatchObject({ kind: 'rejected', retryAfterMs: null, why: { reason: 'budget' } })
    if (refused.kind === 'rejected') expect(explainWhy(refused.why)).toContain('left until it is resumed')
  })

  it('is not stopped by what runs in flight may still give back, nor by a run that never fits', () => {
    const cabinet = withBudgets(aBudget({ onExceed: 'pause', defaultReserve: 50 }))
    for (const id of ['r1', 'r2']) {
      submit(cabinet.desk, aTask())
      cabinet.start(id)
    }
    expect(closedBudget(cabinet.desk, spender)).not.toBeNull()
    expect(closedBudget(cabinet.desk, { ...spender, payload: { max_tokens: 101 } })).not.toBeNull()
    expect(booked(cabinet)?.budget.pausedAt).toBeNull()
  })

  it('stops when what is asked for does not fit into what is left for good', () => {
    const cabinet = withBudgets(aBudget({ onExceed: 'pause' }))
    use(cabinet, 'r1', 41)
    expect(closedBudget(cabinet.desk, spender)).toMatchObject({ until: null })
    expect(booked(cabinet)?.budget.pausedAt).toBe(NOW)
  })
})

describe('the budgets of a schedule that goes', () => {
  it('go with it, and those of others stay', () => {
    const gone = scheduleId('sch_1')
    const cabinet = withBudgets(
      aBudget({ scope: { kind: 'schedule', scheduleId: gone }, alerts: { budget_low: 'alr_1' } }),
      aBudget({ id: budgetId('bud_2') }),
    )
    deleteBudgetsOf(cabinet.desk, gone)
    expect([...cabinet.desk.changes.goneBudgets]).toEqual([BUDGET])
    expect(alerts(cabinet)).toEqual(['budget_low cleared'])
    expect([...(cabinet.desk.budgets?.budgets.keys() ?? [])]).toEqual(['bud_2'])
  })

  it('leave an org without budgets as if it had never had any', () => {
    const gone = scheduleId('sch_1')
    const cabinet = withBudgets(aBudget({ scope: { kind: 'schedule', scheduleId: gone } }))
    deleteBudgetsOf(cabinet.desk, gone)
    expect([cabinet.desk.budgets, cabinet.desk.reservesChanged]).toEqual([null, true])
  })
})

it('has a name for people', () => {
  expect(budgetTitle(aBudget({ unit: 'money', amount: 2_500_000, period: 'month' }))).toBe(
    '2.5 money per month of the org',
  )
})
