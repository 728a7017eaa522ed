import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decideHeartbeatEnding, type HeartbeatEndingFacts } from '../../../src/domain/heartbeat/heartbeat-ending.ts'
import { instant } from '../../../src/domain/instant.ts'
import { because } from '../../../src/domain/reasons.ts'
import { isTerminal, RUN_STATES, type TerminalState } from '../../../src/domain/run/run-machine.ts'
import { expectExplained } from '../../support/why.ts'

const NOON = instant(Date.parse('2026-01-15T12:00:00Z'))
const ENDED = because('completed', 'report')

const theFacts = (over: Partial<HeartbeatEndingFacts> = {}): HeartbeatEndingFacts => ({
  ...{ ending: 'success', endedWhy: ENDED, reply: 'The disk is full', isSent: true, ackMaxChars: 300 },
  ...{ target: 'ops', lastDelivered: null, now: NOON, ...over },
})

describe('a heartbeat that has ended', () => {
  it.each([
    ['The disk is full', {}, 'news', 'news', 'heartbeat_news', 'The disk is full'],
    ['The disk is full', { isSent: false }, 'news', 'news', 'target_none', 'The disk is full'],
    ['HEARTBEAT_OK', {}, 'suppressed', 'acknowledged', 'acknowledged', null],
    [' \n', {}, 'suppressed', 'empty_reply', 'empty_reply', null],
    [' NO_REPLY\n', {}, 'suppressed', 'empty_reply', 'no_reply', null],
    ['A', { lastDelivered: { content: 'A', at: NOON } }, 'suppressed', 'duplicate', 'duplicate', null],
  ] as const)('with %j is what its answer makes it', (reply, over, outcome, counts, reason, content) => {
    const ending = decideHeartbeatEnding(theFacts({ reply, ...over }))
    expect([ending.outcome, ending.counts, ending.why.reason, ending.content]).toEqual([
      outcome,
      counts,
      reason,
      content,
    ])
    expectExplained(ending.why)
  })

  it.each([
    ['failed', 'failed', 'failed'],
    ['timeout', 'failed', 'failed'],
    ['expired', 'failed', 'failed'],
    ['cancelled', 'cancelled', 'skipped'],
    ['dropped', 'cancelled', 'skipped'],
    ['skipped', 'skipped', 'skipped'],
    ['rejected', 'skipped', 'skipped'],
  ] as const)('as %s says nothing to anybody', (ending, outcome, counts) => {
    const why = because('cancelled', 'request')
    expect(decideHeartbeatEnding(theFacts({ ending, endedWhy: why }))).toEqual({ outcome, counts, why, content: null })
  })

  it('has something to send only when it is news, and never for a run that did not succeed', () => {
    const endings = RUN_STATES.filter(isTerminal) as readonly TerminalState[]
    fc.assert(
      fc.property(fc.constantFrom(...endings), fc.string(), fc.boolean(), (ending, reply, isSent) => {
        const decided = decideHeartbeatEnding(theFacts({ ending, reply, isSent }))
        expect(decided.content !== null).toBe(decided.outcome === 'news')
        if (decided.outcome === 'news') expect(ending).toBe('success')
      }),
      { seed: 22 },
    )
  })
})
