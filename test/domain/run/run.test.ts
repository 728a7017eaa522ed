import { describe, expect, it } from 'vitest'
import { isTerminal, RUN_STATES } from '../../../src/domain/run/run-machine.ts'
import { isActive, isInFlight, isRetrying, isWaitingRun } from '../../../src/domain/run/run.ts'

const first = { attempt: 1, firstAttempt: 1 }
const again = { attempt: 3, firstAttempt: 2 }

describe('what a run holds', () => {
  it('is a place in flight while somebody works on it or will report', () => {
    expect(RUN_STATES.filter(isInFlight)).toEqual(['assigned', 'running', 'awaiting_callback', 'stopping'])
  })
})

describe('active and waiting work', () => {
  it('are apart, and together everything pending, on a first attempt and on a later one', () => {
    for (const attempts of [first, again])
      for (const state of RUN_STATES) {
        const run = { state, ...attempts }
        expect([isActive(run), isWaitingRun(run), isTerminal(state)].filter(Boolean), state).toHaveLength(1)
      }
  })

  it('differ by whether the run has executed: back-off is active, a first wait is not', () => {
    expect(RUN_STATES.filter((state) => isRetrying({ state, ...again }))).toEqual(['waiting', 'queued'])
    expect(RUN_STATES.filter((state) => isRetrying({ state, ...first }))).toEqual([])
    expect(RUN_STATES.filter((state) => isWaitingRun({ state, ...first }))).toEqual(['waiting', 'queued'])
    expect(RUN_STATES.filter((state) => isWaitingRun({ state, ...again }))).toEqual([])
  })
})
