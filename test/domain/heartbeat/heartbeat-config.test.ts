import { describe, expect, it } from 'vitest'
import { heartbeatInput } from '../../../src/features/heartbeats/schema.ts'
import { readShape } from '../../../src/api/read-input.ts'
import { formatHeartbeatTarget, parseHeartbeatTarget } from '../../../src/domain/heartbeat/heartbeat-config.ts'
import { agentId } from '../../../src/domain/ids.ts'
import { heartbeatConfig } from '../../../src/features/heartbeats/view.ts'
import { UTC } from '../../../src/domain/time/zone.ts'

const agent = { id: agentId('agt_1'), timezone: UTC }
const parse = (value: unknown) => {
  const given = readShape(heartbeatInput, value, 'heartbeat')
  const read = given.ok ? heartbeatConfig(given.value, agent) : given
  if (read.ok || !given.ok) return read
  return { ok: false, flaws: read.flaws.map((flaw) => ({ ...flaw, field: `heartbeat.${flaw.field}` })) }
}

describe('a heartbeat configuration', () => {
  it('has defaults for everything, and is off without a checklist', () => {
    expect(parse({})).toMatchObject({
      ok: true,
      value: {
        enabled: false,
        intervalSeconds: 1800,
        activeHours: null,
        checklist: null,
        target: { kind: 'last' },
        ackMaxChars: 300,
        session: 'agent:agt_1:heartbeat:main',
        adaptive: null,
      },
    })
  })

  it('asks for the token in its own prompt', () => {
    expect(parse({})).toMatchObject({ value: { prompt: expect.stringContaining('HEARTBEAT_OK') as string } })
  })

  it('is on once it has a checklist, unless it says otherwise', () => {
    expect(parse({ checklist: { text: 'disk' } })).toMatchObject({ value: { enabled: true } })
    expect(parse({ checklist: { file: 'ops/disk.md' } })).toMatchObject({ value: { enabled: true } })
    expect(parse({ checklist: { text: 'disk' }, enabled: false })).toMatchObject({ value: { enabled: false } })
  })

  it('may stretch to just its own interval, which is not at all', () => {
    expect(parse({ interval_seconds: 60, adaptive: { max_interval_seconds: 60 } })).toMatchObject({ ok: true })
  })

  it('takes the zone of the agent for its active hours', () => {
    const result = parse({ active_hours: { start: '09:00', end: '17:00' } })
    expect(result).toMatchObject({ value: { activeHours: { timezone: { name: 'UTC' } } } })
  })

  it.each([
    [{ enabled: true }, 'heartbeat.enabled'],
    [{ enabled: 'yes' }, 'heartbeat.enabled'],
    [{ interval_seconds: 0 }, 'heartbeat.interval_seconds'],
    [{ interval_seconds: 9e12 }, 'heartbeat.interval_seconds'],
    [{ adaptive: { max_interval_seconds: 9e12 } }, 'heartbeat.adaptive.max_interval_seconds'],
    [{ ack_max_chars: -1 }, 'heartbeat.ack_max_chars'],
    [{ active_hours: { start: '09:00', end: '09:00' } }, 'heartbeat.active_hours'],
    [{ prompt: ' ' }, 'heartbeat.prompt'],
    [{ session: '' }, 'heartbeat.session'],
    [{ session: 5 }, 'heartbeat.session'],
    [{ prompt: [] }, 'heartbeat.prompt'],
    [{ target: 'last:42' }, 'heartbeat.target'],
    [{ checklist: 'disk' }, 'heartbeat.checklist'],
    [{ checklist: {} }, 'heartbeat.checklist'],
    [{ checklist: { text: 'a', file: 'b' } }, 'heartbeat.checklist'],
    [{ checklist: { text: 1 } }, 'heartbeat.checklist.text'],
    [{ checklist: { file: '../secret' } }, 'heartbeat.checklist.file'],
    [{ checklist: { file: 'a/../../secret' } }, 'heartbeat.checklist.file'],
    [{ checklist: { file: '/etc/passwd' } }, 'heartbeat.checklist.file'],
    [{ checklist: { file: 'C:\\x' } }, 'heartbeat.checklist.file'],
    [{ checklist: { file: 'a\0' } }, 'heartbeat.checklist.file'],
    [{ checklist: { file: '' } }, 'heartbeat.checklist.file'],
    [{ adaptive: { max_interval_seconds: 10 } }, 'heartbeat.adaptive.max_interval_seconds'],
    [{ adaptive: { ok_step: 0 } }, 'heartbeat.adaptive.ok_step'],
    [{ intervall: 3 }, 'heartbeat.intervall'],
    ['often', 'heartbeat'],
  ])('%j is refused', (value, field) => {
    expect(parse(value)).toMatchObject({ ok: false, flaws: [{ field }] })
  })
})

describe('the target of a heartbeat', () => {
  it.each([
    ['last', { kind: 'last' }],
    ['None', { kind: 'none' }],
    ['telegram', { kind: 'channel', channel: 'telegram', recipient: null }],
    ['telegram:42', { kind: 'channel', channel: 'telegram', recipient: '42' }],
    ['slack:team:C1', { kind: 'channel', channel: 'slack', recipient: 'team:C1' }],
  ])('%s is understood and prints again', (text, target) => {
    const result = parseHeartbeatTarget('target', text)
    expect(result).toEqual({ ok: true, value: target })
    if (result.ok) expect(formatHeartbeatTarget(result.value)).toBe(text.replace('None', 'none'))
  })

  it.each(['', ' ', ':42', 'telegram:', 'telegram: ', 'none:42', 'last:', 'two words', 7, null])(
    '%j is refused',
    (value) => {
      expect(parseHeartbeatTarget('target', value)).toMatchObject({ ok: false, flaws: [{ field: 'target' }] })
    },
  )
})
