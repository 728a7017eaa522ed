import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentId, attemptId, laneName, orgId, runId } from '../../../src/domain/ids.ts'
import { HOUR_MS, later } from '../../../src/domain/instant.ts'
import { BUDGET_ACTIONS, BUDGET_UNITS } from '../../../src/domain/budget/budget.ts'
import { BUDGET_PERIODS } from '../../../src/domain/budget/budget-period.ts'
import { DEFAULT_RETRY_POLICY } from '../../../src/domain/run/retry-policy.ts'
import { isTerminal } from '../../../src/domain/run/run-machine.ts'
import { DEFAULT_SETTINGS, type EngineSettings } from '../../../src/features/config/settings.ts'
import { storeTypicalUsage } from '../../../src/engine/org-state/budget-usage.ts'
import { budgetLoads, recordSpending, applyBudgetRows } from '../../../src/engine/commands/budgets.ts'
import { noChanges } from '../../../src/engine/org-state/org-state.ts'
import { settleDue, applyReport } from '../../../src/engine/commands/settle.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import { applyBudgets } from '../../../src/engine/transaction/review-budgets.ts'
import { claimRuns } from '../../../src/engine/transaction/claim.ts'
import { emptyLoadedOrg, reindexRun, type LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import { ensureTaskAgent } from '../../../src/engine/transaction/transaction.ts'
import type { BudgetWithPeriods } from '../../../src/features/budgets/store.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import { NOW } from '../../support/builders.ts'
import { aBudget } from './budget-records.ts'
import { createWitness, type Witness } from './budget-witness.ts'
import { aTask } from './cabinet.ts'

/** What a node does with one org, without a database: turns of traffic, time and picking. */
type Step =
  | { readonly do: 'submit'; readonly agent: 'a' | 'b'; readonly stated: number | null }
  | { readonly do: 'report'; readonly nth: number; readonly used: number; readonly fails: boolean }
  | { readonly do: 'lose'; readonly nth: number }
  | { readonly do: 'pass'; readonly hours: number }

const agents = (): fc.Arbitrary<'a' | 'b'> => fc.constantFrom('a', 'b')

const steps = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('submit' as const), agent: agents(), stated: fc.option(fc.nat(40)) }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        ...{ do: fc.constant('report' as const), nth: fc.nat(9), used: fc.nat(60) },
        fails: fc.nat(4).map((n) => n === 0),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), nth: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), hours: fc.nat(20) }) },
  ),
  { minLength: 20, maxLength: 120, size: 'max' },
)

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
        id: `bud_${n}` as BudgetWithPeriods['id'],
        scope: agent === null ? { kind: 'org' } : { kind: 'agent', agentId: agentId(agent) },
      }),
    ),
  )

const LANE = laneName('task')

const { node, schedules, tasks } = DEFAULT_SETTINGS
const settings: EngineSettings = {
  ...DEFAULT_SETTINGS,
  node: { ...node, stopGraceMs: 0 },
  schedules: { ...schedules, catchupMaxActive: 1 },
  tasks: { ...tasks, maxPerAgent: 1_000, maxPerAgentInflight: 20 },
}

function openMemory(loaded: readonly BudgetWithPeriods[]): LoadedOrg {
  let made = 0
  const memory = emptyLoadedOrg(orgId('default'), {
    randomSource: {
      random: () => 0.5,
      newRunId: () => runId(`r${String((made += 1)).padStart(4, '0')}`),
      newAttemptId: () => attemptId(`a${(made += 1)}`),
    },
    settings: () => settings,
    ...{ canExecute: () => true, laneNames: () => new Set([LANE]), estimate: null },
  })
  memory.state.now = NOW
  applyBudgetRows(memory.state, loaded)
  return memory
}

const inFlight = ({ state: desk }: LoadedOrg): readonly RunRow[] =>
  [...desk.runs.values()].filter((run) => run.state === 'running')

const FAILED = { kind: 'failed', errorCode: 'agent_error', retryable: null, retryAfterMs: null } as const

/** What somebody may do to the books behind the desk's back; nothing, unless the witness is put to the test. */
type Tampering = (memory: LoadedOrg, reported: RunRow | null) => void

interface Playing {
  readonly memory: LoadedOrg
  readonly witness: Witness
  readonly tamper: Tampering
}

function take({ memory, witness }: Playing, step: Step): RunRow | null {
  const { state: desk } = memory
  const held = inFlight(memory)
  const chosen = step.do === 'report' || step.do === 'lose' ? held[step.nth % held.length] : undefined
  const attempt = chosen?.attemptId ?? attemptId('none')
  switch (step.do) {
    case 'submit': {
      const agent = agentId(step.agent)
      ensureTaskAgent(memory, agent)
      const params = step.stated === null ? {} : { max_tokens: step.stated, max_cost: step.stated / 1_000_000 }
      submit(desk, aTask({ agentId: agent, content: { action: 'x', params }, retryPolicy: DEFAULT_RETRY_POLICY }))
      return null
    }
    case 'report': {
      if (chosen === undefined) return null
      const usage = { inputTokens: step.used, costMicros: step.used }
      applyReport(desk, chosen, { attemptId: attempt, outcome: step.fails ? FAILED : { kind: 'succeeded' }, usage })
      witness.reported(attempt, step.used, { at: desk.now, ended: isTerminal(chosen.state) })
      return chosen
    }
    case 'lose':
      if (chosen === undefined) return null
      settleDue(desk, chosen, desk.now)
      witness.lost(attempt, isTerminal(chosen.state))
      return null
    case 'pass':
      desk.now = later(desk.now, step.hours * HOUR_MS)
      for (const run of desk.runs.values()) if (run.state === 'waiting') settleDue(desk, run, null)
      return null
  }
}

const statedBy = ({ payload }: RunRow): number | null =>
  (payload as { readonly params: { readonly max_tokens?: number } }).params.max_tokens ?? null

function play(
  loaded: readonly BudgetWithPeriods[],
  traffic: readonly Step[],
  tamper: Tampering = () => undefined,
): number {
  const memory = openMemory(loaded)
  const { state: desk } = memory
  const witness = createWitness(loaded)
  for (const step of traffic) {
    desk.changes = noChanges()
    if (desk.budgets === null) throw new Error('the budgets are gone')
    storeTypicalUsage(desk.budgets, { agents: [], schedules: [] })
    const reported = take({ memory, witness, tamper }, step)
    tamper(memory, reported)
    for (const run of [...desk.changes.created, ...desk.changes.changed]) reindexRun(memory, run)
    applyBudgets(memory)
    const offer = { nodeId: 'n', lanes: new Map([[LANE, { size: 8, held: 0 }]]), catchup: { inFlight: 0, limit: 1 } }
    for (const { run } of claimRuns(memory, offer))
      witness.claimed(
        { attempt: run.attemptId ?? '', run: run.id, agent: run.agentId, stated: statedBy(run) },
        desk.now,
      )
    for (const [id, { remaining }] of budgetLoads(desk)) {
      const isPaused = desk.budgets.budgets.get(id)?.budget.pausedAt !== null
      expect(remaining).toBe(isPaused ? 0 : witness.left(id, desk.now))
    }
  }
  return witness.hits()
}

const CASES = Number(process.env['BUDGET_CASES'] ?? 200)

describe('random traffic', () => {
  it('never exceeds a budget by more than what runs in flight used beyond their reserve', () => {
    let hits = 0
    fc.assert(
      fc.property(budgets, steps, (loaded, traffic) => {
        hits += play(loaded, traffic)
      }),
      { numRuns: CASES },
    )
    expect(hits).toBeGreaterThan(CASES / 4)
  }, 600_000)

  const mutants: readonly (readonly [string, Tampering])[] = [
    [
      'what runs in flight have set aside is forgotten',
      (memory) => {
        for (const run of inFlight(memory)) run.reserves = []
      },
    ],
    [
      'what a run used is counted twice',
      ({ state: desk }, reported) => {
        if (reported !== null) recordSpending(desk, reported)
      },
    ],
    [
      'what a run used is not counted',
      ({ state: desk }) => {
        for (const { spent } of desk.budgets?.budgets.values() ?? []) spent.clear()
      },
    ],
    [
      'a new period begins with what the last one used',
      ({ state: desk }) => {
        for (const booked of desk.budgets?.budgets.values() ?? [])
          booked.lastPeriod = booked.lastPeriod === null ? null : { ...booked.lastPeriod, end: later(NOW, 9e9) }
      },
    ],
    [
      'what runs are known to use is forgotten',
      ({ state: desk }) => {
        for (const habit of desk.budgets?.typicalUsage.agents.values() ?? []) habit.recent.length = 0
      },
    ],
  ]

  it.each(mutants)('is noticed where %s', (_, tamper) => {
    const broken = (): void => {
      fc.assert(
        fc.property(budgets, steps, (loaded, traffic) => {
          play(loaded, traffic, tamper)
        }),
        { numRuns: 300, endOnFailure: true, seed: 3 },
      )
    }
    expect(broken).toThrow()
  })
})
