import { describe, expect, it } from 'vitest'
import { sentenceFor } from '../../../src/domain/time/sentence.ts'
import { at, timing } from './world.ts'

describe('a schedule in words', () => {
  it.each([
    ['0 9 * * 1-5', 'At 09:00, Monday through Friday'],
    ['* * * * *', 'Every minute'],
    ['*/5 * * * *', 'Every 5 minutes'],
    ['0/15 * * * *', 'Every 15 minutes'],
    ['*/7 * * * *', 'At minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 of every hour'],
    ['5/15 * * * *', 'At minutes 5, 20, 35 and 50 of every hour'],
    ['5-10 * * * *', 'At minutes 5 through 10 of every hour'],
    ['0 * * * *', 'Every hour'],
    ['30 * * * *', 'At minute 30 of every hour'],
    ['0 */2 * * *', 'Every 2 hours'],
    ['0 */5 * * *', 'At 00:00, 05:00, 10:00, 15:00 and 20:00, every day'],
    ['*/10 9-17 * * 1-5', 'Every 10 minutes, between 09:00 and 17:59, Monday through Friday'],
    ['* 9 * * *', 'Every minute, between 09:00 and 09:59'],
    ['30 */3 * * *', 'At minute 30 past the hour, in hours 0, 3, 6, 9, 12, 15, 18 and 21, every day'],
    ['* * * * * *', 'Every second'],
    ['*/10 * * * * *', 'Every 10 seconds'],
    ['15 * * * * *', 'At second 15 of every minute'],
    ['15 30 2 * * *', 'At 02:30:15, every day'],
    ['0/15 30 * * * *', 'Every 15 seconds, during minute 30 of every hour'],
    ['0 0 L * *', 'At 00:00, on the last day of the month'],
    ['0 0 L-1 * *', 'At 00:00, on 1 day before the last day of the month'],
    ['0 0 L-3,1 * *', 'At 00:00, on day 1 of the month and 3 days before the last day of the month'],
    ['0 0 LW * *', 'At 00:00, on the last weekday (Monday to Friday) of the month'],
    ['0 0 15W * *', 'At 00:00, on the weekday (Monday to Friday) nearest day 15 of the month'],
    ['0 0 * * 5L', 'At 00:00, on the last Friday of the month'],
    ['0 0 * * MON#2', 'At 00:00, on the second Monday of the month'],
    ['0 0 * * 1#1,1#3', 'At 00:00, on the first Monday of the month and the third Monday of the month'],
    ['0 0 * * MON/2', 'At 00:00, on Monday, Wednesday and Friday'],
    ['0 0 * * THU-SUN', 'At 00:00, Thursday through Sunday'],
    ['0 0 * * 6,0', 'At 00:00, on Saturday and Sunday'],
    ['0 0 * * 0-6', 'At 00:00, every day'],
    ['0 0 ? * ?', 'At 00:00, every day'],
    ['0 0 13 * 5', 'At 00:00, on day 13 of the month or on Friday'],
    ['0 0 13 * +5', 'At 00:00, on day 13 of the month, only if it is also Friday'],
    ['0 0 1,15-18 * *', 'At 00:00, on days 1 and 15 through 18 of the month'],
    ['0 0 1 1,4,7 *', 'At 00:00, on day 1 of the month, in January, April and July'],
    ['0 0 * JUN-AUG *', 'At 00:00, every day, June through August'],
    ['0 0 0 29 2 ? 2028', 'At 00:00, on day 29 of the month, in February, in 2028'],
    ['0 0 0 1 1 * 2026/4', 'At 00:00, on day 1 of the month, in January, every 4 years from 2026 through 2198'],
    ['@hourly', 'Every hour'],
    ['@daily', 'At 00:00, every day'],
    ['@weekly', 'At 00:00, on Sunday'],
    ['@yearly', 'At 00:00, on day 1 of the month, in January'],
  ])('%s', (cron, sentence) => {
    expect(sentenceFor(timing({ cron, timezone: 'Europe/Berlin' }))).toBe(`${sentence} (Europe/Berlin)`)
  })

  it('says so when both day fields must match because the schedule wants it', () => {
    expect(sentenceFor(timing({ cron: '0 0 13 * 5', day_match: 'and' }))).toBe(
      'At 00:00, on day 13 of the month, only if it is also Friday (UTC)',
    )
  })

  it.each([
    [{ every_seconds: 1800 }, 'Every 30 minutes'],
    [{ every_seconds: 1 }, 'Every second'],
    [{ every_seconds: 86_400 }, 'Every 24 hours'],
    [{ everyMs: 1500 }, 'Every 1500 milliseconds'],
    [{ at: '2026-01-15T08:00:00Z', timezone: 'Europe/Berlin' }, 'Once, on 2026-01-15 at 09:00 (Europe/Berlin)'],
    [{ rrule: 'FREQ=DAILY' }, 'Every day at 00:00 (UTC)'],
    [{ rrule: 'FREQ=WEEKLY' }, 'Every week on Thursday at 00:00 (UTC)'],
    [
      { rrule: 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU,WE;BYHOUR=9,17;BYMINUTE=0' },
      'Every 2 weeks on Monday through Wednesday at 09:00 and 17:00 (UTC)',
    ],
    [{ rrule: 'FREQ=MONTHLY' }, 'Every month on day 15 at 00:00 (UTC)'],
    [{ rrule: 'FREQ=MONTHLY;BYDAY=-1FR;COUNT=5' }, 'Every month on the last Friday at 00:00, 5 times (UTC)'],
    [{ rrule: 'FREQ=MONTHLY;BYMONTHDAY=1,-1' }, 'Every month on day 1 and the last day at 00:00 (UTC)'],
    [
      { rrule: 'FREQ=YEARLY;UNTIL=20300101T120000Z' },
      'Every year on January 15 at 00:00, until 2030-01-01 12:00 UTC (UTC)',
    ],
    [{ rrule: 'FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU' }, 'Every year on the last Sunday in March at 00:00 (UTC)'],
    [{ rrule: 'FREQ=HOURLY;INTERVAL=2' }, 'Every 2 hours from 00:00 (UTC)'],
    [{ rrule: 'FREQ=HOURLY;BYHOUR=9' }, 'By the rule FREQ=HOURLY;BYHOUR=9 (UTC)'],
    [
      { rrule: 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1' },
      'By the rule FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1 (UTC)',
    ],
    [
      { cron: '0 9 * * *', starts_at: '2026-02-01T00:00:00Z', exclude: ['2026-03-01', '2026-03-02'] },
      'At 09:00, every day, starting 2026-02-01 00:00, except 2 dates (UTC)',
    ],
    [
      {
        every_seconds: 60,
        ends_at: '2026-02-01T00:00:00Z',
        exclude: [{ from: '2026-01-20T00:00:00Z', to: '2026-01-21T00:00:00Z' }],
      },
      'Every minute, ending 2026-02-01 00:00, except 1 window (UTC)',
    ],
  ])('%j', (input, sentence) => {
    expect(sentenceFor(timing(input, at('2026-01-15T00:00:00Z')))).toBe(sentence)
  })
})
