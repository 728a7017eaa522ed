import { hourInPart, isRealDay } from './english-terms.ts'
import { ENGLISH } from './english.ts'
import {
  grammarRule,
  type GrammarRule,
  type ClockTime,
  type DayPart,
  type DayRef,
  UNIT_MS,
  type BilingualNote,
  type PartMeaning,
  type StepUnit,
} from './parts.ts'
import { CHINESE_PLACE_NAMES, zoneOfPlace } from './place-zones.ts'

/** The Chinese grammar for times: patterns and their meanings. */
const DIGITS = '零一二三四五六七八九'

const NUM = String.raw`(?:\d{1,5}|[零〇一二两三四五六七八九十百]+)`
const UNIT = '(?:秒钟?|分钟|小时|个?钟头?|天|日|周|星期|礼拜|个?月|年)'
const DAY_LETTER = '[一二三四五六日天]'
/** A weekday with its prefix. In a list, only the first weekday needs the prefix. */
const WEEKDAY = `(?:周|星期|礼拜)${DAY_LETTER}`
const AND = String.raw`(?:\s*(?:、|和|及|与|跟|,)\s*)`
const TO = String.raw`(?:\s*(?:到|至|-|~|—)\s*)`
const DAY_SET = '(?:工作日|平日|周末|双休日)'
const LATER_DAY = `(?:(?:周|星期|礼拜)?${DAY_LETTER})(?![个年月天号点时分])`
const WEEKDAYS = `(?:(?:${WEEKDAY}(?:${TO}${LATER_DAY})?|${DAY_SET})(?:${AND}(?:每)?(?:${LATER_DAY}(?:${TO}${LATER_DAY})?|${DAY_SET}))*)`
const PART = '(?:凌晨|清晨|清早|早上|早晨|上午|中午|正午|下午|傍晚|晚上|晚间|夜里|夜晚|半夜)'
const CLOCK = `(?:${NUM}\\s*[点时](?:\\s*(?:半|[一三]刻|整|钟)|\\s*零?${NUM}分?)?|\\d{1,2}:\\d{2}(?::\\d{2})?)`
const TIME = `(?:${PART}?\\s*${CLOCK}|中午|正午|午夜|零点)`
const TIMES = `(?:${TIME}(?:${AND}${TIME})*)`
const DATE = `(?:(?:\\d{4}年)?${NUM}月${NUM}[日号]|\\d{4}-\\d{2}-\\d{2})`
const NEAR_DAY = `(?:今天|今日|明天|明日|大后天|后天|(?:下个?|这个?|本)(?:${WEEKDAY}))`
const DAY = `(?:${DATE}|${NEAR_DAY}|${WEEKDAY})`
const DATES = `(?:${NUM}[日号]?(?:${AND}${NUM}[日号]?)*(?<=[日号]))`
const MONTHS = `(?:${NUM}月份?(?:${TO}${NUM}月份?)?(?:${AND}${NUM}月份?)*)`

/** Parses a number of digits or Chinese numerals. */
function numberOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  let [total, digit] = [0, 0]
  for (const letter of text) {
    if (letter === '十' || letter === '百') {
      total += (digit === 0 ? 1 : digit) * (letter === '十' ? 10 : 100)
      digit = 0
    } else digit = letter === '两' ? 2 : letter === '〇' ? 0 : DIGITS.indexOf(letter)
  }
  return total + digit
}

function unitOf(text: string): StepUnit {
  if (text.startsWith('秒')) return 'second'
  if (text.startsWith('分')) return 'minute'
  if (/小时|钟/.test(text)) return 'hour'
  if (/^[天日]/.test(text)) return 'day'
  if (/周|星期|礼拜/.test(text)) return 'week'
  return text.includes('月') ? 'month' : 'year'
}

const weekdayOf = (text: string): number => {
  const letter = text.at(-1) ?? '一'
  return letter === '日' || letter === '天' ? 0 : DIGITS.indexOf(letter)
}

/** The weekdays in a list of weekdays. */
const weekdaysIn = (text: string): readonly number[] =>
  [
    ...text.matchAll(
      new RegExp(`${DAY_SET}|(?:周|星期|礼拜)?${DAY_LETTER}(?:${TO}(?:周|星期|礼拜)?${DAY_LETTER})?`, 'gu'),
    ),
  ].flatMap(([item]) => {
    if (/^(?:周末|双休日)/.test(item)) return [6, 0]
    if (/^(?:工作日|平日)/.test(item)) return [1, 2, 3, 4, 5]
    const [first = '', last = first] = item.split(/[到至~—-]/u)
    const [from, to] = [weekdayOf(first.trim()), weekdayOf(last.trim())]
    return Array.from({ length: ((to - from + 7) % 7) + 1 }, (_, index) => (from + index) % 7)
  })

/** The months in a list of months. */
const monthsIn = (text: string): readonly number[] =>
  [...text.matchAll(new RegExp(`(${NUM})月份?(?:${TO}(${NUM})月份?)?`, 'gu'))].flatMap(
    ([, first = '', last = first]) => {
      const [from, to] = [numberOf(first), numberOf(last)]
      return Array.from({ length: ((to - from + 12) % 12) + 1 }, (_, index) => ((from - 1 + index) % 12) + 1)
    },
  )

/** The numbers in a list of days of the month. */
const datesIn = (text: string): readonly number[] =>
  [...text.matchAll(new RegExp(NUM, 'gu'))].map(([one]) => numberOf(one))

const DAY_PARTS: readonly (readonly [RegExp, DayPart])[] = [
  [/凌晨|清晨|清早|早上|早晨|上午/, 'morning'],
  [/中午|正午/, 'noon'],
  [/下午|傍晚/, 'afternoon'],
  [/晚上|晚间/, 'evening'],
  [/夜里|夜晚|半夜/, 'night'],
]

/** The part of the day in a text, or null. */
const dayPartIn = (text: string): DayPart | null => DAY_PARTS.find(([pattern]) => pattern.test(text))?.[1] ?? null

/** The time of day in a text. */
function timeIn(text: string): ClockTime {
  if (/^\s*(?:午夜|零点)\s*$/.test(text)) return { second: 0, isHourOnly: false, text }
  if (/^\s*(?:中午|正午)\s*$/.test(text)) return { second: 12 * 3600, isHourOnly: false, text }
  const part = dayPartIn(text)
  const digital = /(\d{1,2}):(\d{2})(?::(\d{2}))?/.exec(text)
  const inWords = new RegExp(`(${NUM})\\s*[点时](?:\\s*(半|[一三]刻|整|钟)|\\s*零?(${NUM})分?)?`, 'u').exec(text)
  const given = numberOf(digital?.[1] ?? inWords?.[1] ?? '0')
  const word = inWords?.[2]
  const minute =
    digital === null ? wordMinute(word) + (inWords?.[3] === undefined ? 0 : numberOf(inWords[3])) : Number(digital[2])
  const hour = part === null ? given : hourInPart(given, part)
  const isBare = part === null && digital === null && given <= 12 && given > 0 && word !== '整'
  return { second: hour * 3600 + minute * 60 + Number(digital?.[3] ?? 0), isHourOnly: isBare, text }
}

const wordMinute = (word: string | undefined): number =>
  word === '半' ? 30 : word === '一刻' ? 15 : word === '三刻' ? 45 : 0

/** The times in a list. A part of the day applies to all following times until another one is given. */
function timesIn(text: string): readonly ClockTime[] {
  let part = ''
  return [...text.matchAll(new RegExp(TIME, 'gu'))].map(([item]) => {
    const own = new RegExp(`^${PART}`, 'u').exec(item)?.[0]
    if (own !== undefined || !/[点时]/.test(item)) {
      part = own ?? ''
      return timeIn(item)
    }
    const found = timeIn(part + item)
    return part === '' ? found : { ...found, text: item }
  })
}

/** The day in a text. */
function dayIn(text: string): DayRef {
  const date = new RegExp(`(?:(\\d{4})年)?(${NUM})月(${NUM})[日号]`, 'u').exec(text)
  if (date !== null)
    return {
      ...{ kind: 'date', year: date[1] === undefined ? null : Number(date[1]) },
      ...{ month: numberOf(date[2] ?? ''), day: numberOf(date[3] ?? '') },
    }
  const iso = /(\d{4})-(\d{2})-(\d{2})/.exec(text)
  if (iso !== null) return { kind: 'date', year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) }
  if (/今[天日]/.test(text)) return { kind: 'relative', days: 0 }
  if (/明[天日]/.test(text)) return { kind: 'relative', days: 1 }
  if (text.includes('后天')) return { kind: 'relative', days: text.includes('大') ? 3 : 2 }
  return { kind: 'weekday', weekday: weekdayOf(text), week: text.startsWith('下') ? 1 : 0 }
}

const bilingualNote = (en: string, zh: string): BilingualNote => ({ en, zh })
const invalidTime = (text: string): BilingualNote =>
  bilingualNote(`${text} is not a time of day`, `${text} 不是一个时刻`)

const isInvalidTime = ({ second, text }: ClockTime): boolean =>
  second > 86_400 ||
  numberOf(/(\d+|[零〇一二两三四五六七八九十]+)分/u.exec(text)?.[1] ?? '0') > 59 ||
  /:[6-9]\d/.test(text)

const timesMeaning = (times: readonly ClockTime[]): PartMeaning | BilingualNote => {
  const invalid = times.find(isInvalidTime)
  return invalid === undefined ? { kind: 'times', times } : invalidTime(invalid.text)
}

const dayMeaning = (text: string, toMeaning: (day: DayRef) => PartMeaning): PartMeaning | BilingualNote => {
  const day = dayIn(text)
  return isRealDay(day) ? toMeaning(day) : bilingualNote(`${text} is not a calendar date`, `${text} 不是一个日期`)
}

/** 每隔一天 means every 2 days, but 每隔两小时 means every 2 hours. */
function stepMeaning(apart: string | undefined, count: string | undefined, unit: string): PartMeaning | BilingualNote {
  const size = count === undefined ? 1 : numberOf(count)
  const word = unitOf(unit)
  if (size < 1) return bilingualNote('the interval must be at least 1', '间隔不能为 0')
  const skipsOne = apart !== undefined && size === 1 && word !== 'hour' && word !== 'minute' && word !== 'second'
  if (skipsOne) return { kind: 'step', count: 2, unit: word }
  const note = bilingualNote(
    `每隔${count ?? ''}${unit} is read as every ${size} ${word}s`,
    `“每隔${count ?? ''}${unit}”理解为每 ${size} ${unit}一次`,
  )
  return { kind: 'step', count: size, unit: word, ...(apart === undefined ? {} : { note }) }
}

const CHINESE_STEPS: readonly GrammarRule[] = [
  grammarRule(
    `每(?<apart>隔)?\\s*(?<count>${NUM})?\\s*个?(?<unit>${UNIT})(?![一二三四五六日天末](?![个]))`,
    ({ apart, count, unit = '' }) => stepMeaning(apart, count, unit),
  ),
  grammarRule('每(?:半个?(?:小时|钟头))', () => ({ kind: 'step', count: 30, unit: 'minute' })),
  grammarRule('每(?:一刻钟)', () => ({ kind: 'step', count: 15, unit: 'minute' })),
  grammarRule('(?:天天|每一天)', () => ({ kind: 'step', count: 1, unit: 'day' })),
  grammarRule('(?:隔天|隔日)', () => ({ kind: 'step', count: 2, unit: 'day' })),
  grammarRule('(?:隔周|每两周|每双周)的?', () => ({ kind: 'step', count: 2, unit: 'week' })),
  grammarRule('隔月', () => ({ kind: 'step', count: 2, unit: 'month' })),
  grammarRule('每个?季度?', () => [
    { kind: 'step', count: 1, unit: 'month' },
    { kind: 'months', months: [1, 4, 7, 10] },
  ]),
  grammarRule(`每[天日周月年](?:${NUM})次`, (_, text) =>
    bilingualNote(`${text} does not say at what times`, `“${text}”没有说明具体时间`),
  ),
]

const EACH = '(?:每逢|每个|每|逢)'
const MONTHLY = '(?:每个?月)的?'

/** Days of the week, month or year. */
const CHINESE_DAYS: readonly GrammarRule[] = [
  grammarRule(`(?<every>${EACH})?的?(?<days>${WEEKDAYS})`, ({ every, days = '' }) => ({
    ...{ kind: 'weekdays', days: weekdaysIn(days) },
    isEvery: every !== undefined || /工作日|平日|周末|双休日/.test(days) || weekdaysIn(days).length > 1,
  })),
  grammarRule(
    `(?:${MONTHLY})?(?:第(?<place>${NUM})|(?<last>最后一))个(?<day>${WEEKDAY}|工作日)`,
    ({ place: ordinal, last, day = '' }) => {
      const ordinalNumber = last === undefined ? numberOf(ordinal ?? '') : -1
      if (day !== '工作日')
        return ordinalNumber > 5
          ? bilingualNote('a month has at most five of each weekday', '一个月同一星期几最多五次')
          : { kind: 'places', places: [ordinalNumber], days: weekdaysIn(day) }
      if (ordinalNumber === 1 || ordinalNumber === -1)
        return { kind: 'nearest', which: ordinalNumber === 1 ? '1W' : 'LW' }
      return bilingualNote(
        'only the first and the last weekday of a month are supported',
        '只支持每月第一个或最后一个工作日',
      )
    },
  ),
  grammarRule(`(?:${MONTHLY}|月)(?:最后一天|底)`, () => ({ kind: 'dates', dates: [-1] })),
  grammarRule(`${MONTHLY}第(?<day>${NUM})天`, ({ day = '' }) => datesMeaning([numberOf(day)])),
  grammarRule(`${MONTHLY}(?<dates>${DATES})`, ({ dates = '' }) => datesMeaning(datesIn(dates))),
  grammarRule(`每年的?(?<date>${DATE})`, ({ date = '' }) =>
    dayMeaning(date, (day) =>
      day.kind === 'date' ? { kind: 'yearday', month: day.month, day: day.day } : { kind: 'day', day },
    ),
  ),
  grammarRule(`(?:只?在|每年的?)?(?<months>${MONTHS})(?!\\s*${NUM}[日号])的?`, ({ months = '' }) =>
    monthsIn(months).some((month) => month < 1 || month > 12)
      ? bilingualNote('months are 1 to 12', '月份应在 1 到 12 之间')
      : { kind: 'months', months: monthsIn(months) },
  ),
]

const datesMeaning = (dates: readonly number[]): PartMeaning | BilingualNote =>
  dates.some((date) => date < 1 || date > 31)
    ? bilingualNote('days of the month are 1 to 31', '日期应在 1 到 31 之间')
    : { kind: 'dates', dates }

const CHINESE_TIMES: readonly GrammarRule[] = [
  grammarRule(`(?:在|的)?(?<times>${TIMES})`, ({ times = '' }) => timesMeaning(timesIn(times))),
  grammarRule(
    `(?:从|在)?(?<from>${TIME})\\s*(?:到|至|-|~|—)\\s*(?<to>${TIME})(?:之间|期间|间)?的?`,
    ({ from = '', to = '' }) => {
      const [first, last] = timesIn(`${from}、${to}`)
      if (first === undefined || last === undefined) return null
      const invalid = [first, last].find(isInvalidTime)
      return invalid === undefined ? { kind: 'span', from: first, to: last } : invalidTime(invalid.text)
    },
  ),
  grammarRule(`(?:每个?小时|每个?钟头)的?第?(?<minute>${NUM})分钟?(?!一次)`, ({ minute = '' }) =>
    numberOf(minute) > 59
      ? bilingualNote('minutes are 0 to 59', '分钟应在 0 到 59 之间')
      : { kind: 'minutes', minutes: [numberOf(minute)] },
  ),
  grammarRule(
    `(?<every>每天?)?(?<part>凌晨|清晨|早上|早晨|上午|下午|傍晚|晚上|夜里)(?!\\s*(?:${NUM}\\s*[点时]|\\d{1,2}:))`,
    ({ every, part = '' }) => {
      const found = dayPartIn(part)
      return found === null ? null : { kind: 'part', part: found, isEvery: every !== undefined }
    },
  ),
]

const CHINESE_ONCE: readonly GrammarRule[] = [
  grammarRule(`(?:过)?(?<count>${NUM})\\s*个?(?<unit>${UNIT})(?:之后|以后|后)`, ({ count = '', unit = '' }) => {
    const word = unitOf(unit)
    if (word === 'month' || word === 'year')
      return bilingualNote(`a ${word} has no fixed length; use a date instead`, '月和年的长度不固定，请写明日期')
    return { kind: 'after', ms: numberOf(count) * UNIT_MS[word] }
  }),
  grammarRule('半个?小时(?:之后|以后|后)', () => ({ kind: 'after', ms: 30 * UNIT_MS.minute })),
  grammarRule('(?<day>[今明])(?<part>[早晚])', ({ day, part }) => [
    { kind: 'day', day: { kind: 'relative', days: day === '今' ? 0 : 1 } },
    { kind: 'part', part: part === '早' ? 'morning' : 'evening', isEvery: false },
  ]),
  grammarRule(`(?<day>${NEAR_DAY}|${DATE})的?`, ({ day = '' }) =>
    dayMeaning(day, (found) => ({ kind: 'day', day: found })),
  ),
  grammarRule(`(?:总?共)(?<count>${NUM})次`, ({ count = '' }) => ({ kind: 'fires', count: numberOf(count) })),
  grammarRule(`(?:从|自)(?<day>${DAY})(?<time>${TIME})?(?:起|开始)?`, ({ day = '', time }) => startsMeaning(day, time)),
  grammarRule(`(?<day>${DAY})(?<time>${TIME})?(?:起|开始)`, ({ day = '', time }) => startsMeaning(day, time)),
  grammarRule(`(?:直到|到|至|截至|截止到?)(?<day>${DAY})(?<time>${TIME})?(?:为止|结束|止)?`, ({ day = '', time }) =>
    dayMeaning(day, (found) => ({ kind: 'ends', day: found, time: time === undefined ? null : timeIn(time) })),
  ),
]

const startsMeaning = (day: string, time: string | undefined): PartMeaning | BilingualNote =>
  dayMeaning(day, (found) => ({ kind: 'starts', day: found, time: time === undefined ? null : timeIn(time) }))

/** Exceptions in both word orders: 除了周末以外 and 周末除外. */
const exceptionRules = (item: string, read: (text: string) => PartMeaning | BilingualNote): readonly GrammarRule[] => [
  grammarRule(`除了?(?:每)?(?<item>${item})(?:以外|之外|外)?`, ({ item: found = '' }) => read(found)),
  grammarRule(`(?:但)?(?<item>${item})(?:除外|不算)`, ({ item: found = '' }) => read(found)),
]

const CHINESE_EXCEPTIONS: readonly GrammarRule[] = [
  ...exceptionRules(WEEKDAYS, (days) => ({ kind: 'except', weekdays: weekdaysIn(days), months: [], days: [] })),
  ...exceptionRules(MONTHS, (months) => ({ kind: 'except', weekdays: [], months: monthsIn(months), days: [] })),
  ...exceptionRules(`${DATE}(?:(?:、|和)${DATE})*`, (dates) => {
    const days = [...dates.matchAll(new RegExp(DATE, 'gu'))].map(([text]) => dayIn(text))
    return days.every(isRealDay)
      ? { kind: 'except', weekdays: [], months: [], days }
      : bilingualNote(`${dates} is not a date`, `${dates} 不是一个日期`)
  }),
]

const CHINESE_ZONES: readonly GrammarRule[] = [
  grammarRule(
    `(?:在|按|用)?(?<place>${CHINESE_PLACE_NAMES.join('|')})(?:当地)?(?:时间|时区)?的?`,
    ({ place: ordinal = '' }) => {
      const zone = zoneOfPlace(ordinal)
      return zone === null ? null : { kind: 'zone', zone }
    },
  ),
]

const CHINESE_FILLERS: readonly GrammarRule[] = [grammarRule('(?:请|运行|执行|一次|提醒我|的|在)', () => [])]

/** All clauses for Chinese sentences. They include the English ones, because time zones can be in English. */
export const CHINESE: readonly GrammarRule[] = [
  ...CHINESE_STEPS,
  ...CHINESE_DAYS,
  ...CHINESE_TIMES,
  ...CHINESE_ONCE,
  ...CHINESE_EXCEPTIONS,
  ...CHINESE_ZONES,
  ...CHINESE_FILLERS,
  ...ENGLISH,
]
