import { describe, expect, it } from 'vitest'
import type { AlertView } from '../../src/features/alerts/schema.ts'
import { incidentsOf, needsAttention } from '../../ui/api/incidents.ts'
import { idFor, refusedAddress, secretNameFor, typedKeyOf } from '../../ui/pages/agents/presets.ts'
import { questionOf } from '../../ui/pages/explain/explain-search.ts'

const NOW = Date.parse('2026-01-15T12:00:00Z')

const alert = (id: string, more: Partial<AlertView> = {}): AlertView => ({
  ...{ id, org_id: 'acme', kind: 'failures_in_a_row', subject_kind: 'schedule', subject_id: id, subject_name: id },
  ...{ status: 'open', why: { reason: 'failure_streak', rule: '', evidence: {} }, sentence: '' },
  ...{ raised_at: '2026-01-15T11:00:00Z', cleared_at: null, cleared_why: null, streak: 3, last_error: null },
  ...{ agent_id: null, acknowledged_at: null, acknowledged_by: null, snoozed_until: null },
  ...more,
})

describe('incidents', () => {
  it('are one per subject, and one of the agent when several of its schedules fail', () => {
    const found = incidentsOf(
      [
        alert('a', { agent_id: 'writer', streak: 5, last_error: 'no quota' }),
        alert('b', { agent_id: 'writer', raised_at: '2026-01-15T10:00:00Z' }),
        alert('c', { agent_id: 'reader' }),
        alert('c2', { kind: 'late', subject_id: 'c', agent_id: 'reader', streak: null }),
        alert('d', { kind: 'runs_unserved', subject_kind: 'agent', subject_id: 'writer', agent_id: 'writer' }),
      ],
      NOW,
    )
    expect(found.map(({ kind, id, alerts }) => [kind, id, alerts.map((one) => one.id)])).toEqual([
      ['schedule', 'c', ['c', 'c2']],
      ['agent', 'writer', ['a', 'b', 'd']],
    ])
    expect(found[1]).toMatchObject({
      streak: 5,
      error: 'no quota',
      since: '2026-01-15T10:00:00Z',
      scheduleIds: ['a', 'b'],
    })
  })

  it('that are acknowledged or snoozed come after those that need attention', () => {
    const acknowledged = alert('a', { acknowledged_at: '2026-01-15T11:30:00Z' })
    const snoozed = alert('b', { snoozed_until: '2026-01-15T12:00:01Z' })
    const woken = alert('c', { snoozed_until: '2026-01-15T12:00:00Z', raised_at: '2026-01-15T09:00:00Z' })
    expect([acknowledged, snoozed, woken].map((one) => needsAttention(one, NOW))).toEqual([false, false, true])
    expect(incidentsOf([acknowledged, snoozed, woken], NOW)[0]?.id).toBe('c')
  })
})

describe('connecting an agent', () => {
  it('names it, its secret and the address that the operator may allow', () => {
    expect([idFor('Résumé Writer 2', []), idFor('Écho', [{ id: 'écho' }]), idFor('…', [])]).toEqual([
      ...['résumé-writer-2', undefined, undefined],
    ])
    expect(secretNameFor('writer-2', ['WRITER_2_KEY'])).toBe('WRITER_2_KEY_2')
    const chat = { kind: 'chat', base_url: 'http://127.0.0.1:11434/v1', model: 'm' } as const
    expect(typedKeyOf({ ...chat, api_key: 'sk-1' })).toEqual({ key: 'sk-1', host: '127.0.0.1:11434' })
    expect(typedKeyOf({ ...chat, api_key: '{{secret:KEY}}' })).toBeNull()
    expect(refusedAddress('x is private; add [fd00::1]:80 to outbound.allow_hosts (…)')).toBe('[fd00::1]:80')
  })
})

describe('a question about a time', () => {
  it('is read by the clock of the person', () => {
    expect(questionOf({ q: '14:15' }, 'Europe/Berlin')).toEqual({ at: '14:15', timezone: 'Europe/Berlin' })
    expect(questionOf({ q: 'run_1' }, 'Europe/Berlin')).toEqual({ id: 'run_1' })
  })
})
