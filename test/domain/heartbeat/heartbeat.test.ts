import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heartbeatInput } from '../../../src/features/heartbeats/schema.ts'
import { readShape } from '../../../src/api/read-input.ts'
import type { HeartbeatConfig } from '../../../src/domain/heartbeat/heartbeat-config.ts'
import {
  decideManualHeartbeat,
  decideHeartbeat,
  heartbeatInterval,
  nextHeartbeatAt,
  nextOkStreak,
  type HeartbeatFacts,
} from '../../../src/domain/heartbeat/heartbeat.ts'
import { agentId, runId, sessionKey, targetId } from '../../../src/domain/ids.ts'
import { describeFlaw } from '../../../src/domain/input.ts'
import { formatInstant, instant, later, MINUTE_MS } from '../../../src/domain/instant.ts'
import { heartbeatConfig } from '../../../src/features/heartbeats/view.ts'
import { expectExplained } from '../../support/why.ts'

function aConfig(value: object = {}): HeartbeatConfig {
  const given = { checklist: { text: '- look at the inbox' }, ...value }
  const read = readShape(heartbeatInput, given)
  const result = read.ok ? heartbeatConfig(read.value, { id: agentId('agt_1') }) : read
  if (!result.ok) throw new Error(result.flaws.map(describeFlaw).join('; '))
  return result.value
}

const noon = instant(Date.parse('2026-01-15T12:00:00Z'))

function theFacts(overrides: Partial<HeartbeatFacts> = {}): HeartbeatFacts {
  return {
    config: aConfig(),
    now: noon,
    dueAt: noon,
    checklist: '- look at the inbox',
    lastRoute: { kind: 'chat', channel: 'telegram', recipient: '42' },
    channelIsOpen: true,
    channelRecipient: null,
    savedTarget: null,
    checklistProblem: null,
    busyWith: null,
    okStreak: 0,
    ...overrides,
  }
}

/** Everything is wrong at once; each step is then put right in turn. */
const allWrong = theFacts({
  config: { ...aConfig({ active_hours: { start: '22:00', end: '06:00', timezone: 'UTC' } }), enabled: false },
  checklist: null,
  lastRoute: null,
  busyWith: runId('run_7'),
})

describe('a heartbeat that is due', () => {
  it('runs, and says where the answer goes', () => {
    const decision = decideHeartbeat(theFacts())
    expect(decision).toMatchObject({
      kind: 'run',
      route: { kind: 'chat', channel: 'telegram', recipient: '42' },
      why: { reason: 'heartbeat_due' },
    })
    expectExplained(decision.why)
  })

  it('stops at the first step that says no, in the order of the steps', () => {
    const steps: readonly [string, Partial<HeartbeatFacts>][] = [
      ['heartbeat_disabled', {}],
      ['outside_active_hours', { config: { ...allWrong.config, enabled: true } }],
      ['no_checklist', { config: aConfig() }],
      ['empty_checklist', { checklist: '# Morning\n- [ ]\n<!-- later -->' }],
      ['no_route', { checklist: '- disk' }],
      ['agent_busy', { lastRoute: { kind: 'chat', channel: 'slack', recipient: '#ops' } }],
      ['heartbeat_due', { busyWith: null }],
    ]
    let facts = allWrong
    for (const [reason, repair] of steps) {
      facts = { ...facts, ...repair }
      const decision = decideHeartbeat(facts)
      expect(decision.why.reason).toBe(reason)
      expectExplained(decision.why)
    }
  })

  it.each([
    ['outside its hours', { config: aConfig({ active_hours: { start: '22:00', end: '06:00', timezone: 'UTC' } }) }],
    ['without a checklist', { checklist: null }],
    ['with an empty checklist', { checklist: '# x' }],
    ['without a route', { lastRoute: null }],
  ])('%s comes again an interval later', (_, overrides) => {
    const decision = decideHeartbeat(theFacts(overrides))
    expect(decision).toMatchObject({ kind: 'skip', nextAt: noon + 30 * MINUTE_MS })
  })

  it('meets its hours even when its interval would always miss them', () => {
    const daily = { interval_seconds: 86_400, active_hours: { start: '13:30', end: '13:45', timezone: 'UTC' } }
    const outside = decideHeartbeat(theFacts({ config: aConfig(daily) }))
    expect(outside).toMatchObject({ kind: 'skip', nextAt: noon + 90 * MINUTE_MS })
    const opened = later(noon, 90 * MINUTE_MS)
    expect(decideHeartbeat(theFacts({ config: aConfig(daily), now: opened, dueAt: opened })).kind).toBe('run')
  })

  it.each([
    ['00:00', '06:00', '2026-01-16T00:00:00.000Z'],
    ['18:00', '24:00', '2026-01-15T18:00:00.000Z'],
    ['11:00', '12:00', '2026-01-16T11:00:00.000Z'],
  ])('waits for hours of %s-%s until they begin', (start, end, opens) => {
    const config = aConfig({ interval_seconds: 172_800, active_hours: { start, end, timezone: 'UTC' } })
    const decision = decideHeartbeat(theFacts({ config }))
    expect(decision.kind === 'skip' && formatInstant(decision.nextAt)).toBe(opens)
  })

  it('comes again within a minute when the agent is busy', () => {
    const decision = decideHeartbeat(theFacts({ busyWith: runId('run_7') }))
    expect(decision.kind).toBe('retry')
    if (decision.kind !== 'retry') return
    expect(decision.retryAt).toBeGreaterThan(noon)
    expect(decision.retryAt).toBeLessThanOrEqual(noon + MINUTE_MS)
  })

  it('does not come later for being busy than its interval says', () => {
    const decision = decideHeartbeat(theFacts({ config: aConfig({ interval_seconds: 10 }), busyWith: runId('run_7') }))
    expect(decision).toMatchObject({ kind: 'retry', retryAt: noon + 10_000 })
  })
})

describe('a heartbeat that somebody asks for', () => {
  it('is held up by neither the switch nor the hours', () => {
    const config = aConfig({ active_hours: { start: '22:00', end: '06:00', timezone: 'UTC' } })
    const decision = decideManualHeartbeat(theFacts({ config: { ...config, enabled: false } }))
    expect(decision).toMatchObject({ kind: 'run', why: { reason: 'heartbeat_asked' } })
    expectExplained(decision.why)
  })

  it.each([
    ['no_checklist', 'stop', { checklist: null, checklistProblem: 'a.md cannot be read: ENOENT' }],
    ['empty_checklist', 'stop', { checklist: '- [ ]' }],
    ['no_route', 'stop', { lastRoute: null }],
    ['agent_busy', 'busy', { busyWith: runId('run_7') }],
  ] as const)('stops for %s', (reason, kind, overrides) => {
    const decision = decideManualHeartbeat(theFacts(overrides))
    expect(decision).toMatchObject({ kind, why: { reason } })
    expectExplained(decision.why)
    if (reason === 'no_checklist') expect(decision.why.evidence['problem']).toBe('a.md cannot be read: ENOENT')
  })
})

describe('the route of a heartbeat', () => {
  const TALK = sessionKey('agent:writer:web:direct:ann')

  it.each<[string, Partial<HeartbeatFacts>, object]>([
    ['none', {}, { kind: 'none' }],
    ['none', { lastRoute: null }, { kind: 'none' }],
    ['last', {}, { kind: 'chat', channel: 'telegram', recipient: '42' }],
    ['slack:#ops', { lastRoute: null }, { kind: 'chat', channel: 'slack', recipient: '#ops' }],
    ['last', { lastRoute: { kind: 'session', session: TALK } }, { kind: 'session', session: TALK }],
    ['slack', { lastRoute: null, channelRecipient: '#all' }, { kind: 'chat', channel: 'slack', recipient: '#all' }],
    ['telegram', { channelRecipient: '1' }, { kind: 'chat', channel: 'telegram', recipient: '42' }],
    ['tgt_1', { channelIsOpen: false, savedTarget: targetId('tgt_1') }, { kind: 'saved', target: 'tgt_1' }],
  ])('to %s is known', (target, facts, route) => {
    expect(decideHeartbeat(theFacts({ config: aConfig({ target }), ...facts }))).toMatchObject({ kind: 'run', route })
  })

  it.each([
    ['last', { lastRoute: null }],
    ['slack', { lastRoute: null }],
    ['slack:#ops', { channelIsOpen: false }],
    ['tgt_1', { channelIsOpen: false }],
  ])('to %s may be missing', (target, facts) => {
    const decision = decideHeartbeat(theFacts({ config: aConfig({ target }), ...facts }))
    expect(decision).toMatchObject({ kind: 'skip', why: { reason: 'no_route', evidence: { target } } })
    expectExplained(decision.why)
  })
})

describe('the plan of a heartbeat', () => {
  const config = aConfig()

  it('goes on from the planned moment, not from the late one', () => {
    const next = nextHeartbeatAt(config, { dueAt: noon, now: instant(noon + 5 * MINUTE_MS), okStreak: 0 })
    expect(formatInstant(next)).toBe('2026-01-15T12:30:00.000Z')
  })

  it('leaves out what downtime has missed', () => {
    const next = nextHeartbeatAt(config, { dueAt: noon, now: instant(noon + 90 * MINUTE_MS), okStreak: 0 })
    expect(formatInstant(next)).toBe('2026-01-15T14:00:00.000Z')
  })

  it('is always ahead, by at most one interval', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.nat(10 ** 10),
        fc.nat(50),
        (intervalSeconds, late, okStreak) => {
          const paced = aConfig({ interval_seconds: intervalSeconds, adaptive: true })
          const now = instant(noon + late)
          const ahead = nextHeartbeatAt(paced, { dueAt: noon, now, okStreak }) - now
          expect(ahead).toBeGreaterThan(0)
          expect(ahead).toBeLessThanOrEqual(heartbeatInterval(paced, okStreak) * 1000)
        },
      ),
      { seed: 21 },
    )
  })
})

describe('an adaptive heartbeat', () => {
  const config = aConfig({ interval_seconds: 600, adaptive: { ok_step: 2, max_interval_seconds: 3000 } })

  it.each([
    [0, 600],
    [1, 600],
    [2, 1200],
    [4, 2400],
    [6, 3000],
    [5000, 3000],
  ])('after %i acknowledgements waits %i seconds', (streak, expected) => {
    expect(heartbeatInterval(config, streak)).toBe(expected)
  })

  it('is four times as long at most unless a bound is given', () => {
    expect(heartbeatInterval(aConfig({ adaptive: true }), 1000)).toBe(7200)
  })

  it('does not stretch when it was not asked to', () => {
    expect(heartbeatInterval(aConfig({ adaptive: false }), 1000)).toBe(1800)
  })

  it.each([
    ['acknowledged', 4],
    ['empty_reply', 3],
    ['skipped', 3],
    ['news', 0],
    ['duplicate', 0],
    ['failed', 0],
  ] as const)('after %s has a streak of %i', (outcome, expected) => {
    expect(nextOkStreak(3, outcome)).toBe(expected)
  })
})
