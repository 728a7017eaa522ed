import { describe, expect, it } from 'vitest'
import { workerKeyOf } from '../../../src/domain/agent.ts'
import { agentId, attemptId, laneName, orgId, runId } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { holderStatus } from '../../../src/domain/run/reports.ts'
import { because } from '../../../src/domain/reasons.ts'
import { createRun } from '../../../src/engine/commands/runs.ts'
import { settleDue } from '../../../src/engine/commands/settle.ts'
import { assignRuns, startAssigned, releaseCommand, type WorkerOffer } from '../../../src/engine/commands/assign.ts'
import { claimRuns } from '../../../src/engine/transaction/claim.ts'
import { emptyLoadedOrg, reindexRun, type LoadedOrg } from '../../../src/engine/org-state/memory.ts'
import type { RunRow } from '../../../src/features/runs/store.ts'
import { NOW } from '../../support/builders.ts'
import { openCabinet } from './cabinet.ts'

/** An org in memory, in which two agents have their work done elsewhere. */
function open(): LoadedOrg {
  const { desk: like } = openCabinet()
  const memory = emptyLoadedOrg(orgId('default'), {
    ...{ randomSource: like.randomSource, settings: () => like.settings, canExecute: () => true, estimate: null },
    laneNames: () => new Set([laneName('main'), laneName('cron')]),
  })
  memory.state.now = NOW
  for (const id of ['a', 'b'].map((name) => agentId(name)))
    memory.state.agents.set(id, {
      ...{ id, executorKey: workerKeyOf(id), executorKind: 'worker', retryPolicy: null, timeoutSeconds: null },
      ...{ maxConcurrent: null, provider: null },
    })
  return memory
}

let made = 0
function aRun(memory: LoadedOrg, agent: string, more: Partial<RunRow> = {}): RunRow {
  const id = runId(`run_${String((made += 1)).padStart(3, '0')}`)
  const run = createRun(memory.state, {
    ...{ id, agentId: agentId(agent), executorKey: workerKeyOf(agentId(agent)), jobRunId: id, trigger: 'message' },
    ...{ lane: laneName('main'), state: 'queued', decision: because('accepted', 'test'), payload: null },
    ...more,
  })
  reindexRun(memory, run)
  return run
}

const anOffer = (more: Partial<WorkerOffer> = {}): WorkerOffer => ({
  ...{ workerId: 'wrk_1', agents: [agentId('a'), agentId('b')], capacity: 2, beginMs: 15_000 },
  ...more,
})

const agentsOf = (assigned: ReturnType<typeof assignRuns>): string => assigned.map(({ run }) => run.agentId).join('')

describe('work that is done elsewhere', () => {
  it('is offered to no node, whatever its lanes have free', () => {
    const memory = open()
    aRun(memory, 'a')
    const lanes = new Map([[laneName('main'), { size: 9, held: 0 }]])
    expect(claimRuns(memory, { nodeId: 'nod_1', lanes, catchup: { inFlight: 0, limit: 9 } })).toEqual([])
    expect(memory.readyQueue.queuedIn(laneName('main'))).toBe(0)
    expect(memory.readyQueue.queued()).toBe(1)
  })

  it('is handed out up to what a worker has declared, its agents in turn', () => {
    const memory = open()
    for (const agent of 'aaabbb') aRun(memory, agent)
    expect(agentsOf(assignRuns(memory, [anOffer({ capacity: 4 })]))).toBe('abab')
    expect(assignRuns(memory, [anOffer({ capacity: 4 })])).toEqual([])
    expect(agentsOf(assignRuns(memory, [anOffer({ workerId: 'wrk_2', agents: [agentId('b')] })]))).toBe('b')
    expect(memory.state.changes.assignments).toHaveLength(5)
  })

  it('is dealt to workers one by one', () => {
    const memory = open()
    for (const agent of 'aaa') aRun(memory, agent)
    const offers = [anOffer({ capacity: 9 }), anOffer({ workerId: 'wrk_2', capacity: 9 })]
    expect(assignRuns(memory, offers).map(({ workerId }) => workerId)).toEqual(['wrk_1', 'wrk_2', 'wrk_1'])
  })

  it('keeps the limit of its agent', () => {
    const memory = open()
    memory.readyQueue.setAgent(agentId('a'), { maxConcurrent: 1 })
    for (const agent of 'aab') aRun(memory, agent)
    expect(agentsOf(assignRuns(memory, [anOffer({ capacity: 9 })]))).toBe('ab')
  })
})

describe('a run that a worker has taken', () => {
  const taken = (more: Partial<RunRow> = {}): { readonly memory: LoadedOrg; readonly run: RunRow } => {
    const memory = open()
    const run = aRun(memory, 'a', more)
    assignRuns(memory, [anOffer()])
    return { memory, run }
  }

  it('begins when the worker says so, and its time counts from then on', () => {
    const { memory, run } = taken()
    expect(run).toMatchObject({ state: 'assigned', nodeId: 'wrk_1', startedAt: null, endsBy: later(NOW, 15_000) })
    memory.state.now = later(NOW, 10_000)
    startAssigned(memory.state, run)
    expect(run).toMatchObject({ state: 'running', startedAt: later(NOW, 10_000), endsBy: later(NOW, 610_000) })
  })

  it.each<[string, number, number | null, string]>([
    ['waits while there is time', 14_999, null, 'assigned'],
    ['goes back when nobody has begun it in time', 15_000, null, 'queued'],
    ['goes back when its worker is gone', 1_000, 1_000, 'queued'],
  ])('%s, and nothing counts as failed', (_, at, lapsedAt, state) => {
    const { memory, run } = taken()
    memory.state.now = later(NOW, at)
    settleDue(memory.state, run, lapsedAt === null ? null : later(NOW, lapsedAt))
    expect(run).toMatchObject({ state, attempt: 1, errorCode: null })
    expect(run.attemptId === null).toBe(state === 'queued')
    if (state === 'queued') expect(run.why?.reason).toBe('executor_offline')
  })

  it('expires at its deadline', () => {
    const { memory, run } = taken({ deadline: later(NOW, 5_000) })
    memory.state.now = later(NOW, 5_000)
    settleDue(memory.state, run, null)
    expect(run).toMatchObject({ state: 'expired', finishedAt: later(NOW, 5_000) })
  })

  it('is given back for a worker that could not be told, unless it has begun', () => {
    const { memory, run } = taken()
    const attempt = { runId: run.id, attemptId: run.attemptId ?? attemptId('') }
    const other = { runId: run.id, attemptId: attemptId('another') }
    releaseCommand(memory.state.orgId, [other]).apply(memory.state, null)
    expect(run.state).toBe('assigned')
    startAssigned(memory.state, run)
    releaseCommand(memory.state.orgId, [attempt]).apply(memory.state, null)
    expect(run.state).toBe('running')
  })
})

describe('whoever holds an attempt', () => {
  const held = attemptId('att_1')
  it.each([
    ['goes on while it runs', { state: 'running', attemptId: held, reason: null }, { isCurrent: true, cancel: false }],
    [
      'stops when it is asked to',
      { state: 'stopping', attemptId: held, reason: 'interrupted' },
      { cancel: true, reason: 'interrupted' },
    ],
    [
      'stops when another attempt is current',
      { state: 'running', attemptId: attemptId('att_2'), reason: null },
      { isCurrent: false, reason: 'stale_report' },
    ],
    [
      'stops when the run waits for its next attempt',
      { state: 'waiting', attemptId: null, reason: null },
      { isCurrent: false, cancel: true },
    ],
    [
      'stops when the run has ended',
      { state: 'success', attemptId: held, reason: null },
      { isCurrent: false, cancel: true },
    ],
    ['stops when nobody knows the run', null, { isCurrent: false, cancel: true }],
  ] as const)('%s', (_, run, standing) => {
    expect(holderStatus(run, held)).toMatchObject(standing)
  })
})
