import { describe, expect, it } from 'vitest'
import { renderTextMessage } from '../../../src/domain/delivery/email-message.ts'
import { parseMailSettings } from '../../../src/domain/delivery/target-kinds.ts'

const AT = '2026-01-15T12:00:00.000Z'
const run = {
  id: 'run_1',
  status: 'success',
  schedule_id: 'sch_1',
  agent_id: 'agt_1',
  output: 'All is well.',
  attempt: 1,
}
const letter = (type: string, data: object, about?: string | null) =>
  renderTextMessage({ type, timestamp: AT, data: { ...data }, ...(about === undefined ? {} : { about }) })

describe('a letter', () => {
  it('about a run names it and how it ended, and has its output as it is', () => {
    expect(letter('run.completed', run, 'Nightly')).toEqual({
      ...{ subject: 'Nightly succeeded', text: 'All is well.', details: ['run run_1', 'schedule sch_1'] },
    })
  })

  it.each([
    ['failed', { error_code: 'network', error_message: 'no route' }, 'failed', 'network (attempt 1): no route'],
    ['timeout', { error_code: 'timeout', error_message: null }, 'timed out', 'timeout (attempt 1)'],
    ['expired', { reason: 'deadline' }, 'expired before it could start', 'deadline (attempt 1)'],
  ])('about a run that ended %s says why', (status, more, ending, text) => {
    const written = letter('run.completed', { ...run, status, output: null, ...more }, 'Nightly')
    expect([written.subject, written.text]).toEqual([`Nightly ${ending}`, text])
  })

  it('writes what is no text as JSON, and says when there is nothing', () => {
    expect(letter('run.completed', { ...run, output: { orders: 3 } }).text).toBe('{\n  "orders": 3\n}')
    expect(letter('run.completed', { ...run, output: null }).text).toBe('(no output)')
  })

  it('has a subject that cannot become another header, however a schedule is called', () => {
    const { subject } = letter('run.completed', run, `a\r\nBcc: x@example.com\u2028${'long '.repeat(100)}`)
    expect(subject).not.toMatch(/[\r\n\u2028]/)
    expect(subject.length).toBeLessThanOrEqual(150)
  })

  it('about an alert says what is wrong, and that it is over', () => {
    const alert = { id: 'alr_1', kind: 'failures_in_a_row', subject_kind: 'schedule', subject_id: 'sch_1' }
    const raised = letter('alert.raised', { ...alert, sentence: '3 failed.', raised_at: AT }, 'Nightly')
    expect([raised.subject, raised.text]).toEqual(['Alert: failures in a row: Nightly', '3 failed.'])
    const cleared = letter('alert.cleared', { ...alert, cleared_sentence: 'It works.', cleared_at: AT }, 'Nightly')
    expect([cleared.subject, cleared.text]).toEqual(['Cleared: failures in a row: Nightly', 'It works.'])
  })

  it('of a digest has everything in order', () => {
    const items = ['One', 'Two'].map((about) => ({ type: 'run.completed', timestamp: AT, data: run, about }))
    const { subject, text } = letter('digest', { until: AT, items })
    expect(subject).toBe('2 messages from quiet hours')
    expect(text.indexOf('1. One succeeded')).toBeLessThan(text.indexOf('2. Two succeeded'))
  })
})

describe('where mail goes', () => {
  const flawOf = (value: unknown): string => {
    const read = parseMailSettings('settings', value)
    return read.ok ? 'fine' : `${read.flaws[0]?.field ?? ''} ${read.flaws[0]?.message ?? ''}`
  }

  it.each([
    [{ to: 'ops@example.com' }, 'fine'],
    [{ to: ['ops@example.com', 'müller@bücher.example'], subject_prefix: '[ops]' }, 'fine'],
    [undefined, 'settings.to is missing'],
    [{}, 'settings.to is missing'],
    [{ to: [] }, 'settings.to must name the recipients'],
    [{ to: 'Ops <ops@example.com>' }, 'settings.to is not an email address'],
    [{ to: ['a@b.c', 'a@b.c, d@e.f'] }, 'settings.to.1 is not an email address'],
    [{ to: 'a@b.c', subject_prefix: 'x\r\ny' }, 'settings.subject_prefix cannot be used as a subject prefix'],
    [{ to: 'a@b.c', cc: 'd@e.f' }, 'settings.cc is not a known field'],
  ])('%j: %s', (given, expected) => {
    expect(flawOf(given)).toBe(expected)
  })
})
