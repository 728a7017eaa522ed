import { describe, expect, it } from 'vitest'
import { EXAMPLES, understandWords, type UnderstoodSentence } from '../../../src/domain/words/understand.ts'
import type { Flaw } from '../../../src/domain/input.ts'
import { parseTiming } from '../../../src/domain/time/parse-timing.ts'
import { at, right, zone } from '../time/world.ts'

// A Monday at 10:00 in UTC.
const NOW = at('2026-11-16T10:00:00Z')
const CONTEXT = { now: NOW, zone: zone('UTC') }

const understood = (text: string): UnderstoodSentence => right(understandWords('text', text, CONTEXT))

function refused(text: string): Flaw {
  const answer = understandWords('text', text, CONTEXT)
  if (answer.ok) throw new Error(`${text} was understood as ${JSON.stringify(answer.value)}`)
  const [flaw] = answer.flaws
  if (flaw === undefined) throw new Error('a refusal without a flaw')
  return flaw
}

type Right = readonly [text: string, fields: Readonly<Record<string, unknown>>, notes?: readonly string[]]

const rows = (given: readonly Right[]) => given.map(([text, fields, notes]) => ({ text, fields, notes }))

const every2 = (days: string, from: string, hour: number) => ({
  rrule: `FREQ=WEEKLY;INTERVAL=2;BYDAY=${days};BYHOUR=${hour};BYMINUTE=0`,
  anchor: from,
})

describe('a sentence in English', () => {
  it.each(
    rows([
      ['every weekday at 9 in Berlin', { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' }, ['"9" is read as 09:00']],
      ['Every weekday at 9am in New York.', { cron: '0 9 * * 1-5', timezone: 'America/New_York' }, []],
      ['every day at 9:30', { cron: '30 9 * * *' }, []],
      ['daily at noon', { cron: '0 12 * * *' }, []],
      ['every day at midnight', { cron: '0 0 * * *' }, []],
      ['at 9:00 and 17:00 every day', { cron: '0 9,17 * * *' }, []],
      [
        'every day at 9:00 and 17:30',
        { rrule: 'FREQ=DAILY;BYHOUR=9,17;BYMINUTE=0,30;BYSETPOS=1,4', anchor: '2026-11-16T00:00:00.000Z' },
      ],
      ['every day at half past 8 in the evening', { cron: '30 20 * * *' }, []],
      ['at quarter to 10 pm every Sunday', { cron: '45 21 * * 0' }, []],
      ['every Monday and Thursday at 5pm', { cron: '0 17 * * 1,4' }, []],
      ['Mon, Wed and Fri at 07:15', { cron: '15 7 * * 1,3,5' }, []],
      ['from Monday to Friday at 9am', { cron: '0 9 * * 1-5' }, []],
      ['on weekends at noon in Shanghai', { cron: '0 12 * * 0,6', timezone: 'Asia/Shanghai' }, []],
      ['every 15 minutes', { every_seconds: 900 }, ['counted from when the schedule is created']],
      ['every half hour', { every_seconds: 1800 }],
      ['hourly', { every_seconds: 3600 }],
      ['every 90 minutes', { every_seconds: 5400 }],
      ['every hour in UTC', { cron: '0 * * * *', timezone: 'UTC' }, []],
      [
        'every 30 minutes between 9 and 17 on weekdays',
        { cron: '0,30 9-16 * * 1-5' },
        ['"9" is read as 09:00', 'the first is at 09:00 and the last at 16:30'],
      ],
      ['every hour from 9am to 5pm', { cron: '0 9-17 * * *' }, ['the first is at 09:00 and the last at 17:00']],
      ['every hour from 1 to 5pm', { cron: '0 13-17 * * *' }],
      ['every 10 minutes between 22:00 and 6:00', { cron: '*/10 0,1,2,3,4,5,22,23 * * *' }],
      ['at 15 minutes past the hour', { cron: '15 * * * *' }, []],
      ['every 2nd Tuesday of the month at 10am', { cron: '0 10 * * 2#2' }, []],
      ['the first and third Monday of the month at 8:00', { cron: '0 8 * * 1#1,1#3' }, []],
      ['last Friday of the month at 17:00', { cron: '0 17 * * 5L' }, []],
      ['on the last day of the month at 18:00', { cron: '0 18 L * *' }, []],
      ['on the last weekday of the month at 18:00', { cron: '0 18 LW * *' }, []],
      ['on the 1st and 15th of the month at 9am', { cron: '0 9 1,15 * *' }, []],
      ['quarterly at 9am', { cron: '0 9 1 1,4,7,10 *' }, ['no day given, so the first day of the month is used']],
      ['every year on 25 December at noon', { cron: '0 12 25 12 *' }, []],
      [
        'every other week on Friday at 16:00',
        every2('FR', '2026-11-20T16:00:00.000Z', 16),
        ['counted from 2026-11-20'],
      ],
      ['every other Monday at 8am', every2('MO', '2026-11-23T08:00:00.000Z', 8)],
      [
        'every second Tuesday at 9am',
        every2('TU', '2026-11-17T09:00:00.000Z', 9),
        [
          'second Tuesday is read as every 2 weeks; add "of the month" if you mean the week of the month',
          'counted from 2026-11-17',
        ],
      ],
      [
        'every other day at 7:00',
        { rrule: 'FREQ=DAILY;INTERVAL=2;BYHOUR=7;BYMINUTE=0', anchor: '2026-11-17T07:00:00.000Z' },
      ],
      ['in 20 minutes', { at: '2026-11-16T10:20:00.000Z' }, []],
      ['in an hour', { at: '2026-11-16T11:00:00.000Z' }, []],
      ['tomorrow at 5pm', { at: '2026-11-17T17:00:00.000Z' }, []],
      ['tomorrow at 5pm in Tokyo', { at: '2026-11-17T08:00:00.000Z', timezone: 'Asia/Tokyo' }, []],
      ['next Friday at 9am', { at: '2026-11-20T09:00:00.000Z' }, ['"next Friday" is read as 2026-11-20']],
      ['on 3 March at 8:00', { at: '2027-03-03T08:00:00.000Z' }, ['"on 3 March" is read as 2027-03-03']],
      ['2026-12-01 at 09:00', { at: '2026-12-01T09:00:00.000Z' }, []],
      ['every day at 8am except on weekends', { cron: '0 8 * * 1-5' }, []],
      ['every day at 8am except in August', { cron: '0 8 * 1,2,3,4,5,6,7,9,10,11,12 *' }, []],
      ['every day at 8am except 2026-12-25', { cron: '0 8 * * *', exclude: ['2026-12-25'] }, []],
      [
        'every day at 9am starting 1 December until 31 January',
        { cron: '0 9 * * *', starts_at: '2026-12-01T00:00:00.000Z', ends_at: '2027-01-31T23:59:59.000Z' },
      ],
      ['every day at noon 5 times', { cron: '0 12 * * *', max_fires: 5 }, []],
      ['every evening at 8', { cron: '0 20 * * *' }, ['"8" is read as 20:00']],
      ['every morning', { cron: '0 9 * * *' }, ['morning is read as 09:00']],
      ['every weekday', { cron: '0 9 * * 1-5' }, ['no time given, so 09:00 is used']],
      [
        'on Friday at 9am',
        { cron: '0 9 * * 5' },
        ['"on Friday" is read as every week; add "next" before it to run once'],
      ],
      ['weekly', { cron: '0 9 * * 1' }],
    ]),
  )('$text', ({ text, fields, notes }) => {
    const found = understood(text)
    expect(found.fields).toEqual(fields)
    if (notes !== undefined) expect(found.notes).toEqual(notes)
    const { max_fires: _, ...timing } = found.fields
    right(parseTiming(timing, { now: NOW, defaultZone: CONTEXT.zone }))
  })

  it('leaves a day of the year out for ten years and says until when', () => {
    const { fields, notes } = understood('every day at 9am except 25 December and 1 January')
    expect(fields['exclude']).toHaveLength(20)
    expect(fields['exclude']).toContain('2026-12-25')
    expect(notes).toEqual(['excluded every year through 2036'])
  })

  it('hands on what stands behind a colon', () => {
    expect(understood('every weekday at 9:30: look at the inbox, then rest').rest).toBe('look at the inbox, then rest')
    expect(understood('每天9:30：看看邮箱').rest).toBe('看看邮箱')
    expect(understood('every weekday at 9:30').rest).toBeNull()
  })
})

describe('a sentence in Chinese', () => {
  it.each(
    rows([
      ['每个工作日上午9点（柏林时间）', { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' }, []],
      ['每天晚上八点半', { cron: '30 20 * * *' }],
      ['每天晚上12点', { cron: '0 0 * * *' }],
      ['每天上午九点和下午五点', { cron: '0 9,17 * * *' }, []],
      ['每周一、三、五上午9点', { cron: '0 9 * * 1,3,5' }, []],
      ['每周一到周五9点半', { cron: '30 9 * * 1-5' }, ['“9点半”理解为 09:30']],
      ['每周二下午三点一刻', { cron: '15 15 * * 2' }, []],
      ['周末中午', { cron: '0 12 * * 0,6' }, []],
      ['每15分钟', { every_seconds: 900 }],
      ['每隔两小时', { every_seconds: 7200 }, ['“每隔两小时”理解为每 2 小时一次', '从创建的那一刻开始计算']],
      ['每隔一天早上7点', { rrule: 'FREQ=DAILY;INTERVAL=2;BYHOUR=7;BYMINUTE=0', anchor: '2026-11-17T07:00:00.000Z' }],
      ['工作日9点到17点之间每30分钟', { cron: '0,30 9-16 * * 1-5' }],
      ['每小时的第15分', { cron: '15 * * * *' }, []],
      ['每月第二个星期二上午10点', { cron: '0 10 * * 2#2' }, []],
      ['每月最后一个周五17:00', { cron: '0 17 * * 5L' }, []],
      ['每月最后一天18点', { cron: '0 18 L * *' }, []],
      ['每月最后一个工作日下午5点', { cron: '0 17 LW * *' }, []],
      ['每月1号和15号上午9点', { cron: '0 9 1,15 * *' }, []],
      ['每年12月25日中午', { cron: '0 12 25 12 *' }, []],
      ['隔周周五下午4点', every2('FR', '2026-11-20T16:00:00.000Z', 16)],
      ['20分钟后', { at: '2026-11-16T10:20:00.000Z' }, []],
      ['半小时后', { at: '2026-11-16T10:30:00.000Z' }, []],
      ['明天下午5点', { at: '2026-11-17T17:00:00.000Z' }, []],
      ['下周三下午3点', { at: '2026-11-25T15:00:00.000Z' }, ['“下周三”理解为 2026-11-25']],
      ['北京时间每天9点', { cron: '0 9 * * *', timezone: 'Asia/Shanghai' }],
      ['每天早上8点，除了周末', { cron: '0 8 * * 1-5' }],
      [
        '从12月1日开始每天上午9点，到12月31日为止',
        { cron: '0 9 * * *', starts_at: '2026-12-01T00:00:00.000Z', ends_at: '2026-12-31T23:59:59.000Z' },
      ],
    ]),
  )('$text', ({ text, fields, notes }) => {
    const found = understood(text)
    expect(found.fields).toEqual(fields)
    if (notes !== undefined) expect(found.notes).toEqual(notes)
    right(parseTiming(found.fields, { now: NOW, defaultZone: CONTEXT.zone }))
  })
})

describe('a sentence that is not understood', () => {
  it.each<readonly [text: string, position: number, message: RegExp]>([
    ['every blue moon', 6, /^"blue" is not understood after "every"$/],
    ['whenever you like', 0, /"whenever" is not understood/],
    ['every day at 25:00', 13, /^"25:00" is not understood after "at"$/],
    ['every day at 13pm', 10, /13pm is not a time of day/],
    ['every day at 9:75', 10, /9:75 is not a time of day/],
    ['at 9', 0, /add when to run/],
    ['in Berlin', 0, /add when to run/],
    ['every day at 9 in Berln', 15, /Berln is not a known place.*did you mean berlin/],
    ['every day at 9 EST', 15, /EST is the abbreviation of several time zones/],
    ['biweekly at 9', 0, /biweekly is ambiguous/],
    ['twice a day', 0, /does not say at what times/],
    ['yearly', 0, /the day of the year is missing/],
    ['every month on Monday', 12, /add which weekday of the month/],
    ['on 31 February at 9am', 0, /31 February is not a calendar date/],
    ['on the 32nd of the month', 0, /days of the month are 1 to 31/],
    ['Mondays at 9am and Tuesdays at 10am', 19, /the sentence describes two schedules/],
    ['every hour at 9am', 11, /an interval cannot have a time of day/],
    ['every 45 minutes on weekdays', 0, /does not divide an hour or a day evenly/],
    ['every 90 minutes between 9 and 17', 17, /minutes would differ from hour to hour/],
    ['between 9 and 5 every hour', 0, /5 is before 9/],
    ['between 9 and 17 every day', 0, /the interval between these hours is missing/],
    ['every 10 minutes between 22:00 and 6:00 on Mondays', 17, /over midnight/],
    ['today at 5am', 0, /that time is in the past/],
    ['tomorrow every hour', 9, /repeats, but the rest/],
    ['tomorrow at 9am and 5pm', 9, /a one-time schedule has only one time/],
    ['every day at 9am except holidays', 24, /"holidays" is not understood after "except"/],
    ['every day every week', 10, /contradicts an earlier part/],
    ['in 2 months', 0, /no fixed length/],
    ['every day at 9am until 2026-11-01', 17, /the end is before the start/],
    ['   ', 0, /is empty/],
    ['每天25点', 2, /25点 不是一个时刻/],
    ['每天很多次', 2, /^看不懂“很多次”$/],
    ['上午9点', 0, /没有说明多久一次/],
    ['每周一9点和每周二10点', 6, /两个计划/],
    ['每月32号', 0, /1 到 31/],
    ['每天9点除了节假日', 6, /看不懂“节假日”/],
    ['今天早上5点', 0, /已经过去/],
  ])('%s', (text, position, message) => {
    const flaw = refused(text)
    expect(flaw.message).toMatch(message)
    expect(flaw.position).toBe(position)
    expect(flaw.allowed).toMatch(/such as|for example|例如/)
  })

  it('is one that is too long, or no text', () => {
    expect(refused('every day '.repeat(60))).toMatchObject({ message: 'is too long' })
    expect(understandWords('text', 9, CONTEXT)).toMatchObject({ ok: false })
  })
})

describe('a refusal', () => {
  it('says what was understood before, and the nearest example', () => {
    expect(refused('every day at 9am except holidays').allowed).toBe(
      'for example "every day at 8am except on weekends"; understood so far: "every day", "at 9am"',
    )
    expect(refused('每天很多次').allowed).toBe('例如“每天晚上八点半”；已看懂：“每天”')
  })
})

describe('the examples', () => {
  it('are all understood', () => {
    for (const example of EXAMPLES) expect(understood(example).fields, example).not.toEqual({})
  })
})
