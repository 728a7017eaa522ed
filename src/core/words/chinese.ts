import {
  DATE,
  DATES,
  datesIn,
  DAY,
  dayIn,
  MONTHS,
  monthsIn,
  NEAR_DAY,
  NUM,
  numberOf,
  partIn,
  TIME,
  TIMES,
  timeIn,
  timesIn,
  UNIT,
  unitOf,
  WEEKDAY,
  WEEKDAYS,
  weekdaysIn,
} from './chinese-terms.ts'
import { ENGLISH } from './english.ts'
import { isRealDay } from '../../domain/words/english-terms.ts'
import {
  clause,
  type Clause,
  type ClockTime,
  type DayRef,
  MS,
  type Note,
  type Saying,
} from '../../domain/words/parts.ts'
import { CHINESE_PLACE_NAMES, zoneOfPlace } from '../../domain/words/place-zones.ts'

const both = (en: string, zh: string): Note => ({ en, zh })
const badTime = (text: string): Note => both(`${text} is no time of day`, `${text} 不是一个时刻`)

const isOdd = ({ second, text }: ClockTime): boolean =>
  second > 86_400 ||
  numberOf(/(\d+|[零〇一二两三四五六七八九十]+)分/u.exec(text)?.[1] ?? '0') > 59 ||
  /:[6-9]\d/.test(text)

const ofTimes = (times: readonly ClockTime[]): Saying | Note => {
  const odd = times.find(isOdd)
  return odd === undefined ? { kind: 'times', times } : badTime(odd.text)
}

const ofDay = (text: string, says: (day: DayRef) => Saying): Saying | Note => {
  const day = dayIn(text)
  return isRealDay(day) ? says(day) : both(`${text} is no day of the calendar`, `${text} 不是一个日期`)
}

/** 每隔一天 leaves a day out; 每隔两小时 is said of every two hours. */
function stepOf(apart: string | undefined, count: string | undefined, unit: string): Saying | Note {
  const size = count === undefined ? 1 : numberOf(count)
  const word = unitOf(unit)
  if (size < 1) return both('every 0 is never', '间隔不能为 0')
  const leavesOut = apart !== undefined && size === 1 && word !== 'hour' && word !== 'minute' && word !== 'second'
  if (leavesOut) return { kind: 'step', count: 2, unit: word }
  const note = both(
    `每隔${count ?? ''}${unit} is read as every ${size} ${word}s`,
    `“每隔${count ?? ''}${unit}”理解为每 ${size} ${unit}一次`,
  )
  return { kind: 'step', count: size, unit: word, ...(apart === undefined ? {} : { note }) }
}

const STEPS: readonly Clause[] = [
  clause(
    `每(?<apart>隔)?\\s*(?<count>${NUM})?\\s*个?(?<unit>${UNIT})(?![一二三四五六日天末](?![个]))`,
    ({ apart, count, unit = '' }) => stepOf(apart, count, unit),
  ),
  clause('每(?:半个?(?:小时|钟头))', () => ({ kind: 'step', count: 30, unit: 'minute' })),
  clause('每(?:一刻钟)', () => ({ kind: 'step', count: 15, unit: 'minute' })),
  clause('(?:天天|每一天)', () => ({ kind: 'step', count: 1, unit: 'day' })),
  clause('(?:隔天|隔日)', () => ({ kind: 'step', count: 2, unit: 'day' })),
  clause('(?:隔周|每两周|每双周)的?', () => ({ kind: 'step', count: 2, unit: 'week' })),
  clause('隔月', () => ({ kind: 'step', count: 2, unit: 'month' })),
  clause('每个?季度?', () => [
    { kind: 'step', count: 1, unit: 'month' },
    { kind: 'months', months: [1, 4, 7, 10] },
  ]),
  clause(`每[天日周月年](?:${NUM})次`, (_, text) => both(`${text} leaves open when`, `“${text}”没有说明具体时间`)),
]

const EACH = '(?:每逢|每个|每|逢)'
const MONTHLY = '(?:每个?月)的?'

/** In a month, once or in each: the place is what matters. */
const DAYS: readonly Clause[] = [
  clause(`(?<every>${EACH})?的?(?<days>${WEEKDAYS})`, ({ every, days = '' }) => ({
    ...{ kind: 'weekdays', days: weekdaysIn(days) },
    isEvery: every !== undefined || /工作日|平日|周末|双休日/.test(days) || weekdaysIn(days).length > 1,
  })),
  clause(
    `(?:${MONTHLY})?(?:第(?<place>${NUM})|(?<last>最后一))个(?<day>${WEEKDAY}|工作日)`,
    ({ place, last, day = '' }) => {
      const which = last === undefined ? numberOf(place ?? '') : -1
      if (day !== '工作日')
        return which > 5
          ? both('a month has at most five of each weekday', '一个月同一星期几最多五次')
          : { kind: 'places', places: [which], days: weekdaysIn(day) }
      if (which === 1 || which === -1) return { kind: 'nearest', which: which === 1 ? '1W' : 'LW' }
      return both('only the first and the last weekday of a month are known', '只支持每月第一个或最后一个工作日')
    },
  ),
  clause(`(?:${MONTHLY}|月)(?:最后一天|底)`, () => ({ kind: 'dates', dates: [-1] })),
  clause(`${MONTHLY}第(?<day>${NUM})天`, ({ day = '' }) => ofDates([numberOf(day)])),
  clause(`${MONTHLY}(?<dates>${DATES})`, ({ dates = '' }) => ofDates(datesIn(dates))),
  clause(`每年的?(?<date>${DATE})`, ({ date = '' }) =>
    ofDay(date, (day) =>
      day.kind === 'date' ? { kind: 'yearday', month: day.month, day: day.day } : { kind: 'day', day },
    ),
  ),
  clause(`(?:只?在|每年的?)?(?<months>${MONTHS})(?!\\s*${NUM}[日号])的?`, ({ months = '' }) =>
    monthsIn(months).some((month) => month < 1 || month > 12)
      ? both('a year has 12 months', '月份应在 1 到 12 之间')
      : { kind: 'months', months: monthsIn(months) },
  ),
]

const ofDates = (dates: readonly number[]): Saying | Note =>
  dates.some((date) => date < 1 || date > 31)
    ? both('a month has the days 1 to 31', '日期应在 1 到 31 之间')
    : { kind: 'dates', dates }

const TIMES_OF_DAY: readonly Clause[] = [
  clause(`(?:在|的)?(?<times>${TIMES})`, ({ times = '' }) => ofTimes(timesIn(times))),
  clause(
    `(?:从|在)?(?<from>${TIME})\\s*(?:到|至|-|~|—)\\s*(?<to>${TIME})(?:之间|期间|间)?的?`,
    ({ from = '', to = '' }) => {
      const [first, last] = timesIn(`${from}、${to}`)
      if (first === undefined || last === undefined) return null
      const odd = [first, last].find(isOdd)
      return odd === undefined ? { kind: 'span', from: first, to: last } : badTime(odd.text)
    },
  ),
  clause(`(?:每个?小时|每个?钟头)的?第?(?<minute>${NUM})分钟?(?!一次)`, ({ minute = '' }) =>
    numberOf(minute) > 59
      ? both('an hour has the minutes 0 to 59', '分钟应在 0 到 59 之间')
      : { kind: 'minutes', minutes: [numberOf(minute)] },
  ),
  clause(
    `(?<every>每天?)?(?<part>凌晨|清晨|早上|早晨|上午|下午|傍晚|晚上|夜里)(?!\\s*(?:${NUM}\\s*[点时]|\\d{1,2}:))`,
    ({ every, part = '' }) => {
      const found = partIn(part)
      return found === null ? null : { kind: 'part', part: found, isEvery: every !== undefined }
    },
  ),
]

const ONCE: readonly Clause[] = [
  clause(`(?:过)?(?<count>${NUM})\\s*个?(?<unit>${UNIT})(?:之后|以后|后)`, ({ count = '', unit = '' }) => {
    const word = unitOf(unit)
    if (word === 'month' || word === 'year')
      return both(`a ${word} has no fixed length: name the date`, '月和年的长度不固定，请写明日期')
    return { kind: 'after', ms: numberOf(count) * MS[word] }
  }),
  clause('半个?小时(?:之后|以后|后)', () => ({ kind: 'after', ms: 30 * MS.minute })),
  clause('(?<day>[今明])(?<part>[早晚])', ({ day, part }) => [
    { kind: 'day', day: { kind: 'relative', days: day === '今' ? 0 : 1 } },
    { kind: 'part', part: part === '早' ? 'morning' : 'evening', isEvery: false },
  ]),
  clause(`(?<day>${NEAR_DAY}|${DATE})的?`, ({ day = '' }) => ofDay(day, (found) => ({ kind: 'day', day: found }))),
  clause(`(?:总?共)(?<count>${NUM})次`, ({ count = '' }) => ({ kind: 'fires', count: numberOf(count) })),
  clause(`(?:从|自)(?<day>${DAY})(?<time>${TIME})?(?:起|开始)?`, ({ day = '', time }) => startOf(day, time)),
  clause(`(?<day>${DAY})(?<time>${TIME})?(?:起|开始)`, ({ day = '', time }) => startOf(day, time)),
  clause(`(?:直到|到|至|截至|截止到?)(?<day>${DAY})(?<time>${TIME})?(?:为止|结束|止)?`, ({ day = '', time }) =>
    ofDay(day, (found) => ({ kind: 'ends', day: found, time: time === undefined ? null : timeIn(time) })),
  ),
]

const startOf = (day: string, time: string | undefined): Saying | Note =>
  ofDay(day, (found) => ({ kind: 'starts', day: found, time: time === undefined ? null : timeIn(time) }))

/** Both around it: 除了周末以外, and behind it: 周末除外. */
const outside = (item: string, read: (text: string) => Saying | Note): readonly Clause[] => [
  clause(`除了?(?:每)?(?<item>${item})(?:以外|之外|外)?`, ({ item: found = '' }) => read(found)),
  clause(`(?:但)?(?<item>${item})(?:除外|不算)`, ({ item: found = '' }) => read(found)),
]

const EXCEPTIONS: readonly Clause[] = [
  ...outside(WEEKDAYS, (days) => ({ kind: 'except', weekdays: weekdaysIn(days), months: [], days: [] })),
  ...outside(MONTHS, (months) => ({ kind: 'except', weekdays: [], months: monthsIn(months), days: [] })),
  ...outside(`${DATE}(?:(?:、|和)${DATE})*`, (dates) => {
    const days = [...dates.matchAll(new RegExp(DATE, 'gu'))].map(([text]) => dayIn(text))
    return days.every(isRealDay)
      ? { kind: 'except', weekdays: [], months: [], days }
      : both(`${dates} is no date`, `${dates} 不是一个日期`)
  }),
]

const ZONES: readonly Clause[] = [
  clause(`(?:在|按|用)?(?<place>${CHINESE_PLACE_NAMES.join('|')})(?:当地)?(?:时间|时区)?的?`, ({ place = '' }) => {
    const zone = zoneOfPlace(place)
    return zone === null ? null : { kind: 'zone', zone }
  }),
]

const FILLERS: readonly Clause[] = [clause('(?:请|运行|执行|一次|提醒我|的|在)', () => [])]

/** Every way of saying something about time in Chinese that is understood; names of zones may be English. */
export const CHINESE: readonly Clause[] = [
  ...STEPS,
  ...DAYS,
  ...TIMES_OF_DAY,
  ...ONCE,
  ...EXCEPTIONS,
  ...ZONES,
  ...FILLERS,
  ...ENGLISH,
]
