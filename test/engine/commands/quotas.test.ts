import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { workerKeyOf } from '../../../src/domain/agent.ts'
import { agentId, laneName, orgId, providerName, runId } from '../../../src/domain/ids.ts'
import { later, MINUTE_MS } from '../../../src/domain/instant.ts'
import { createQuotaState, remainingQuota, type Quotas } from '../../../src/domain/budget/quota.ts'
import { because } from '../../../src/domain/reasons.ts'
import { NODE_LOST, outcomeOfResult } from '../../../src/domain/run/outcome.ts'
import { applyProviderRows } from '../../../src/engine/commands/quotas.ts'
import { createRun } from '../../../src/engine/commands/runs.ts'
import { endAttempt, releaseAssigned, applyReport } from '../../../src/engine/commands/settle.ts'
import { simulate } from '../../../src/features/simulation/simulator.ts'
import { assignRuns } from '../../../src/engine/commands/assign.ts'
import { claimRuns } from '../../../src/engine/transaction/claim.ts'
import { emptyLoadedOrg, reindexRun, type LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import { applyAgentChanges } from '../../../src/engine/org-state/changes.ts'
import { applyQuotas } from '../../../src/engine/transaction/review-budgets.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import { NOW } from '../../support/builders.ts'
import { openCabinet } from './cabinet.ts'

const P = providerName('model')
const NONE: Quotas = { requestsPerMinute: null, tokensPerMinute: null, maxConcurrent: null }

/** An org in memory: of agents `a` and `b` everything goes through one provider, of `w` too but elsewhere; `c` is free. */
function open(quotas: Partial<Quotas>): LoadedOrg {
  const { desk: like } = openCabinet()
  const memory = emptyLoadedOrg(orgId('default'), {
    ...{ randomSource: like.randomSource, settings: () => like.settings, canExecute: () => true, estimate: null },
    laneNames: () => new Set([laneName('main'), laneName('cron')]),
  })
  const { state: desk } = memory
  desk.now = NOW
  for (const name of ['a', 'b', 'c', 'w']) {
    const id = agentId(name)
    desk.agents.set(id, {
      ...{ id, executorKey: name === 'w' ? workerKeyOf(id) : 'echo', executorKind: 'echo', retryPolicy: null },
      ...{ timeoutSeconds: null, maxConcurrent: null, provider: name === 'c' ? null : P },
    })
    desk.changes.events.push({ kind: 'agent.changed', subject: id, data: {} })
  }
  applyAgentChanges(memory)
  const all = { ...NONE, ...quotas }
  applyProviderRows(desk, [{ name: P, quotas: all, state: createQuotaState(all, NOW) }])
  applyQuotas(memory)
  return memory
}

let made = 0
function aRun(memory: LoadedOrg, agent: string, payload: unknown = null): RunRow {
  const id = runId(`run_${String((made += 1)).padStart(6, '0')}`)
  const key = memory.state.agents.get(agentId(agent))?.executorKey ?? 'echo'
  const run = createRun(memory.state, {
    ...{ id, agentId: agentId(agent), executorKey: key, jobRunId: id, trigger: 'message', payload },
    ...{ lane: laneName(made % 2 === 0 ? 'main' : 'cron'), state: 'queued', decision: because('accepted', 'test') },
  })
  reindexRun(memory, run)
  return run
}

function claim(memory: LoadedOrg, size = 1_000): readonly RunRow[] {
  applyQuotas(memory)
  const lanes = new Map([
    [laneName('main'), { size, held: 0 }],
    [laneName('cron'), { size, held: 0 }],
  ])
  return claimRuns(memory, { nodeId: 'nod_1', lanes, catchup: { inFlight: 0, limit: 9 } }).map(({ run }) => run)
}

function report(memory: LoadedOrg, run: RunRow, tokens: number): void {
  if (run.attemptId === null) throw new Error(`${run.id} has no attempt`)
  applyReport(memory.state, run, {
    ...{ attemptId: run.attemptId, outcome: { kind: 'succeeded' }, usage: { inputTokens: tokens } },
  })
  reindexRun(memory, run)
}

const leftIn = ({ state: desk }: LoadedOrg) => {
  const provider = desk.quotas?.providers.get(P)
  return provider === undefined ? null : remainingQuota(provider.state, provider.quotas, desk.now)
}

describe('whatever calls a provider', () => {
  it('starts at the rate it allows, all of it, and never holds up anybody else', () => {
    const agents = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), agents, (perMinute, names) => {
        const memory = open({ requestsPerMinute: perMinute })
        const runs = names.map((name) => aRun(memory, name))
        const calling = names.filter((name) => name !== 'c').length
        const first = claim(memory)
        expect(first.filter(({ agentId: id }) => id === 'c')).toHaveLength(names.length - calling)
        for (let left = 1_000; left > 0 && runs.some(({ state }) => state === 'queued'); left -= 1) {
          // It says itself when it is worth looking again.
          memory.state.now = memory.readyQueue.wakesAt() ?? memory.state.now
          expect(claim(memory).length).toBeGreaterThan(0)
        }
        expect(runs.every(({ state }) => state === 'running')).toBe(true)
        const beyond = Math.max(0, calling - perMinute)
        expect(memory.state.now - NOW).toBe(Math.ceil((beyond * MINUTE_MS) / perMinute))
      }),
      { numRuns: 40 },
    )
  })

  it('never starves behind smaller work: what is too large for the bucket starts as well', () => {
    const memory = open({ tokensPerMinute: 100 })
    const large = aRun(memory, 'b', { max_tokens: 5_000 })
    for (let n = 0; n < 20; n += 1) aRun(memory, 'a', { max_tokens: 60 })
    for (let minutes = 0; minutes < 120 && large.state === 'queued'; minutes += 1) {
      for (const run of claim(memory)) if (run !== large) report(memory, run, 60)
      memory.state.now = memory.readyQueue.wakesAt() ?? memory.state.now
    }
    expect(large.state).toBe('running')
  })

  it('counts when a worker takes it, and gives back only tokens when nobody begins', () => {
    const memory = open({ requestsPerMinute: 3, tokensPerMinute: 100 })
    const offer = { workerId: 'wrk_1', agents: [agentId('w')], capacity: 9, beginMs: 1_000 }
    for (let n = 0; n < 5; n += 1) aRun(memory, 'w', { max_tokens: 10 })
    const assigned = assignRuns(memory, [offer])
    expect(assigned).toHaveLength(3)
    expect(leftIn(memory)).toEqual({ requests: 0, tokens: 70 })
    for (const { run } of assigned) releaseAssigned(memory.state, run, 'worker.gone')
    expect(leftIn(memory)).toEqual({ requests: 0, tokens: 100 })
    expect(memory.state.changes.providers.size).toBe(1)
  })

  it('gives back what it set aside when its node is lost', () => {
    const memory = open({ tokensPerMinute: 100 })
    const run = aRun(memory, 'a', { max_tokens: 30 })
    claim(memory)
    expect([leftIn(memory)?.tokens, run.reserves]).toEqual([70, [{ budgetId: 'provider:model', amount: 30 }]])
    endAttempt(memory.state, run, NODE_LOST)
    expect([leftIn(memory)?.tokens, run.state, run.reserves]).toEqual([100, 'waiting', []])
  })

  it('is held up by a result that says how long to wait', () => {
    const memory = open({})
    const run = aRun(memory, 'a')
    claim(memory)
    const outcome = outcomeOfResult({ status: 'failed', errorCode: null, retryable: null, retryAfterMs: 7_000 })
    if (run.attemptId !== null) applyReport(memory.state, run, { attemptId: run.attemptId, outcome })
    reindexRun(memory, run)
    aRun(memory, 'b')
    expect(claim(memory)).toEqual([])
    expect(memory.readyQueue.wakesAt()).toBe(later(NOW, 7_000))
    expect(memory.state.changes.events.filter(({ kind }) => kind === 'provider.changed')).toEqual([
      { kind: 'provider.changed', subject: P, data: { change: 'blocked', until: new Date(NOW + 7_000).toISOString() } },
    ])
  })

  it('is counted where its agent calls when that changes', () => {
    const memory = open({ maxConcurrent: 1 })
    // Which of two that were made together goes first, their ids say.
    const runs = [aRun(memory, 'a'), aRun(memory, 'b')]
    expect(claim(memory)).toHaveLength(1)
    const waiting = runs.find(({ state }) => state === 'queued')
    const agent = waiting === undefined ? undefined : memory.state.agents.get(waiting.agentId)
    if (agent === undefined) throw new Error('both have started')
    memory.state.agents.set(agent.id, { ...agent, provider: null })
    memory.state.changes.events.push({ kind: 'agent.changed', subject: agent.id, data: {} })
    applyAgentChanges(memory)
    expect(claim(memory)).toEqual([waiting])
    applyProviderRows(memory.state, [])
    expect([memory.state.quotas, memory.state.quotasChanged]).toEqual([null, true])
  })
})

describe('a simulation', () => {
  const from = new Date(NOW).toISOString()
  const simulated = (perMinute: number | null) =>
    simulate({
      ...{ from, to: new Date(NOW + 2 * MINUTE_MS).toISOString(), timezone: 'UTC', seed: 1 },
      schedules: [
        { id: 'sch_1', input: { name: 'Often', every_seconds: 5, agent_id: 'a', concurrency_policy: 'PARALLEL' } },
      ],
      agents: [{ id: 'a', executor_kind: 'echo', provider: P }],
      providers: [{ name: P, requests_per_minute: perMinute, tokens_per_minute: null, max_concurrent: null }],
    })
  const startsIn = (view: ReturnType<typeof simulate>): readonly number[] =>
    view.rows.flatMap(({ started_at: at }) => (at === null ? [] : [(Date.parse(at) - NOW) / 1_000]))

  it('waits for quotas as the engine does', () => {
    const free = startsIn(simulated(null))
    const held = startsIn(simulated(6))
    expect(free.slice(0, 4)).toEqual([5, 10, 15, 20])
    // Six at once and one in ten seconds: from the eleventh on each waits for its request.
    expect(held.slice(0, 10)).toEqual(free.slice(0, 10))
    expect(held.slice(10, 14)).toEqual([55, 65, 75, 85])
  })
})
