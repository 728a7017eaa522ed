import { describe, expect, it } from 'vitest'
import { agentId, attemptId, budgetId, runId, scheduleId } from '../../../src/domain/ids.ts'
import { HOUR_MS, later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import type { AttemptOutcome } from '../../../src/domain/run/outcome.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { amountsStated, amountsUsed } from '../../../src/domain/budget/amounts.ts'
import { storeTypicalUsage, recordUsage } from '../../../src/engine/org-state/budget-usage.ts'
import { budgetLoads, closedBudget, applyBudgetRows } from '../../../src/engine/commands/budgets.ts'
import { cancelRun } from '../../../src/engine/commands/cancel.ts'
import { fire, runNow } from '../../../src/engine/commands/fire.ts'
import { settleDue, applyReport } from '../../../src/engine/commands/settle.ts'
import { submit, type Submission } from '../../../src/engine/commands/submit.ts'
import type { BudgetWithPeriods } from '../../../src/features/budgets/store.ts'
import { NOW } from '../../support/builders.ts'
import { timingOf } from '../../support/schedules.ts'
import { expectExplained } from '../../support/why.ts'
import { aBudget } from './budget-records.ts'
import { aScheduleOn, aTask, openCabinet, type Cabinet } from './cabinet.ts'

const BUDGET = budgetId('bud_1')
/** The present period began at midnight, and ends twelve hours from now. */
const MIDNIGHT = later(NOW, -12 * HOUR_MS)
const succeeded = { kind: 'succeeded' } as const
const failed = { kind: 'failed', errorCode: 'agent_error', retryable: null, retryAfterMs: null } as const

function withBudgets(...budgets: readonly BudgetWithPeriods[]): Cabinet {
  const cabinet = openCabinet()
  applyBudgetRows(cabinet.desk, budgets)
  return cabinet
}

/** The agent's runs so far, of which everything is known. */
function knowHabits({ desk }: Cabinet, ...usages: readonly unknown[]): void {
  desk.budgets?.unread.agents.add(agentId('agent'))
  const agents = usages.map((usage, n) => ({
    id: runId(`old_${String(n).padStart(2, '0')}`),
    agentId: agentId('agent'),
    scheduleId: null,
    usage,
  }))
  if (desk.budgets !== null) storeTypicalUsage(desk.budgets, { agents, schedules: [] })
}

const report = (
  { desk }: Cabinet,
  run: ReturnType<Cabinet['start']>,
  tokens: number | null,
  outcome: AttemptOutcome = succeeded,
) =>
  applyReport(desk, run, {
    ...{ attemptId: run.attemptId ?? attemptId('none'), outcome },
    usage: tokens === null ? null : { inputTokens: tokens - 1, outputTokens: 1 },
  })

const left = ({ desk }: Cabinet, id = BUDGET): number | undefined => budgetLoads(desk).get(id)?.remaining
const work = (params: unknown): Partial<Submission> => ({ content: { action: 'x', params } })

describe('an org without budgets', () => {
  it('has nothing to look at', () => {
    const cabinet = withBudgets()
    expect(cabinet.desk.budgets).toBeNull()
    submit(cabinet.desk, aTask())
    report(cabinet, cabinet.start('r1'), 50)
    expect(cabinet.desk.changes.spendings.size).toBe(0)
    expect(cabinet.run('r1').reserves).toEqual([])
  })
})

describe('what a run sets aside', () => {
  it('is fixed when it starts, counts while it is in flight and is settled by its report', () => {
    const cabinet = withBudgets(aBudget({ defaultReserve: 30 }))
    submit(cabinet.desk, aTask())
    expect(left(cabinet)).toBe(100)
    const run = cabinet.start('r1')
    expect(run.reserves).toEqual([{ budgetId: 'bud_1', amount: 30, stated: null }])
    expect(left(cabinet)).toBe(70)
    report(cabinet, run, 45)
    expect(left(cabinet)).toBe(55)
    expect([...cabinet.desk.changes.spendings.values()]).toEqual([{ budgetId: 'bud_1', start: MIDNIGHT, used: 45 }])
  })

  it('is the larger of what it states and what its predecessors used', () => {
    const cabinet = withBudgets(aBudget({ defaultReserve: 5 }))
    knowHabits(cabinet, ...Array.from({ length: 25 }, (_, n) => ({ inputTokens: n })))
    submit(cabinet.desk, aTask(work({ max_tokens: 10 })))
    submit(cabinet.desk, aTask(work({ max_tokens: 60 })))
    submit(cabinet.desk, aTask())
    const amounts = ['r1', 'r2', 'r3'].map((id) => cabinet.run(id).reserves[0]?.amount)
    // Of the newest twenty (5 to 24) the nineteenth.
    expect(amounts).toEqual([23, 60, 23])
  })

  it('follows its predecessors while it waits, up to the whole budget', () => {
    const cabinet = withBudgets(aBudget())
    knowHabits(cabinet)
    submit(cabinet.desk, aTask())
    submit(cabinet.desk, aTask())
    expect(cabinet.run('r2').reserves[0]?.amount).toBe(0)
    report(cabinet, cabinet.start('r1'), 40)
    expect(cabinet.run('r2').reserves[0]?.amount).toBe(40)
    report(cabinet, cabinet.start('r2'), 4_000)
    cabinet.pass(24 * HOUR_MS)
    submit(cabinet.desk, aTask())
    expect(cabinet.run('r3').reserves[0]?.amount).toBe(100)
  })

  it('follows what an earlier attempt of a run has reported that ended without a word, as the tables do', () => {
    const cabinet = withBudgets(aBudget({ defaultReserve: 5 }))
    knowHabits(cabinet)
    submit(cabinet.desk, aTask({ retryPolicy: { ...DEFAULT_RETRY_POLICY, maxRetries: 1 } }))
    submit(cabinet.desk, aTask())
    report(cabinet, cabinet.start('r1'), 40, failed)
    expect(cabinet.run('r2').reserves[0]?.amount).toBe(5)
    cabinet.pass(HOUR_MS)
    settleDue(cabinet.desk, cabinet.run('r1'), null)
    settleDue(cabinet.desk, cabinet.start('r1'), cabinet.desk.now)
    expect([cabinet.run('r1').state, cabinet.run('r2').reserves[0]?.amount]).toEqual(['failed', 40])
  })

  it('follows the runs that were made last, whichever ended last', () => {
    const cabinet = withBudgets(aBudget({ defaultReserve: 5 }))
    const twenty = Array.from({ length: 20 }, (_, n) => ({ inputTokens: n + 1 }))
    knowHabits(cabinet, ...twenty)
    const agent = agentId('agent')
    const late = { id: runId('old_'), agentId: agent, scheduleId: null, usage: { inputTokens: 90 } }
    if (cabinet.desk.budgets !== null) recordUsage(cabinet.desk.budgets, late)
    submit(cabinet.desk, aTask())
    expect(cabinet.run('r1').reserves[0]?.amount).toBe(19)
  })

  it('is given back with a dead lease, a cancellation and a retry', () => {
    const cabinet = withBudgets(aBudget({ defaultReserve: 20 }))
    for (let n = 1; n <= 3; n += 1) {
      submit(cabinet.desk, aTask({ retryPolicy: { ...DEFAULT_RETRY_POLICY, maxRetries: n === 2 ? 0 : 1 } }))
      cabinet.start(`r${n}`)
    }
    expect(left(cabinet)).toBe(40)
    settleDue(cabinet.desk, cabinet.run('r1'), cabinet.desk.now)
    expect(left(cabinet)).toBe(60)
    cancelRun(cabinet.desk, runId('r2'), because('cancelled', 'request'))
    expect([cabinet.run('r2').state, left(cabinet)]).toEqual(['stopping', 60])
    report(cabinet, cabinet.run('r2'), 3)
    expect(left(cabinet)).toBe(77)
    report(cabinet, cabinet.run('r3'), 7, failed)
    expect([cabinet.run('r3').state, left(cabinet)]).toEqual(['waiting', 90])
  })

  it('is judged anew when budgets come and go', () => {
    const cabinet = openCabinet()
    submit(cabinet.desk, aTask(work({ max_tokens: 8, max_cost: 0.5 })))
    applyBudgetRows(cabinet.desk, [aBudget(), aBudget({ id: budgetId('bud_2'), unit: 'money', amount: 2_000_000 })])
    expect(cabinet.desk.reservesChanged).toBe(true)
    expect(cabinet.run('r1').reserves.map(({ amount }) => amount)).toEqual([8, 500_000])
    cabinet.run('r1').payload = undefined
    applyBudgetRows(cabinet.desk, [aBudget()])
    expect(cabinet.run('r1').reserves.map(({ amount }) => amount)).toEqual([8])
    applyBudgetRows(cabinet.desk, [])
    expect([cabinet.desk.budgets, cabinet.run('r1').reserves]).toEqual([null, []])
  })

  it('is known of runs that were in flight before the budget was heard of', () => {
    const cabinet = withBudgets(aBudget({ defaultReserve: 30 }))
    submit(cabinet.desk, aTask())
    cabinet.start('r1')
    cabinet.desk.budgets = null
    applyBudgetRows(cabinet.desk, [aBudget({ defaultReserve: 30 })])
    expect(left(cabinet)).toBe(70)
  })
})

describe('a budget without room', () => {
  const spent = { uses: [{ start: MIDNIGHT, used: 90 }], defaultReserve: 20 }

  it('that says skip refuses a submission until the period ends', () => {
    const cabinet = withBudgets(aBudget({ ...spent, onExceed: 'skip' }))
    const refused = submit(cabinet.desk, aTask())
    expect(refused).toMatchObject({ kind: 'rejected', retryAfterMs: 12 * HOUR_MS, why: { reason: 'budget' } })
    expect(cabinet.run('r1').state).toBe('rejected')
    expectExplained(cabinet.run('r1').decision)
    cabinet.pass(12 * HOUR_MS)
    expect(submit(cabinet.desk, aTask()).kind).toBe('accepted')
  })

  it.each(['skip', 'pause'] as const)(
    'that says %s skips an occurrence, and nothing is cancelled for it',
    (onExceed) => {
      const cabinet = withBudgets(aBudget({ ...spent, onExceed }))
      const id = aScheduleOn(cabinet, timingOf({ every_seconds: 60 }, NOW), { overlapAction: 'CANCEL_PREV' })
      runNow(cabinet.desk, id, { mode: 'force' })
      cabinet.pass(60_000)
      fire(cabinet.desk, id)
      expect(cabinet.states()).toEqual({ r1: 'queued', r2: 'skipped' })
      expect(cabinet.run('r2').decision.reason).toBe('budget')
    },
  )

  it('that queues lets both in', () => {
    const cabinet = withBudgets(aBudget({ ...spent, onExceed: 'queue' }))
    const id = aScheduleOn(cabinet, timingOf({ every_seconds: 60 }, NOW))
    cabinet.pass(60_000)
    fire(cabinet.desk, id)
    submit(cabinet.desk, aTask())
    expect(cabinet.states()).toEqual({ r1: 'queued', r2: 'queued' })
  })

  it('says nothing to those it does not concern', () => {
    const of = (scope: BudgetWithPeriods['scope']) => withBudgets(aBudget({ ...spent, scope })).desk
    const spender = { agentId: agentId('agent'), scheduleId: scheduleId('sch'), payload: null }
    expect(closedBudget(of({ kind: 'agent', agentId: agentId('other') }), spender)).toBeNull()
    expect(closedBudget(of({ kind: 'agent', agentId: agentId('agent') }), spender)).not.toBeNull()
    expect(closedBudget(of({ kind: 'schedule', scheduleId: scheduleId('sch') }), spender)).not.toBeNull()
    const message = { ...spender, scheduleId: null }
    expect(closedBudget(of({ kind: 'schedule', scheduleId: scheduleId('sch') }), message)).toBeNull()
  })
})

describe('what was used', () => {
  it.each([
    [
      { inputTokens: 3, outputTokens: 4, costMicros: 5 },
      { tokens: 7, money: 5 },
    ],
    [
      { input_tokens: 3, output_tokens: 4, cost: 0.000_005 },
      { tokens: 7, money: 5 },
    ],
    [{ outputTokens: 4.2 }, { tokens: 5, money: null }],
    [
      { inputTokens: -3, costMicros: Number.NaN },
      { tokens: null, money: null },
    ],
    [{ inputTokens: Number.MAX_VALUE }, { tokens: 1_000_000_000_000, money: null }],
    [null, { tokens: null, money: null }],
  ])('of %j is %j', (usage, amounts) => {
    expect(amountsUsed(usage)).toEqual(amounts)
  })

  it.each([
    [
      { prompt: 'x', max_tokens: 7 },
      { tokens: 7, money: null },
    ],
    [
      { text: 'x', fields: { max_cost: 0.5 } },
      { tokens: null, money: 500_000 },
    ],
    [
      { action: 'x', params: { max_tokens: 9 } },
      { tokens: 9, money: null },
    ],
    ['text', { tokens: null, money: null }],
  ])('is stated at most by %j: %j', (payload, amounts) => {
    expect(amountsStated(payload)).toEqual(amounts)
  })
})
