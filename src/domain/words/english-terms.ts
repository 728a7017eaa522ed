import { monthLength } from '../time/calendar.ts'
import type { ClockTime, DayPart, DayRef, StepUnit } from './parts.ts'

/** The English terms for times: patterns and their meanings. */
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{
    eleven: 11,
    twelve: 12,
    fifteen: 15,
    twenty: 20,
    thirty: 30,
    forty: 40,
    'forty-five': 45,
    sixty: 60,
    ninety: 90,
  },
}
const ORDINALS = [
  ...['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth'],
  ...['eleventh', 'twelfth'],
]
const WEEKDAY_STARTS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MONTH_STARTS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

/** End of a word. */
export const END = String.raw`(?![\p{L}\p{N}])`
export const NUM = String.raw`(?:\d{1,5}|${Object.keys(NUMBERS)
  .sort((a, b) => b.length - a.length)
  .join('|')})`
export const UNIT = String.raw`(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?)${END}`
export const WEEKDAY =
  String.raw`(?:sun(?:day)?s?|mon(?:day)?s?|tue(?:s(?:day)?)?s?|wed(?:nesday)?s?|thu(?:r(?:s(?:day)?)?)?s?|` +
  String.raw`fri(?:day)?s?|sat(?:urday)?s?)${END}`
const DAY_SET = String.raw`(?:(?:week|work|working |business )days?|weekends?)${END}`
export const MONTH =
  String.raw`(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|` +
  String.raw`oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)${END}`
export const ORDINAL = String.raw`(?:\d{1,2}(?:st|nd|rd|th)|${ORDINALS.join('|')}|last)${END}`
const TO = String.raw`\s*(?:-|–|to|through|thru|till|until)\s*`
const SEPARATOR = String.raw`(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*&\s*|\s*/\s*)`

/** A list of one or more items, separated by commas or words. */
export const listOf = (item: string): string => `${item}(?:${SEPARATOR}(?:the\\s+|on\\s+|every\\s+|at\\s+)?${item})*`
const ranged = (item: string): string => `${item}(?:${TO}${item})?`
export const WEEKDAYS = listOf(`(?:${ranged(WEEKDAY)}|${DAY_SET})`)
export const MONTHS = listOf(ranged(MONTH))

const AM_PM = String.raw`(?:\s*(?:a\.?m\.?|p\.?m\.?)${END}|\s*o['’]?clock${END})`
const PART_OF_DAY = String.raw`(?:\s+(?:in\s+the\s+(?:morning|afternoon|evening)|at\s+night)${END})`
const HOUR = String.raw`(?:2[0-4]|1\d|0?\d)`
const NAMED_TIME = String.raw`(?:noon|midday|midnight)${END}`
const PAST = String.raw`(?:half\s+past|(?:a\s+)?quarter\s+(?:past|to)|${NUM}\s+(?:minutes\s+)?(?:past|to))\s+${HOUR}${AM_PM}?${END}${PART_OF_DAY}?`
const MINUTE = String.raw`(?:[:.]\d{2}(?::\d{2})?|h\d{2}|h)`
/** Excludes numbers that are part of a date, a duration, a count or a longer time. */
const NOT_A_DATE = String.raw`(?!\s*(?:-\s*\d{1,2}\s+)?(?:of\s+)?${MONTH})(?!\s+${UNIT})(?!\s+times)(?![\d:.h]*\d)`

/** A time of day after a word such as "at". */
export const TIME = `(?:${NAMED_TIME}|${PAST}|${HOUR}(?:${MINUTE})?(?:${AM_PM})?${END}${NOT_A_DATE}${PART_OF_DAY}?)`
/** A time of day that is unambiguous without a word such as "at". */
export const PLAIN_TIME = `(?:${NAMED_TIME}|${PAST}|${HOUR}(?:[:]\\d{2}(?::\\d{2})?(?:${AM_PM})?|${AM_PM})${END}${PART_OF_DAY}?)`
export const TIMES = listOf(TIME)
export const PLAIN_TIMES = listOf(`(?:${PLAIN_TIME})`)
const YEAR = String.raw`(?:,?\s+\d{4}${END}(?!:))`
const DAY_NUMBER = String.raw`(?:\d{1,2}(?:st|nd|rd|th)?)${END}`
/** A calendar date. */
export const DATE = String.raw`(?:\d{4}-\d{2}-\d{2}|${DAY_NUMBER}\s+(?:of\s+)?${MONTH}${YEAR}?|${MONTH}\s+(?:the\s+)?${DAY_NUMBER}${YEAR}?)`
/** A day relative to today. */
export const NEAR_DAY = String.raw`(?:the\s+day\s+after\s+tomorrow|today|tonight|tomorrow|(?:next|this|coming|this\s+coming)\s+${WEEKDAY})`
export const DAY = `(?:${DATE}|${NEAR_DAY}|${WEEKDAY})`

/** Parses a number word or digits. */
export const numberOf = (word: string): number => NUMBERS[word.toLowerCase()] ?? Number(word)

/** Parses an ordinal; -1 for "last". */
export function ordinalOf(word: string): number {
  const lower = word.toLowerCase()
  if (lower === 'last') return -1
  const index = ORDINALS.indexOf(lower)
  return index >= 0 ? index + 1 : Number.parseInt(lower, 10)
}

export const unitOf = (word: string): StepUnit => {
  const lower = word.toLowerCase().replace(/s$/, '')
  if (lower.startsWith('sec')) return 'second'
  if (lower.startsWith('min')) return 'minute'
  if (lower.startsWith('h')) return 'hour'
  return lower as StepUnit
}

const matchesOf = (pattern: string, text: string): readonly string[] =>
  [...text.matchAll(new RegExp(pattern, 'giu'))].map((match) => match[0])

/** The ordinals in a text. */
export const ordinalsIn = (text: string): readonly number[] => matchesOf(ORDINAL, text).map(ordinalOf)

const weekdayOf = (word: string): number => WEEKDAY_STARTS.indexOf(word.trim().slice(0, 3).toLowerCase())
const monthOf = (word: string): number => MONTH_STARTS.indexOf(word.trim().slice(0, 3).toLowerCase()) + 1

/** The values from one to another; wraps around at `size`. */
function wrappedRange(from: number, to: number, size: number): readonly number[] {
  const length = ((to - from + size) % size) + 1
  return Array.from({ length }, (_, index) => (from + index) % size)
}

/** The weekdays in a list of weekdays. */
export const weekdaysIn = (text: string): readonly number[] =>
  matchesOf(`${ranged(WEEKDAY)}|${DAY_SET}`, text).flatMap((item) => {
    const word = item.toLowerCase()
    if (word.startsWith('weekend')) return [6, 0]
    if (/^(?:weekday|work|business)/.test(word)) return [1, 2, 3, 4, 5]
    const [first = '', last = first] = matchesOf(WEEKDAY, item)
    return wrappedRange(weekdayOf(first), weekdayOf(last), 7)
  })

/** The months in a list of months. */
export const monthsIn = (text: string): readonly number[] =>
  matchesOf(ranged(MONTH), text).flatMap((item) => {
    const [first = '', last = first] = matchesOf(MONTH, item)
    return wrappedRange(monthOf(first) - 1, monthOf(last) - 1, 12).map((month) => month + 1)
  })

/** Converts an hour of a 12-hour clock with a part of the day to 24 hours. */
export function hourInPart(hour: number, part: DayPart): number {
  if (hour > 12) return hour
  if (part === 'morning') return hour === 12 ? 0 : hour
  // 12 at night is midnight at the end of the day.
  if (part === 'night') return hour === 12 ? 24 : hour < 6 ? hour : hour + 12
  if (part === 'evening') return hour + 12
  if (part === 'noon') return hour < 3 ? hour + 12 : hour
  return hour === 12 ? 12 : hour + 12
}

/** The time of day in a text. */
export function timeIn(text: string): ClockTime {
  const lower = text.toLowerCase().trim()
  if (lower.startsWith('midnight')) return { second: 0, isHourOnly: false, text }
  if (/^(?:noon|midday)/.test(lower)) return { second: 12 * 3600, isHourOnly: false, text }
  const past =
    /^(?:(half|(?:a\s+)?quarter|[\w-]+)(?:\s+minutes)?\s+(past|to)\s+)?(\d{1,2})(?:[:.h](\d{2}))?(?::(\d{2}))?/.exec(
      lower,
    )
  const [, fraction, side, hourText = '0', minuteText = '0', secondText = '0'] = past ?? []
  const isPm = /p\.?m/.test(lower)
  const isAm = /a\.?m/.test(lower)
  const part = /morning|afternoon|evening|night/.exec(lower)?.[0] as DayPart | undefined
  const given = Number(hourText)
  const hour = isPm ? (given % 12) + 12 : isAm ? given % 12 : part === undefined ? given : hourInPart(given, part)
  const minutesAway =
    fraction === undefined ? 0 : /half/.test(fraction) ? 30 : /quarter/.test(fraction) ? 15 : numberOf(fraction)
  const minute = fraction === undefined ? Number(minuteText) : side === 'to' ? -minutesAway : minutesAway
  const isBare = !isPm && !isAm && part === undefined && past?.[4] === undefined
  return { second: hour * 3600 + minute * 60 + Number(secondText), isHourOnly: isBare, text }
}

/** The times in a list of times. */
export const timesIn = (text: string): readonly ClockTime[] => matchesOf(TIME, text).map(timeIn)

/** Whether the time does not exist, such as 15am. */
export const isInvalidTime = ({ second, text }: ClockTime): boolean => {
  const hour = /(\d{1,2})\D*$/.exec(text.replace(/[:.h]\d{2}.*/, ''))?.[1]
  const isHalf = /[ap]\.?m/i.test(text)
  return second < 0 || second > 86_400 || /[:.](?:[6-9]\d)/.test(text) || (isHalf && Number(hour ?? 0) > 12)
}

/** The day in a text. */
export function dayIn(text: string): DayRef {
  const lower = text.toLowerCase().trim()
  const iso = /^(\d{4})-(\d{2})-(\d{2})/.exec(lower)
  if (iso !== null) return { kind: 'date', year: Number(iso[1]), month: Number(iso[2]), day: Number(iso[3]) }
  if (/^(?:today|tonight)/.test(lower)) return { kind: 'relative', days: 0 }
  if (lower.startsWith('tomorrow')) return { kind: 'relative', days: 1 }
  if (/^the\s+day\s+after/.test(lower)) return { kind: 'relative', days: 2 }
  const [month] = matchesOf(`(?<![\\p{L}])${MONTH}`, lower)
  if (month !== undefined && /\d/.test(lower)) {
    const year = /\d{4}/.exec(lower)?.[0]
    const day = /\d{1,2}/.exec(lower.replace(/\d{4}/, ''))?.[0]
    return { kind: 'date', year: year === undefined ? null : Number(year), month: monthOf(month), day: Number(day) }
  }
  const [weekday = 'mon'] = matchesOf(WEEKDAY, lower)
  return { kind: 'weekday', weekday: weekdayOf(weekday), week: 0 }
}

/** Whether the day exists. February 29 without a year does. */
export const isRealDay = (day: DayRef): boolean =>
  day.kind !== 'date' ||
  (day.month >= 1 && day.month <= 12 && day.day >= 1 && day.day <= monthLength(day.year ?? 2024, day.month))
