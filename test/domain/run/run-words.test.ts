import { describe, expect, it } from 'vitest'
import { RUN_STATES } from '../../../src/domain/run/run-machine.ts'
import { MAX_LISTED_FLAWS } from '../../../src/domain/input.ts'
import { facadeStateOf, parseRunStates, rpcStatusOf, statesOfFacade } from '../../../src/domain/run/run-words.ts'

describe('the words of the task façade', () => {
  it.each([
    ['waiting', 'queued'],
    ['queued', 'queued'],
    ['assigned', 'assigned'],
    ['running', 'running'],
    ['awaiting_callback', 'running'],
    ['stopping', 'cancelled'],
    ['success', 'done'],
    ['failed', 'failed'],
    ['timeout', 'failed'],
    ['expired', 'failed'],
    ['cancelled', 'cancelled'],
    ['rejected', 'rejected'],
  ] as const)('%s is %s', (state, word) => {
    expect(facadeStateOf(state)).toBe(word)
  })

  it('cover every state, there and back', () => {
    for (const state of RUN_STATES) expect(statesOfFacade(facadeStateOf(state))).toContain(state)
    expect(statesOfFacade('failed')).toEqual(['failed', 'timeout', 'expired'])
  })

  it('know two endings in cron.runs', () => {
    expect(rpcStatusOf('success')).toBe('ok')
    expect(rpcStatusOf('timeout')).toBe('error')
    expect(rpcStatusOf('running')).toBeNull()
  })
})

describe('a filter by state', () => {
  it.each([
    ['queued', ['queued']],
    ['SCHEDULED', ['queued']],
    ['Canceled,failed_timeout', ['cancelled', 'timeout']],
    [' success , failed ', ['success', 'failed']],
    ['queued,SCHEDULED', ['queued']],
  ])('%j means %j', (text, states) => {
    expect(parseRunStates('status', text)).toEqual({ ok: true, value: states })
  })

  it.each([['done'], [''], [7], ['queued,'], ['constructor']])('%j is refused', (value) => {
    const read = parseRunStates('status', value)
    expect(!read.ok && read.flaws[0]).toMatchObject({ field: 'status', allowed: RUN_STATES.join(', ') })
  })

  it('half a million unknown ones are refused with the first of them', () => {
    const read = parseRunStates('status', 'x,'.repeat(500_000))
    expect(!read.ok && read.flaws).toHaveLength(MAX_LISTED_FLAWS)
  })
})
