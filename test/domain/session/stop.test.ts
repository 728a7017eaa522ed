import { describe, expect, it } from 'vitest'
import { decideCancel, decideManualRetry, isAbandoned } from '../../../src/domain/run/cancellation.ts'
import { attemptId, runId } from '../../../src/domain/ids.ts'
import { later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { decideCallback, decideReport } from '../../../src/domain/run/reports.ts'
import { isTerminal, RUN_STATES } from '../../../src/domain/run/run-machine.ts'
import {
  parseSessionCommand,
  planReset,
  planStop,
  planStopAll,
  type StopPlan,
} from '../../../src/domain/session/stop.ts'
import { aSessionRun, NOW } from '../../support/builders.ts'

const stop = { now: NOW, stopGraceMs: 5_000 }
const run = (id: string, state: Parameters<typeof aSessionRun>[1]): ReturnType<typeof aSessionRun> =>
  aSessionRun(id, state)
const ids = (
  plan: Pick<StopPlan, 'stopped' | 'drained'>,
): { stopped: readonly string[]; drained: readonly string[] } => ({
  stopped: plan.stopped.map((one) => one.runId),
  drained: plan.drained.map((one) => one.runId),
})

describe('the commands of a session', () => {
  it.each([
    ['/stop', 'stop'],
    ['  /STOP\n', 'stop'],
    ['/stop@my_bot', 'stop'],
    ['/StopAll', 'stopall'],
    ['/stopall@bot', 'stopall'],
    ['/stop now', null],
    ['please /stop', null],
    ['/stopit', null],
    ['stop', null],
    ['/stop@', null],
    ['', null],
  ])('%j is %s', (text, command) => {
    expect(parseSessionCommand(text)).toBe(command)
  })
})

describe('/stop', () => {
  const three = [
    run('r3', { state: 'running', seq: 3 }),
    run('r1', { state: 'running', seq: 1 }),
    run('r2', { state: 'running', seq: 2 }),
    run('r4', { seq: 4 }),
    run('r5', { seq: 5 }),
  ]

  it('cancels the oldest active run, and the rest goes on', () => {
    expect(ids(planStop(three, stop))).toEqual({ stopped: ['r1'], drained: [] })
  })

  it('passes over what is stopping already', () => {
    const runs = three.map((one) => (one.id === 'r1' ? { ...one, state: 'stopping' as const } : one))
    expect(ids(planStop(runs, stop)).stopped).toEqual(['r2'])
  })

  it('reaches a run in retry back-off and one that awaits its callback, and ends both at once', () => {
    const backoff = run('b', { state: 'waiting', seq: 1, attempt: 2 })
    expect(planStop([backoff], stop).stopped).toMatchObject([{ runId: 'b', to: 'cancelled', graceUntil: null }])
    const called = run('c', { state: 'awaiting_callback', seq: 1 })
    expect(planStop([called], stop).stopped).toMatchObject([{ runId: 'c', to: 'cancelled' }])
  })

  it('does nothing when nothing is active', () => {
    expect(planStop([run('r', { seq: 1 })], stop)).toEqual({
      stopped: [],
      drained: [],
      why: because('stopped', '/stop'),
      cutoff: null,
    })
  })
})

describe('/stopall', () => {
  it('cancels two running and drains three waiting, and sets the cutoff', () => {
    const plan = planStopAll(
      [
        run('r1', { state: 'running', seq: 1 }),
        run('r2', { state: 'running', seq: 2 }),
        run('r3', { seq: 3 }),
        run('r4', { seq: 4 }),
        run('d', { state: 'waiting' }),
      ],
      stop,
    )
    expect(ids(plan)).toEqual({ stopped: ['r1', 'r2'], drained: ['r3', 'r4', 'd'] })
    expect(plan.cutoff).toBe(NOW)
    expect(plan.stopped[0]).toMatchObject({ to: 'stopping', graceUntil: later(NOW, 5_000) })
  })
})

describe('whoever is stopped together', () => {
  const mixed = [
    run('r2', { state: 'running', seq: 2 }),
    run('w4', { seq: 4 }),
    run('r1', { state: 'running', seq: 1 }),
    run('d', { state: 'waiting' }),
    run('w3', { seq: 3 }),
  ]

  it('is stopped in the order of the session, in whatever order it was loaded', () => {
    expect(ids(planStopAll(mixed, stop))).toEqual({ stopped: ['r1', 'r2'], drained: ['w3', 'w4', 'd'] })
    const reset = planReset({ generation: 0, runs: mixed }, stop)
    expect([reset.cancelled, reset.cleared].map((list) => list.map((one) => one.runId))).toEqual([
      ['r1', 'r2'],
      ['w3', 'w4', 'd'],
    ])
  })

  it('is passed over when it is stopping already', () => {
    const stopping = [run('s', { state: 'stopping', seq: 1 })]
    expect(ids(planStopAll(stopping, stop))).toEqual({ stopped: [], drained: [] })
  })
})

describe('/stopall of a channel with its own clock', () => {
  it('cuts off at the moment it was sent, so that a message sent later runs although it arrived before', () => {
    const sentAt = later(NOW, -300)
    expect(planStopAll([], { ...stop, sentAt }).cutoff).toBe(sentAt)
    expect(planStopAll([], { ...stop, sentAt: null }).cutoff).toBe(NOW)
  })
})

describe('a reset', () => {
  it('begins a new generation, clears what waits and cancels what is active', () => {
    const runs = [run('r1', { state: 'running', seq: 1 }), run('r2', { seq: 2 })]
    const plan = planReset({ generation: 4, runs }, stop)
    expect(plan.generation).toBe(5)
    expect(plan.cleared).toMatchObject([{ runId: 'r2', to: 'cancelled', why: { reason: 'lane_cleared' } }])
    expect(plan.cancelled).toMatchObject([{ runId: 'r1', to: 'stopping' }])
  })
})

describe('cancelling a run', () => {
  const cancel = { ...stop, why: because('cancelled', 'cancel') }

  it.each(RUN_STATES)('while %s follows the run machine', (state) => {
    const decision = decideCancel({ id: runId('r'), state }, cancel)
    if (isTerminal(state)) expect(decision).toEqual({ kind: 'ended', state })
    else if (state === 'stopping') expect(decision.kind).toBe('already_stopping')
    else
      expect(decision).toMatchObject({
        kind: 'cancel',
        cancellation: { to: state === 'running' ? 'stopping' : 'cancelled' },
      })
  })

  it('is given up when the holder is gone or its grace has passed', () => {
    const stopping = { graceUntil: later(NOW, 5_000), leaseUntil: later(NOW, 15_000) }
    expect(isAbandoned(stopping, NOW)).toBe(false)
    expect(isAbandoned(stopping, later(NOW, 5_000))).toBe(true)
    expect(isAbandoned({ ...stopping, leaseUntil: NOW }, NOW)).toBe(true)
  })

  it.each(RUN_STATES)('then retrying by hand from %s', (state) => {
    const plain = decideManualRetry(state, false).kind
    expect(plain).toBe(!isTerminal(state) ? 'not_ended' : state === 'success' ? 'needs_force' : 'retry')
    expect(decideManualRetry(state, true).kind).toBe(isTerminal(state) ? 'retry' : 'not_ended')
  })
})

describe('a report from outside', () => {
  const current = { state: 'running', attemptId: attemptId('a2'), attemptGeneration: 1, sessionGeneration: 1 } as const

  it('counts only for the current attempt', () => {
    expect(decideReport(current, attemptId('a2'))).toEqual({ kind: 'apply' })
    expect(decideReport(current, attemptId('a1'))).toMatchObject({ kind: 'stale_report' })
  })

  it.each(RUN_STATES)('never changes a run that nobody executes: %s', (state) => {
    const inFlight = ['assigned', 'running', 'awaiting_callback', 'stopping'].includes(state)
    expect(decideReport({ ...current, state }, attemptId('a2')).kind).toBe(inFlight ? 'apply' : 'stale_report')
  })

  it('of an older generation reaches its caller and nothing else', () => {
    expect(decideReport({ ...current, sessionGeneration: 2 }, attemptId('a2'))).toEqual({ kind: 'old_generation' })
  })
})

describe('a callback', () => {
  const waiting = {
    state: 'awaiting_callback',
    attemptId: attemptId('a1'),
    callbackUntil: later(NOW, 300_000),
  } as const
  const token = { attemptId: attemptId('a1') }

  it('settles the run once', () => {
    expect(decideCallback(waiting, token, NOW).kind).toBe('settle')
    expect(decideCallback({ ...waiting, state: 'success' }, token, NOW).kind).toBe('ignored')
  })

  it('is ignored when it speaks for an earlier attempt or a stopping run', () => {
    expect(decideCallback({ ...waiting, attemptId: attemptId('a2') }, token, NOW).kind).toBe('ignored')
    expect(decideCallback({ ...waiting, state: 'stopping' }, token, NOW).kind).toBe('ignored')
  })

  it('may overtake its own 202', () => {
    expect(decideCallback({ ...waiting, state: 'running', callbackUntil: null }, token, NOW).kind).toBe('settle')
  })

  it('comes too late at its deadline', () => {
    expect(decideCallback(waiting, token, later(NOW, 300_000)).kind).toBe('too_late')
  })
})
