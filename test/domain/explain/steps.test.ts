import { describe, expect, it } from 'vitest'
import { ADMISSION_GATES } from '../../../src/domain/admission/admission.ts'
import {
  admissionSteps,
  executionSteps,
  gateSteps,
  policySteps,
  type RunProgress,
  type CheckStep,
} from '../../../src/domain/explain/steps.ts'
import { later } from '../../../src/domain/instant.ts'
import { GATE_NAMES } from '../../../src/domain/queue/gates.ts'
import { because, type Why } from '../../../src/domain/reasons.ts'
import { type Trigger, ACCEPTED } from '../../../src/domain/run/run.ts'
import { OCCURRENCE_POLICIES } from '../../../src/domain/schedule/occurrences.ts'
import { NOW } from '../../support/builders.ts'

const statesOf = (steps: readonly CheckStep[]): Readonly<Record<string, string>> =>
  Object.fromEntries(steps.map(({ name, state }) => [name, state]))
const closedIn = (steps: readonly CheckStep[]): readonly CheckStep[] => steps.filter(({ state }) => state === 'closed')

const aRun = (over: Partial<RunProgress>): RunProgress => ({
  ...{ state: 'queued', trigger: 'message', decision: ACCEPTED, why: null, startedAt: null, wait: null },
  ...over,
})

describe('the policies of an occurrence', () => {
  const skipped: readonly (readonly [Why, string])[] = [
    [because('misfire', 'misfire_policy=SKIP', { policy: 'SKIP', nominal: 'then', late_seconds: 90 }), 'misfire'],
    [because('overlap', 'overlap_action=SKIP', { previous_run: 'run_1', previous_state: 'running' }), 'overlap'],
    [because('concurrency', 'concurrency_policy=SKIP', { reserved: 1, max_concurrency: 1 }), 'concurrency'],
    [because('queue_full', 'queue_depth', { parked: 10, queue_depth: 10 }), 'concurrency'],
  ]

  it.each(skipped)('are passed up to the one that skipped it', (why, policy) => {
    const steps = policySteps(why)
    const end = OCCURRENCE_POLICIES.findIndex((name) => name === policy)
    expect(steps.map(({ state }) => state)).toEqual(
      OCCURRENCE_POLICIES.map((_, index) => (index < end ? 'passed' : index === end ? 'closed' : 'not_reached')),
    )
    expect(closedIn(steps)[0]?.sentence).toBeTruthy()
  })

  it('are all passed by one that became a run', () => {
    const due = because('due', 'timing', { nominal: 'then', superseded: 0 })
    expect(new Set(policySteps(due).map(({ state }) => state))).toEqual(new Set(['passed']))
  })

  it('end with overlap when it took the place of others', () => {
    const due = because('due', 'timing', { nominal: 'then', superseded: 2 })
    expect(statesOf(policySteps(due))).toMatchObject({ overlap: 'passed', failure: 'not_reached' })
  })
})

describe('the gates of admission', () => {
  it('are those that are walked, and the last is the session', () => {
    expect(ADMISSION_GATES).toEqual(['budget', 'daily_runs', 'task_queue', 'session'])
  })

  const namesFor = (trigger: Trigger): readonly string[] =>
    admissionSteps({ trigger, decision: ACCEPTED }).map(({ name }) => name)

  it('come after the request, whose checks were made where it arrived', () => {
    expect(namesFor('message')).toEqual(['request', ...ADMISSION_GATES])
    expect(admissionSteps({ trigger: 'task', decision: ACCEPTED })[0]?.sentence).toContain('where the request arrived')
  })

  it('are only those that were asked: a heartbeat is no request, a retry counts as a run of the day', () => {
    expect(namesFor('heartbeat')).toEqual(ADMISSION_GATES)
    expect(namesFor('retry')).toEqual(['request', 'daily_runs'])
  })

  it('are passed up to the one that rejected it', () => {
    const full = because('session_queue_full', 'session.drop=new', { waiting: 10, cap: 10 })
    const statesFor = (decision: Why) => statesOf(admissionSteps({ trigger: 'task', decision }))
    expect(statesFor(full)).toMatchObject({ task_queue: 'passed', session: 'closed' })
    const many = because('agent_queue_full', 'tasks.max_per_agent', { queued: 1, max_per_agent: 1, agent: 'a' })
    expect(statesFor(many)).toMatchObject({ daily_runs: 'passed', task_queue: 'closed', session: 'not_reached' })
  })
})

describe('the gates before a start', () => {
  const limit = because('agent_limit', 'agent.max_concurrent', { in_flight: 2, limit: 2, agent: 'a' })

  it.each(GATE_NAMES)('are passed up to %s, which is closed', (gate) => {
    const steps = gateSteps(aRun({ wait: { ...limit, gate } }))
    const end = GATE_NAMES.indexOf(gate)
    expect(steps.map(({ name }) => name)).toEqual([...GATE_NAMES, 'turn'])
    expect(steps.slice(0, end).every(({ state }) => state === 'passed')).toBe(true)
    expect(steps[end]).toMatchObject({ state: 'closed', sentence: '2 of 2 runs of agent a are in flight.' })
    expect(steps.slice(end + 1).every(({ state }) => state === 'not_reached')).toBe(true)
  })

  it('are all open to one that only waits for its turn', () => {
    const steps = gateSteps(aRun({ wait: { ...because('in_line', 'picking_order', { position: 3 }), gate: null } }))
    expect(closedIn(steps)).toMatchObject([{ name: 'turn' }])
    expect(steps.slice(0, -1).every(({ state }) => state === 'passed')).toBe(true)
  })

  it('end with hands where workers do the work', () => {
    const busy = because('worker_busy', 'gate:worker', { agent: 'a', held: 2, capacity: 2 })
    const names = gateSteps(aRun({ wait: { ...busy, gate: 'worker' } })).map(({ name }) => name)
    expect(names).toContain('worker')
    expect(names).not.toContain('lane')
  })

  it.each([
    ['running', NOW, 'passed'],
    ['success', NOW, 'passed'],
    ['skipped', null, 'not_reached'],
    ['rejected', null, 'not_reached'],
    ['expired', null, 'not_reached'],
  ] as const)('of one that is %s are %s', (state, startedAt, wanted) => {
    const steps = gateSteps(aRun({ state, startedAt }))
    expect(new Set(steps.map((step) => step.state))).toEqual(new Set([wanted]))
  })

  it('say so when it is not kept where it waited', () => {
    expect(gateSteps(aRun({ state: 'expired' }))[0]?.sentence).toContain('is not recorded')
    expect(gateSteps(aRun({ state: 'rejected' }))[0]?.sentence).toBeNull()
  })

  it('hold back what waits for a moment', () => {
    const retry = because('retry_scheduled', 'retry_policy', { attempt: 1, error_code: 'network', retry_at: 'soon' })
    expect(closedIn(gateSteps(aRun({ state: 'waiting', why: retry })))).toMatchObject([{ name: 'not_before' }])
  })
})

describe('attempts', () => {
  it('are told one by one', () => {
    const attempt = { number: 1, startedAt: NOW, finishedAt: later(NOW, 1_500), errorCode: 'network', nodeId: 'nod_1' }
    expect(executionSteps([])).toMatchObject([{ state: 'not_reached' }])
    expect(
      executionSteps([
        { ...attempt, status: 'failed' },
        { ...attempt, number: 2, status: null, finishedAt: null },
      ]),
    ).toMatchObject([
      { name: 'attempt 1', state: 'closed', sentence: 'Failed after 1.5 s on nod_1: network.' },
      { name: 'attempt 2', state: 'passed' },
    ])
    const said = { ...attempt, status: 'failed', errorMessage: 'the host did not answer.' } as const
    expect(executionSteps([said])[0]?.sentence).toBe('Failed after 1.5 s on nod_1: network, the host did not answer.')
  })
})
