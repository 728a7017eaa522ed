import { describe, expect, it } from 'vitest'
import type { ScheduleView } from '../../src/features/schedules/schema.ts'
import { differences } from '../../ui/editor/form/differences.ts'
import { formOf } from '../../ui/editor/form/form-of.ts'
import { EMPTY, type ScheduleForm } from '../../ui/editor/form/form.ts'
import { changeBetween, newInput, rebase } from '../../ui/editor/form/input-of.ts'
import { retryWaits } from '../../ui/editor/form/retry-waits.ts'
import { aboutFields, unsaidField } from '../../ui/editor/form/unsaid.ts'
import { calendarOf } from '../../ui/pages/schedules/one/calendar.ts'
import { momentOf, offsetName, wallTime } from '../../ui/time/wall.ts'

const form: ScheduleForm = { ...EMPTY, timezone: 'Europe/Berlin', name: 'Triage', cron: '0 9 * * *', prompt: 'Look' }

describe('the clock of a zone', () => {
  it('tells the time there and finds the moment again', () => {
    expect(wallTime(Date.parse('2026-07-01T07:00:00Z'), 'Europe/Berlin')).toBe('2026-07-01T09:00')
    expect(momentOf('2026-07-01T09:00', 'Europe/Berlin')).toBe(Date.parse('2026-07-01T07:00:00Z'))
    expect(offsetName(Date.parse('2026-07-01T07:00:00Z'), 'America/New_York')).toBe('UTC−04:00')
  })

  it('moves what a change of the clock leaves out, takes the first of what it repeats, and refuses nonsense', () => {
    expect(momentOf('2026-03-29T02:30', 'Europe/Berlin')).toBe(Date.parse('2026-03-29T01:30:00Z'))
    expect(momentOf('2026-10-25T02:30', 'Europe/Berlin')).toBe(Date.parse('2026-10-25T00:30:00Z'))
    expect(momentOf('soon', 'Europe/Berlin')).toBeNull()
  })
})

describe('the form of a schedule', () => {
  it('makes only what was filled in, and changes only what was changed', () => {
    expect(newInput(form)).toMatchObject({ name: 'Triage', cron: '0 9 * * *', payload: { prompt: 'Look' } })
    expect(newInput(form)).not.toHaveProperty('max_fires')
    expect(changeBetween(form, form)).toEqual({})
    expect(changeBetween(form, { ...form, kind: 'every', every: 2, unit: 'hours', max_fires: 3 })).toEqual({
      every_seconds: 7_200,
      max_fires: 3,
    })
  })

  it('asks for a time where it is given: in the field that is shown, not in the one the server names', () => {
    const refused = { cron: 'is missing (exactly one of at, every_seconds, cron, rrule)', name: 'is missing' }
    const once: ScheduleForm = { ...form, kind: 'at', at: '' }
    expect(unsaidField(once, refused)).toBe('at')
    expect(aboutFields(refused, once)).toEqual({ name: 'is missing' })
    expect(unsaidField({ ...form, cron: '' }, refused)).toBe('cron')
    expect(unsaidField({ ...once, at: '2027-01-01T09:00' }, refused)).toBeNull()
    expect(unsaidField({ ...form, cron: '' }, { name: 'is missing' })).toBeNull()
    expect(aboutFields({ cron: 'is wrong' }, form)).toEqual({ cron: 'is wrong' })
  })

  it('keeps the edits of a person on top of those of another, and says who changed what', () => {
    const mine = { ...form, name: 'Mine', description: 'Why' }
    const theirs = { ...form, name: 'Theirs', cron: '0 8 * * *' }
    expect(rebase({ from: form, to: mine }, theirs)).toEqual({ ...theirs, name: 'Mine', description: 'Why' })
    expect(differences({ before: form, theirs, mine })).toEqual([
      { field: 'name', before: 'Triage', after: 'Theirs', isMine: true },
      { field: 'cron', before: '0 9 * * *', after: '0 8 * * *', isMine: false },
    ])
  })

  it('shows a schedule so that saving it unchanged changes nothing', () => {
    const shown = formOf(view)
    expect(shown).toMatchObject({
      every: 15,
      unit: 'minutes',
      retry_as: 'own',
      payload_as: 'json',
      session_as: 'named',
    })
    expect(changeBetween(shown, shown)).toEqual({})
  })

  it('lists the waits of its retries', () => {
    expect(retryWaits(form).waits).toEqual([2_000, 4_000, 8_000])
    expect(retryWaits({ ...form, retry_as: 'none' }).waits).toEqual([])
    const ladder = { retry_as: 'own', strategy: 'ladder', ladder: '5, 10', max_retries: 3 } as const
    expect(retryWaits({ ...form, ...ladder }).waits).toEqual([5_000, 10_000, 10_000])
  })
})

describe('the calendar', () => {
  it('counts on the clock of the zone, however much there is', () => {
    const now = Date.parse('2026-03-04T12:00:00Z')
    const bucket = (at: string, success: number, planned: number) => ({
      ...{ at, planned, by_status: success === 0 ? {} : { success } },
    })
    const [week] = calendarOf({
      buckets: [
        bucket('2026-03-03T23:00:00.000Z', 5_000, 0),
        bucket('2026-03-04T22:00:00.000Z', 2, 7_200),
        bucket('2026-03-06T12:00:00.000Z', 0, 1),
      ],
      ...{ zone: 'Europe/Berlin', now, createdAt: now },
    })
    expect(week?.map(({ runs, coming }) => [runs, coming])).toEqual([
      ...[
        [0, 0],
        [0, 0],
        [5_002, 7_200],
        [0, 0],
        [0, 1],
      ],
      ...[
        [0, 0],
        [0, 0],
      ],
    ])
  })
})

const view = {
  ...{ id: 'sch_1', name: 'Every quarter', description: '', kind: 'every', timezone: 'UTC', every_seconds: 900 },
  ...{ agent_id: 'echo', executor: null, enabled: true, payload: { rows: 3 }, session: 'agent:echo:web:direct:me' },
  ...{ lane: null, delivery: null, timeout_seconds: null, delete_after_run: false, jitter_ms: 0, max_fires: null },
  ...{ misfire_policy: 'SKIP', catchup_limit: 1, catchup_window_seconds: null, overlap_action: 'ALLOW' },
  ...{
    max_parallel: null,
    failure_action: 'RUN_NEW',
    concurrency_policy: 'QUEUE',
    max_concurrency: 1,
    queue_depth: 10,
  },
  ...{ failure_options: { ladder_seconds: [30], threshold: 3, cooldown_seconds: 300 }, alert_after: null },
  retry_policy: { max_retries: 2, strategy: 'fixed', base_ms: 500, max_ms: 30_000, jitter: 0, ladder_seconds: [30] },
  max_lateness_seconds: null,
} as unknown as ScheduleView
