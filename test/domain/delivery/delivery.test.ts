import { describe, expect, it } from 'vitest'
import { decideDelivery, type DeliveryTarget } from '../../../src/domain/delivery/delivery.ts'
import { instant } from '../../../src/domain/instant.ts'
import { parseQuietHours, type QuietHours } from '../../../src/domain/delivery/quiet-hours.ts'
import type { TerminalState } from '../../../src/domain/run/run-machine.ts'
import { expectExplained } from '../../support/why.ts'

const midnight = instant(Date.parse('2026-01-15T00:00:00Z'))
const chat: DeliveryTarget = { kind: 'chat', name: 'telegram:42' }
const callback: DeliveryTarget = { kind: 'callback', name: 'https://example.com/done' }

function aTarget(overrides: Partial<Extract<DeliveryTarget, { kind: 'saved' }>> = {}): DeliveryTarget {
  return {
    kind: 'saved',
    name: 'ops',
    audience: 'people',
    isDisabled: false,
    failuresInARow: 0,
    quietHours: null,
    ...overrides,
  }
}

function nights(): QuietHours {
  const result = parseQuietHours('quiet_hours', { start: '22:00', end: '07:00', timezone: 'UTC' })
  if (!result.ok) throw new Error('the window is valid')
  return result.value
}

function decide(target: DeliveryTarget, ending: TerminalState = 'success', reply = 'done') {
  const decision = decideDelivery({ ending, reply, target, now: midnight })
  expectExplained(decision.why)
  return decision
}

const ENDINGS: readonly TerminalState[] = [
  'success',
  'failed',
  'timeout',
  'cancelled',
  'skipped',
  'dropped',
  'rejected',
  'expired',
]

describe('the result of a run', () => {
  it.each([chat, callback, aTarget()])('goes to its target', (target) => {
    expect(decide(target)).toMatchObject({ kind: 'deliver', why: { reason: 'deliver' } })
  })

  it('goes nowhere when the target is none, however the run ended', () => {
    for (const ending of ENDINGS)
      expect(decide({ kind: 'none' }, ending)).toMatchObject({ kind: 'keep', why: { reason: 'target_none' } })
  })

  it('is held while its target is disabled, also at night', () => {
    const target = aTarget({ isDisabled: true, failuresInARow: 10, quietHours: nights() })
    expect(decide(target)).toMatchObject({ kind: 'hold', why: { reason: 'target_disabled' } })
  })

  it('joins the digest during quiet hours', () => {
    expect(decide(aTarget({ quietHours: nights() }))).toMatchObject({
      kind: 'digest',
      until: Date.parse('2026-01-15T07:00:00Z'),
      why: { reason: 'quiet_hours' },
    })
  })
})

describe('a reply of NO_REPLY', () => {
  it.each(['NO_REPLY', ' NO_REPLY\n'])('is kept: %j', (reply) => {
    expect(decide(chat, 'success', reply)).toMatchObject({ kind: 'keep', why: { reason: 'no_reply' } })
    expect(decide(aTarget({ isDisabled: true }), 'success', reply)).toMatchObject({ kind: 'keep' })
  })

  it.each(['NO_REPLY.', 'NO_REPLY needed', 'no_reply', '**NO_REPLY**', ''])('is not %j', (reply) => {
    expect(decide(chat, 'success', reply).kind).toBe('deliver')
  })

  it('does not hide a failure', () => {
    expect(decide(chat, 'failed', 'NO_REPLY').kind).toBe('deliver')
  })

  it('does not keep a task from calling back', () => {
    expect(decide(callback, 'success', 'NO_REPLY').kind).toBe('deliver')
  })
})

describe('an ending', () => {
  const program = aTarget({ audience: 'program' })

  it.each([
    ['success', 'deliver', 'deliver', 'deliver', 'deliver'],
    ['failed', 'deliver', 'deliver', 'deliver', 'deliver'],
    ['timeout', 'deliver', 'deliver', 'deliver', 'deliver'],
    ['expired', 'deliver', 'deliver', 'deliver', 'deliver'],
    ['cancelled', 'clear', 'deliver', 'keep', 'deliver'],
    ['dropped', 'keep', 'deliver', 'keep', 'deliver'],
    ['skipped', 'keep', 'keep', 'keep', 'keep'],
    ['rejected', 'keep', 'keep', 'keep', 'keep'],
  ] as const)('of %s means %s to a chat, %s to a callback, %s to people, %s to a program', (ending, ...expected) => {
    expect([chat, callback, aTarget(), program].map((target) => decide(target, ending).kind)).toEqual(expected)
  })

  it('of cancelled clears a chat whatever the run had to say', () => {
    expect(decide(chat, 'cancelled', 'NO_REPLY').kind).toBe('clear')
    expect(decide(chat, 'cancelled', '').kind).toBe('clear')
  })
})
