import { describe, expect, it } from 'vitest'
import {
  eventsOf,
  FIRST_STATES,
  isPending,
  isTerminal,
  nextState,
  RUN_STATES,
  type RunEvent,
  type RunState,
} from '../../../src/domain/run/run-machine.ts'

const ENDINGS: readonly RunEvent[] = ['succeed', 'retry', 'give_up', 'time_out', 'stopped']

describe('the run machine', () => {
  it('knows fourteen states, eight of them terminal', () => {
    expect(RUN_STATES).toHaveLength(14)
    expect(RUN_STATES.filter(isTerminal)).toEqual([
      'success',
      'failed',
      'timeout',
      'cancelled',
      'skipped',
      'dropped',
      'rejected',
      'expired',
    ])
  })

  it('never leaves a terminal state', () => {
    for (const state of RUN_STATES.filter(isTerminal)) expect(eventsOf(state)).toEqual([])
  })

  it('can reach every state from the states a run begins in', () => {
    const reached = new Set(FIRST_STATES)
    for (const state of reached) for (const event of eventsOf(state)) reached.add(nextState(state, event) ?? state)
    expect([...reached].toSorted()).toEqual(RUN_STATES.toSorted())
  })

  it('lets every pending state end', () => {
    for (const start of RUN_STATES.filter(isPending)) {
      const reached = new Set<RunState>([start])
      for (const state of reached) for (const event of eventsOf(state)) reached.add(nextState(state, event) ?? state)
      expect([...reached].some(isTerminal), start).toBe(true)
    }
  })

  it.each(['running', 'awaiting_callback', 'stopping'] as const)(
    'has a row for every ending an attempt can have while %s',
    (state) => {
      for (const ending of ENDINGS) expect(nextState(state, ending), ending).toBeDefined()
    },
  )

  it('fixes the ending once a run was asked to stop', () => {
    for (const event of [...ENDINGS, 'accept'] as const) expect(nextState('stopping', event)).toBe('cancelled')
  })

  it.each([
    ['waiting', 'cancelled'],
    ['queued', 'cancelled'],
    ['assigned', 'cancelled'],
    ['awaiting_callback', 'cancelled'],
    ['running', 'stopping'],
    ['stopping', 'stopping'],
  ] as const)('turns a cancel while %s into %s', (from, to) => {
    expect(nextState(from, 'cancel')).toBe(to)
  })

  it('drops and expires only what has not begun', () => {
    expect(RUN_STATES.filter((state) => nextState(state, 'drop') !== undefined)).toEqual(['waiting', 'queued'])
    expect(RUN_STATES.filter((state) => nextState(state, 'expire') !== undefined)).toEqual([
      'waiting',
      'queued',
      'assigned',
    ])
  })
})
