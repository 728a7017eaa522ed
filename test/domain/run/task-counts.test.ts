import { describe, expect, it } from 'vitest'
import { agentId } from '../../../src/domain/ids.ts'
import { instant } from '../../../src/domain/instant.ts'
import { RUN_STATES, isTerminal } from '../../../src/domain/run/run-machine.ts'
import { countTasks, type CountedTask } from '../../../src/domain/run/ended-counts.ts'

const aTask = (change: Partial<CountedTask> = {}): CountedTask => ({
  ...{ agentId: agentId('a'), trigger: 'task', state: 'success', createdAt: instant(1_000) },
  ...{ startedAt: instant(1_250), attempt: 1, firstAttempt: 1, ...change },
})

const unstarted = { startedAt: null }

describe('counting tasks', () => {
  it('counts nothing of what has not ended or is no task', () => {
    expect(countTasks([], [])).toBeNull()
    const others = RUN_STATES.filter((state) => !isTerminal(state)).map((state) => aTask({ state }))
    expect(countTasks([...others, aTask({ trigger: 'message' }), aTask({ trigger: 'retry' })], [])).toBeNull()
  })

  it('counts every ending once, by agent', () => {
    const counts = countTasks(
      [
        ...[aTask(), aTask({ state: 'failed' }), aTask({ state: 'timeout' })],
        ...[aTask({ state: 'cancelled' }), aTask({ state: 'cancelled', ...unstarted })],
        ...[aTask({ state: 'expired', ...unstarted }), aTask({ state: 'rejected', ...unstarted })],
        aTask({ agentId: agentId('__proto__') }),
      ],
      [],
    )
    const a = { completed: 1, failed: 2, cancelled: 2, expired: 1, rejected: 1, dispatched: 4, dispatch_ms: 1_000 }
    expect(counts?.['a']).toEqual(a)
    expect(Object.keys(counts ?? {})).toEqual(['a', '__proto__'])
  })

  it('counts the first start of what is tried again when it is tried again, and not at its end', () => {
    const task = aTask({ state: 'waiting', attempt: 2 })
    expect(countTasks([task], [{ task, startedAt: instant(1_400) }])).toEqual({
      a: { dispatched: 1, dispatch_ms: 400 },
    })
    expect(countTasks([aTask({ attempt: 2, startedAt: instant(9_000) })], [])).toEqual({ a: { completed: 1 } })
  })

  it('takes a clock that was set back for no time at all', () => {
    expect(countTasks([aTask({ startedAt: instant(900) })], [])?.['a']).toMatchObject({ dispatch_ms: 0 })
  })
})
