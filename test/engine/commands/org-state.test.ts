import { describe, expect, it } from 'vitest'
import { attemptId, runId } from '../../../src/domain/ids.ts'
import { formatInstant, later } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import type { MessageContent } from '../../../src/domain/session/debounce.ts'
import { cancelRun, stopSession } from '../../../src/engine/commands/cancel.ts'
import { fire, runNow } from '../../../src/engine/commands/fire.ts'
import { settleDue, applyReport } from '../../../src/engine/commands/settle.ts'
import { submit } from '../../../src/engine/commands/submit.ts'
import { NOW } from '../../support/builders.ts'
import { at, timingOf } from '../../support/schedules.ts'
import { expectExplained } from '../../support/why.ts'
import { aMessage, aScheduleOn, aSessionOn, aTask, openCabinet, type Cabinet } from './cabinet.ts'

const succeed = ({ desk }: Cabinet, run: ReturnType<Cabinet['start']>): void => {
  applyReport(desk, run, {
    attemptId: run.attemptId ?? attemptId('none'),
    outcome: { kind: 'succeeded' },
    output: 'ok',
  })
}
const failed = { kind: 'failed', errorCode: 'agent_error', retryable: null, retryAfterMs: null } as const

describe('a session on the desk', () => {
  it('with cap 2 and drop old: r2 is dropped at once, r3 and r4 wait', () => {
    const cabinet = openCabinet()
    aSessionOn(cabinet, { cap: 2 })
    submit(cabinet.desk, aMessage('1'))
    cabinet.start('r1')
    for (const text of ['2', '3', '4']) submit(cabinet.desk, aMessage(text))
    expect(cabinet.states()).toEqual({ r1: 'running', r2: 'dropped', r3: 'queued', r4: 'queued' })
    expect(cabinet.desk.changes.events).toContainEqual(
      expect.objectContaining({ kind: 'message.dropped', subject: 'r2' }),
    )
    expectExplained(cabinet.run('r2').why ?? because('accepted', 'x'))
  })

  it('with drop new keeps the record of the refused one', () => {
    const cabinet = openCabinet()
    aSessionOn(cabinet, { cap: 1, drop: 'new' })
    submit(cabinet.desk, aMessage('1'))
    expect(submit(cabinet.desk, aMessage('2'))).toMatchObject({ kind: 'rejected', runId: 'r2' })
    expect(cabinet.run('r2')).toMatchObject({ state: 'rejected', finishedAt: NOW })
  })

  it('merges three messages of one sender into one run with three lines, and two senders into two', () => {
    const cabinet = openCabinet()
    aSessionOn(cabinet, { debounceMs: 800 })
    for (const text of ['a', 'b', 'c']) {
      submit(cabinet.desk, aMessage(text, { sender: 'ann' }))
      cabinet.pass(500)
    }
    submit(cabinet.desk, aMessage('x', { sender: 'bob' }))
    expect((cabinet.run('r1').payload as MessageContent).text).toBe('a\nb\nc')
    expect(cabinet.states()).toEqual({ r1: 'waiting', r2: 'waiting' })
    cabinet.pass(800)
    for (const run of cabinet.desk.runs.values()) settleDue(cabinet.desk, run, null)
    expect(cabinet.run('r1')).toMatchObject({ state: 'queued', seq: 1 })
  })

  it('in mode interrupt cancels what runs and drains what waits', () => {
    const cabinet = openCabinet()
    aSessionOn(cabinet, { mode: 'interrupt' })
    submit(cabinet.desk, aMessage('1', { rules: { mode: 'queue' } }))
    cabinet.start('r1')
    submit(cabinet.desk, aMessage('2', { rules: { mode: 'queue' } }))
    submit(cabinet.desk, aMessage('3'))
    expect(cabinet.states()).toEqual({ r1: 'stopping', r2: 'cancelled', r3: 'queued' })
    cabinet.pass(5_000)
    settleDue(cabinet.desk, cabinet.run('r1'), null)
    expect(cabinet.states()).toMatchObject({ r1: 'cancelled' })
  })

  it('after /stopall runs only what was sent later', () => {
    const cabinet = openCabinet()
    const key = aSessionOn(cabinet, { debounceMs: 800 })
    submit(cabinet.desk, aMessage('early', { sender: 'ann' }))
    cabinet.pass(100)
    expect(stopSession(cabinet.desk, key, { how: 'stopall' })).toEqual({ stopped: 0, drained: 1 })
    expect(submit(cabinet.desk, aMessage('late letter', { sentAt: NOW }))).toMatchObject({ kind: 'stale' })
    cabinet.pass(1)
    expect(submit(cabinet.desk, aMessage('after'))).toMatchObject({ kind: 'accepted' })
    expect(cabinet.states()).toEqual({ r1: 'cancelled', r2: 'cancelled', r3: 'queued' })
  })

  it('after a reset is told of a late completion, which changes no other run', () => {
    const cabinet = openCabinet()
    const key = aSessionOn(cabinet)
    submit(cabinet.desk, aMessage('1'))
    const first = cabinet.start('r1')
    submit(cabinet.desk, aMessage('2'))
    expect(stopSession(cabinet.desk, key, { how: 'reset' })).toEqual({ stopped: 1, drained: 1 })
    const report = { attemptId: first.attemptId ?? attemptId('none'), outcome: { kind: 'succeeded' } } as const
    expect(applyReport(cabinet.desk, first, report).kind).toBe('old_generation')
    expect(cabinet.states()).toEqual({ r1: 'cancelled', r2: 'cancelled' })
  })

  it('remembers how many runs a message wanted at once', () => {
    const cabinet = openCabinet()
    const key = aSessionOn(cabinet)
    submit(cabinet.desk, aMessage('1', { rules: { maxConcurrent: 3 } }))
    expect(cabinet.desk.sessions.get(key)?.own.maxConcurrent).toBe(3)
    expect(cabinet.desk.changes.sessions.size).toBe(1)
  })
})

describe('tasks on the desk', () => {
  it('are refused from the fourth queued of an agent on when its limit is three', () => {
    const cabinet = openCabinet()
    const kinds = [1, 2, 3, 4].map(() => submit(cabinet.desk, aTask()).kind)
    expect(kinds).toEqual(['accepted', 'accepted', 'accepted', 'rejected'])
    cabinet.start('r1')
    expect(submit(cabinet.desk, aTask()).kind).toBe('accepted')
  })

  it('are not retried', () => {
    const cabinet = openCabinet()
    submit(cabinet.desk, aTask())
    const run = cabinet.start('r1')
    applyReport(cabinet.desk, run, { attemptId: run.attemptId ?? attemptId('none'), outcome: failed })
    expect(run).toMatchObject({ state: 'failed', errorCode: 'agent_error' })
  })

  it('expire at their deadline and not a moment later', () => {
    const cabinet = openCabinet()
    submit(cabinet.desk, aTask({ deadline: later(NOW, 20) }))
    cabinet.pass(500)
    settleDue(cabinet.desk, cabinet.run('r1'), null)
    expect(cabinet.run('r1')).toMatchObject({ state: 'expired', finishedAt: later(NOW, 20) })
  })
})

describe('attempts on the desk', () => {
  it('fail twice and then work: one run, success on attempt 3', () => {
    const cabinet = openCabinet()
    aSessionOn(cabinet)
    submit(cabinet.desk, aMessage('1'))
    const run = cabinet.run('r1')
    for (const outcome of [failed, failed, { kind: 'succeeded' } as const]) {
      const { attemptId: current } = cabinet.start('r1')
      applyReport(cabinet.desk, run, { attemptId: current ?? attemptId('none'), outcome })
      cabinet.pass(10_000)
      settleDue(cabinet.desk, run, null)
    }
    expect(run).toMatchObject({ state: 'success', attempt: 3, errorCode: null, seq: 1 })
  })

  it('are fenced: a report for an earlier attempt changes nothing', () => {
    const cabinet = openCabinet()
    aSessionOn(cabinet)
    submit(cabinet.desk, aMessage('1'))
    cabinet.start('r1')
    const stale = { attemptId: attemptId('a0'), outcome: { kind: 'succeeded' } } as const
    expect(applyReport(cabinet.desk, cabinet.run('r1'), stale).kind).toBe('stale_report')
    expect(cabinet.run('r1').state).toBe('running')
  })

  it('of a lost node are tried again', () => {
    const cabinet = openCabinet()
    aSessionOn(cabinet)
    submit(cabinet.desk, aMessage('1'))
    const run = cabinet.start('r1')
    settleDue(cabinet.desk, run, cabinet.desk.now)
    expect(run).toMatchObject({ state: 'waiting', attempt: 2, nodeId: null, attemptId: null, errorCode: 'node_lost' })
  })

  it('that were accepted wait for their callback, and time out without one', () => {
    const cabinet = openCabinet()
    submit(cabinet.desk, aTask())
    const run = cabinet.start('r1')
    applyReport(cabinet.desk, run, { attemptId: run.attemptId ?? attemptId('none'), outcome: { kind: 'accepted' } })
    expect(run).toMatchObject({ state: 'awaiting_callback', endsBy: later(NOW, 300_000), nodeId: null })
    cabinet.pass(300_000)
    settleDue(cabinet.desk, run, null)
    expect(run).toMatchObject({ state: 'timeout', errorCode: 'callback_timeout' })
    expect(run.errorMessage).toMatch(/^no callback arrived within 300 s; increase timeout_seconds /)
  })

  it.each([
    [null, /^it had not ended within 2.5 s; increase timeout_seconds /],
    [later(NOW, 2_500), `it had not ended by its deadline, ${formatInstant(later(NOW, 2_500))}`],
  ])('that take too long say how long they had, or which deadline they missed: %s', (deadline, said) => {
    const cabinet = openCabinet()
    submit(cabinet.desk, aTask())
    const run = cabinet.start('r1')
    Object.assign(run, { deadline, endsBy: later(NOW, 2_500) })
    cabinet.pass(4_000)
    settleDue(cabinet.desk, run, null)
    expect(run).toMatchObject({ state: 'timeout', errorCode: 'timeout' })
    expect(run.errorMessage).toMatch(said)
  })

  it('are asked to stop once, and the chat is told nothing once', () => {
    const cabinet = openCabinet()
    aSessionOn(cabinet)
    submit(cabinet.desk, aMessage('1'))
    const run = cabinet.start('r1')
    const cancel = because('cancelled', 'cancel')
    expect(cancelRun(cabinet.desk, runId('r1'), cancel)).toMatchObject({ kind: 'cancel' })
    expect(cancelRun(cabinet.desk, runId('r1'), cancel)).toEqual({ kind: 'already_stopping' })
    succeed(cabinet, run)
    expect(run.state).toBe('cancelled')
    expect(cabinet.desk.changes.events.filter((event) => event.kind === 'outbound')).toHaveLength(1)
  })
})

describe('a schedule on the desk', () => {
  const minutely = timingOf({ cron: '* * * * *' })
  const next = (cabinet: Cabinet): void => {
    cabinet.pass(60_000)
    fire(cabinet.desk, schedule)
  }
  const schedule = aScheduleOn(openCabinet(), minutely)

  it('parks what has no slot and gives a freed slot to the oldest', () => {
    const cabinet = openCabinet()
    aScheduleOn(cabinet, minutely)
    next(cabinet)
    const first = cabinet.start('r1')
    next(cabinet)
    next(cabinet)
    expect([cabinet.run('r2').slot, cabinet.run('r3').slot, cabinet.run('r2').seq]).toEqual(['parked', 'parked', null])
    succeed(cabinet, first)
    expect([first.slot, cabinet.run('r2').slot, cabinet.run('r3').slot]).toEqual([null, 'held', 'parked'])
    expect(cabinet.run('r2').seq).toBe(2)
  })

  it('under CANCEL_PREV replaces what runs, and the replaced run still ends by itself', () => {
    const cabinet = openCabinet()
    aScheduleOn(cabinet, minutely, { overlapAction: 'CANCEL_PREV', concurrencyPolicy: 'SKIP' })
    next(cabinet)
    cabinet.start('r1')
    next(cabinet)
    expect(cabinet.states()).toEqual({ r1: 'stopping', r2: 'queued' })
    expect(cabinet.run('r1')).toMatchObject({ superseded: true, slot: null })
    expectExplained(cabinet.run('r1').why ?? because('accepted', 'x'))
  })

  it('counts attempts on under failure action RETRY', () => {
    const cabinet = openCabinet()
    aScheduleOn(cabinet, minutely, { failureAction: 'RETRY' })
    for (const id of ['r1', 'r2', 'r3']) {
      next(cabinet)
      const run = cabinet.start(id)
      applyReport(cabinet.desk, run, { attemptId: run.attemptId ?? attemptId('none'), outcome: failed })
    }
    expect(['r1', 'r2', 'r3'].map((id) => cabinet.run(id).attempt)).toEqual([1, 2, 3])
    expect(cabinet.desk.schedules.get(schedule)).toMatchObject({
      failureStreak: 3,
      failureCount: 3,
      lastStatus: 'failed',
    })
  })

  it('keeps a long gap as one record and looks next at the next occurrence', () => {
    const cabinet = openCabinet()
    aScheduleOn(cabinet, minutely)
    cabinet.pass(3 * 86_400_000)
    fire(cabinet.desk, schedule)
    expect(cabinet.desk.changes.ranges).toMatchObject([{ count: 3 * 1440 - 1, why: { reason: 'misfire' } }])
    expect(cabinet.desk.schedules.get(schedule)?.nextRunAt).toBe(at('2026-01-18T12:01:00Z'))
  })

  it('decides nothing twice, and nothing while it is paused', () => {
    const cabinet = openCabinet()
    aScheduleOn(cabinet, minutely)
    next(cabinet)
    fire(cabinet.desk, schedule)
    expect(cabinet.desk.runs.size).toBe(1)
    const row = cabinet.desk.schedules.get(schedule)
    if (row !== undefined) row.state = 'paused'
    next(cabinet)
    expect(cabinet.desk.runs.size).toBe(1)
  })

  it('that was a reminder is deleted by success and kept by failure', () => {
    const reminder = timingOf({ at: '2026-01-15T12:01:00Z' })
    for (const [outcome, gone] of [
      [{ kind: 'succeeded' } as const, true],
      [{ ...failed, retryable: false }, false],
    ] as const) {
      const cabinet = openCabinet()
      aScheduleOn(cabinet, reminder)
      next(cabinet)
      const run = cabinet.start('r1')
      applyReport(cabinet.desk, run, { attemptId: run.attemptId ?? attemptId('none'), outcome })
      expect(cabinet.desk.changes.deletedSchedules.size === 1).toBe(gone)
      expect(cabinet.desk.schedules.get(schedule)?.state).toBe(gone ? undefined : 'failed')
    }
  })

  it('runs now although it is paused, unless every slot is taken and the policy skips', () => {
    const cabinet = openCabinet()
    aScheduleOn(cabinet, minutely, { concurrencyPolicy: 'SKIP' })
    const row = cabinet.desk.schedules.get(schedule)
    if (row !== undefined) row.state = 'paused'
    expect(runNow(cabinet.desk, schedule, { mode: 'force' })).toMatchObject({ kind: 'run', runId: 'r1' })
    expect(runNow(cabinet.desk, schedule, { mode: 'force' })).toMatchObject({ kind: 'refuse' })
    expect(cabinet.run('r1').jobRunId).toContain('/manual:r1')
  })
})

describe('a turn that queues more than a million runs', () => {
  it('gives those beyond the last place too, below every place of the next turn', () => {
    const cabinet = openCabinet()
    const key = aSessionOn(cabinet)
    cabinet.desk.transactionNo = 5
    cabinet.desk.positionsAssigned = 1_000_000
    submit(cabinet.desk, aMessage('beyond', { sessionKey: key }))
    expect(cabinet.run('r1')).toMatchObject({ state: 'queued', seq: 5_999_999 })
  })
})
