import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentId, attemptId, laneName, orgId, runId } from '../../../src/core/ids.ts'
import { HOUR_MS, later } from '../../../src/core/instant.ts'
import { BUDGET_ACTIONS, BUDGET_UNITS } from '../../../src/core/budget/budget.ts'
import { BUDGET_PERIODS } from '../../../src/core/budget/budget-period.ts'
import { DEFAULT_FIRING_SETTINGS } from '../../../src/core/schedule/schedule-rules.ts'
import { DEFAULT_SESSION_RULES } from '../../../src/core/session/session-rules.ts'
import { bookHabits, budgetsOf, periodOf, useOf } from '../../../src/service/desk/budget-book.ts'
import { budgetLoads, takeBudgets } from '../../../src/service/desk/budgets.ts'
import { noChanges } from '../../../src/service/desk/desk.ts'
import { passTime, takeReport } from '../../../src/service/desk/settle.ts'
import { submit } from '../../../src/service/desk/submit.ts'
import { applyBudgets } from '../../../src/service/turn/budgets.ts'
import { claimRuns } from '../../../src/service/turn/claim.ts'
import { emptyMemory, noteRun, type Memory } from '../../../src/service/turn/memory.ts'
import { taskAgentFor } from '../../../src/service/turn/turn.ts'
import type { BudgetOnRecord } from '../../../src/store/budgets.ts'
import type { RunRow } from '../../../src/store/run-row.ts'
import { NOW } from '../../support/builders.ts'
import { aBudget } from './budget-records.ts'
import { aTask } from './cabinet.ts'

/** What a node does with one org, without a database: turns of traffic, time and picking. */
type Step =
  | { readonly do: 'submit'; readonly agent: 'a' | 'b'; readonly stated: number | null }
  | { readonly do: 'report'; readonly nth: number; readonly used: number }
  | { readonly do: 'lose'; readonly nth: number }
  | { readonly do: 'pass'; readonly hours: number }

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('submit' as const), agent: agents(), stated: stated() }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('report' as const), nth: fc.nat(9), used: fc.nat(60) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), nth: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), hours: fc.nat(20) }) },
  ),
  { maxLength: 120 },
)

function agents(): fc.Arbitrary<'a' | 'b'> {
  return fc.constantFrom('a', 'b')
}

function stated(): fc.Arbitrary<number | null> {
  return fc.option(fc.nat(40), { freq: 3 })
}

const budgets = fc
  .array(
    fc.record({
      amount: fc.integer({ min: 1, max: 150 }),
      defaultReserve: fc.nat(30),
      onExceed: fc.constantFrom(...BUDGET_ACTIONS),
      unit: fc.constantFrom(...BUDGET_UNITS),
      period: fc.constantFrom(...BUDGET_PERIODS),
      agent: fc.option(agents()),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((drawn) =>
    drawn.map(({ agent, ...over }, n) =>
      aBudget({
        ...over,
        id: `bud_${n}` as BudgetOnRecord['id'],
        scope: agent === null ? { kind: 'org' } : { kind: 'agent', agentId: agentId(agent) },
      }),
    ),
  )

const LANE = laneName('task')
const NOBODY = { agentId: agentId(''), scheduleId: null }

function openMemory(loaded: readonly BudgetOnRecord[]): Memory {
  let made = 0
  const memory = emptyMemory(orgId('default'), {
    chance: {
      random: () => 0.5,
      newRunId: () => runId(`r${String((made += 1)).padStart(4, '0')}`),
      newAttemptId: () => attemptId(`a${(made += 1)}`),
    },
    settings: () => ({
      ...{
        session: DEFAULT_SESSION_RULES,
        firing: DEFAULT_FIRING_SETTINGS,
        stopGraceMs: 0,
        catchupMaxActive: 1,
        alertAfter: 3,
      },
      tasks: { maxQueue: 1_000, maxPerAgent: 1_000, maxInflight: 20, maxPerAgentInflight: 20 },
    }),
    ...{ canExecute: () => true, laneNames: () => new Set([LANE]), estimate: null },
  })
  memory.desk.now = NOW
  takeBudgets(memory.desk, loaded)
  return memory
}

/** What a budget may have used: all of it, and what those in flight since its last start used beyond their reserve. */
interface Allowance {
  readonly inFlight: Set<RunRow['id']>
  beyond: number
}

const inFlight = ({ desk }: Memory): readonly RunRow[] =>
  [...desk.runs.values()].filter((run) => run.state === 'running')

function take(memory: Memory, step: Step): { readonly reported: RunRow; readonly used: number } | null {
  const { desk } = memory
  const chosen = step.do === 'report' || step.do === 'lose' ? inFlight(memory)[step.nth] : undefined
  switch (step.do) {
    case 'submit': {
      const agent = agentId(step.agent)
      taskAgentFor(memory, agent)
      const params = step.stated === null ? {} : { max_tokens: step.stated, max_cost: step.stated / 1_000_000 }
      submit(desk, aTask({ agentId: agent, content: { action: 'x', params } }))
      return null
    }
    case 'report': {
      if (chosen === undefined) return null
      const usage = { inputTokens: step.used, costMicros: step.used }
      takeReport(desk, chosen, {
        ...{ attemptId: chosen.attemptId ?? attemptId('none'), outcome: { kind: 'succeeded' } },
        usage,
      })
      return { reported: chosen, used: step.used }
    }
    case 'lose':
      if (chosen !== undefined) passTime(desk, chosen, desk.now)
      return null
    case 'pass':
      desk.now = later(desk.now, step.hours * HOUR_MS)
      return null
  }
}

function play(loaded: readonly BudgetOnRecord[], traffic: readonly Step[]): void {
  const memory = openMemory(loaded)
  const { desk } = memory
  const allowances = new Map(loaded.map(({ id }): [typeof id, Allowance] => [id, { inFlight: new Set(), beyond: 0 }]))
  const tally = new Map<string, number>()
  for (const step of traffic) {
    desk.changes = noChanges()
    if (desk.budgets === null) throw new Error('the budgets are gone')
    bookHabits(desk.budgets, { agents: [], schedules: [] })
    const told = take(memory, step)
    for (const run of [...desk.changes.made, ...desk.changes.changed]) noteRun(memory, run)
    for (const { budgetId, amount } of told?.reported.reserves ?? []) {
      const allowance = allowances.get(budgetId)
      if (allowance?.inFlight.has(told?.reported.id ?? runId('')) === true)
        allowance.beyond += Math.max(0, (told?.used ?? 0) - amount)
    }
    for (const booked of budgetsOf(desk.budgets, told?.reported ?? NOBODY)) {
      const key = `${booked.budget.id} ${periodOf(booked, desk.now).start}`
      tally.set(key, (tally.get(key) ?? 0) + (told?.used ?? 0))
    }
    for (const [id, booked] of desk.budgets.budgets) {
      const spent = tally.get(`${id} ${periodOf(booked, desk.now).start}`) ?? 0
      expect(useOf(booked, desk.now, 0).spent).toBe(spent)
      expect(spent).toBeLessThanOrEqual(booked.budget.amount + (allowances.get(id)?.beyond ?? 0))
    }
    applyBudgets(memory)
    const before = budgetLoads(desk)
    const offer = { nodeId: 'n', lanes: new Map([[LANE, { size: 8, held: 0 }]]), catchup: { inFlight: 0, limit: 1 } }
    const claims = claimRuns(memory, offer)
    const after = budgetLoads(desk)
    for (const { run } of claims)
      for (const { budget } of budgetsOf(desk.budgets, run))
        allowances.set(budget.id, { inFlight: new Set(inFlight(memory).map(({ id }) => id)), beyond: 0 })
    for (const [id, load] of before) {
      const taken = claims.flatMap(({ run }) => run.reserves.filter((reserve) => reserve.budgetId === id))
      const sum = taken.reduce((total, { amount }) => total + amount, 0)
      expect(after.get(id)?.remaining).toBe(load.remaining - sum)
    }
  }
}

describe('random traffic', () => {
  it('never exceeds a budget by more than what runs in flight used beyond their reserve', () => {
    fc.assert(
      fc.property(budgets, steps, (loaded, traffic) => {
        play(loaded, traffic)
      }),
      { numRuns: 400 },
    )
  })
})
