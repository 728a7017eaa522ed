import { describe, expect, it } from 'vitest'
import { dstNotes, previewTiming } from '../../../src/domain/time/preview.ts'
import { at, NOW, show, timing } from './world.ts'

const year = { after: NOW, upTo: at('2027-01-15T00:00:00Z') }

describe('the notes on clock changes', () => {
  it.each<readonly [Readonly<Record<string, unknown>>, readonly string[]]>([
    [
      { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
      [
        'fires_after_gap 2026-03-29 02:30 does not exist in Europe/Berlin; fires at 03:00 instead',
        'first_pass_only 2026-10-25 02:30 happens twice in Europe/Berlin; fires on the first pass only',
      ],
    ],
    [
      { cron: '*/10 2 * * *', timezone: 'Europe/Berlin' },
      [
        'fires_after_gap 2026-03-29 02:00 and 5 more do not exist in Europe/Berlin; fires once at 03:00 instead',
        'both_passes 2026-10-25 02:00 and 5 more happen twice in Europe/Berlin; fires on both passes',
      ],
    ],
    [
      { cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: 'shift' },
      [
        'shifted 2026-03-29 02:30 does not exist in Europe/Berlin; fires at 03:30 instead',
        'first_pass_only 2026-10-25 02:30 happens twice in Europe/Berlin; fires on the first pass only',
      ],
    ],
    [
      { cron: '30 2 * * *', timezone: 'Europe/Berlin', dst: 'both' },
      [
        'skipped 2026-03-29 02:30 does not exist in Europe/Berlin; does not fire then',
        'both_passes 2026-10-25 02:30 happens twice in Europe/Berlin; fires on both passes',
      ],
    ],
    [
      { cron: '0 12 * * *', timezone: 'Europe/Berlin' },
      [
        'none 2026-03-29 02:00: clocks in Europe/Berlin go forward (+01:00 to +02:00); no occurrence is affected',
        'none 2026-10-25 03:00: clocks in Europe/Berlin go back (+02:00 to +01:00); no occurrence is affected',
      ],
    ],
    [
      { cron: '30 2 * * *', timezone: 'Europe/Berlin', exclude: ['2026-03-29'], ends_at: '2026-06-01T00:00:00Z' },
      [
        'none 2026-03-29 02:00: clocks in Europe/Berlin go forward (+01:00 to +02:00); no occurrence is affected',
        'none 2026-10-25 03:00: clocks in Europe/Berlin go back (+02:00 to +01:00); no occurrence is affected',
      ],
    ],
    [
      { rrule: 'FREQ=DAILY;BYHOUR=2;BYMINUTE=30', timezone: 'Europe/Berlin' },
      [
        'skipped 2026-03-29 02:30 does not exist in Europe/Berlin; does not fire then',
        'first_pass_only 2026-10-25 02:30 happens twice in Europe/Berlin; fires on the first pass only',
      ],
    ],
    [
      { rrule: 'FREQ=MINUTELY;INTERVAL=15', timezone: 'Europe/Berlin' },
      [
        'none 2026-03-29 02:00: clocks in Europe/Berlin go forward (+01:00 to +02:00); no occurrence is affected',
        'none 2026-10-25 03:00: clocks in Europe/Berlin go back (+02:00 to +01:00); no occurrence is affected',
      ],
    ],
    [{ cron: '30 2 * * *', timezone: 'Asia/Tokyo' }, []],
    [{ cron: '30 2 * * *' }, []],
  ])('%j', (input, notes) => {
    expect(dstNotes(timing(input), year).map((note) => `${note.effect} ${note.sentence}`)).toEqual(notes)
  })

  it('are data', () => {
    const [gap] = dstNotes(timing({ cron: '30 2 * * *', timezone: 'Europe/Berlin' }), year)
    expect(gap).toMatchObject({
      at: at('2026-03-29T01:00:00Z'),
      zone: 'Europe/Berlin',
      kind: 'gap',
      offsetBefore: '+01:00',
      offsetAfter: '+02:00',
    })
  })
})

describe('a preview', () => {
  it('has the sentence, the next occurrences and the notes up to the last of them', () => {
    const preview = previewTiming(timing({ cron: '30 2 * * *', timezone: 'Europe/Berlin' }), {
      now: at('2026-03-27T12:00:00Z'),
      count: 3,
    })
    expect(preview.sentence).toBe('At 02:30, every day (Europe/Berlin)')
    expect(preview.next.map(show)).toEqual([
      '2026-03-28T01:30:00.000Z',
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
    expect(preview.dstNotes.map((note) => note.effect)).toEqual(['fires_after_gap'])
  })

  it('of a schedule that never fires is empty', () => {
    const preview = previewTiming(timing({ cron: '0 0 30 2 *', timezone: 'Europe/Berlin' }), { now: NOW, count: 5 })
    expect(preview).toMatchObject({ next: [], dstNotes: [] })
  })

  it('of a rare schedule does not look at the clocks of decades', () => {
    const preview = previewTiming(timing({ cron: '0 0 29 2 +1', timezone: 'Europe/Paris' }), { now: NOW, count: 5 })
    expect(preview.next).toHaveLength(5)
    expect(preview.dstNotes.length).toBeLessThanOrEqual(10)
  })
})
