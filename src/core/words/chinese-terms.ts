import { hourInPart } from '../../domain/words/english-terms.ts'
import type { ClockTime, DayPart, DayRef, StepUnit } from '../../domain/words/parts.ts'

/** The smallest pieces of Chinese about time: patterns, and what they mean. */
const DIGITS = '零一二三四五六七八九'

export const NUM = String.raw`(?:\d{1,5}|[零〇一二两三四五六七八九十百]+)`
export const UNIT = '(?:秒钟?|分钟|小时|个?钟头?|天|日|周|星期|礼拜|个?月|年)'
const DAY_LETTER = '[一二三四五六日天]'
/** A weekday by its full name; in a list only the first needs it. */
export const WEEKDAY = `(?:周|星期|礼拜)${DAY_LETTER}`
const AND = String.raw`(?:\s*(?:、|和|及|与|跟|,)\s*)`
const TO = String.raw`(?:\s*(?:到|至|-|~|—)\s*)`
const DAY_SET = '(?:工作日|平日|周末|双休日)'
const LATER_DAY = `(?:(?:周|星期|礼拜)?${DAY_LETTER})(?![个年月天号点时分])`
export const WEEKDAYS = `(?:(?:${WEEKDAY}(?:${TO}${LATER_DAY})?|${DAY_SET})(?:${AND}(?:每)?(?:${LATER_DAY}(?:${TO}${LATER_DAY})?|${DAY_SET}))*)`
const PART = '(?:凌晨|清晨|清早|早上|早晨|上午|中午|正午|下午|傍晚|晚上|晚间|夜里|夜晚|半夜)'
const CLOCK = `(?:${NUM}\\s*[点时](?:\\s*(?:半|[一三]刻|整|钟)|\\s*零?${NUM}分?)?|\\d{1,2}:\\d{2}(?::\\d{2})?)`
export const TIME = `(?:${PART}?\\s*${CLOCK}|中午|正午|午夜|零点)`
export const TIMES = `(?:${TIME}(?:${AND}${TIME})*)`
export const DATE = `(?:(?:\\d{4}年)?${NUM}月${NUM}[日号]|\\d{4}-\\d{2}-\\d{2})`
export const NEAR_DAY = `(?:今天|今日|明天|明日|大后天|后天|(?:下个?|这个?|本)(?:${WEEKDAY}))`
export const DAY = `(?:${DATE}|${NEAR_DAY}|${WEEKDAY})`
export const DATES = `(?:${NUM}[日号]?(?:${AND}${NUM}[日号]?)*(?<=[日号]))`
export const MONTHS = `(?:${NUM}月份?(?:${TO}${NUM}月份?)?(?:${AND}${NUM}月份?)*)`

/** The number that digits or characters stand for. */
export function numberOf(text: string): number {
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

export function unitOf(text: string): StepUnit {
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
export const weekdaysIn = (text: string): readonly number[] =>
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
export const monthsIn = (text: string): readonly number[] =>
  [...text.matchAll(new RegExp(`(${NUM})月份?(?:${TO}(${NUM})月份?)?`, 'gu'))].flatMap(
    ([, first = '', last = first]) => {
      const [from, to] = [numberOf(first), numberOf(last)]
      return Array.from({ length: ((to - from + 12) % 12) + 1 }, (_, index) => ((from - 1 + index) % 12) + 1)
    },
  )

/** The numbers in a list of days of the month. */
export const datesIn = (text: string): readonly number[] =>
  [...text.matchAll(new RegExp(NUM, 'gu'))].map(([one]) => numberOf(one))

const PARTS: readonly (readonly [RegExp, DayPart])[] = [
  [/凌晨|清晨|清早|早上|早晨|上午/, 'morning'],
  [/中午|正午/, 'noon'],
  [/下午|傍晚/, 'afternoon'],
  [/晚上|晚间/, 'evening'],
  [/夜里|夜晚|半夜/, 'night'],
]

/** The part of the day that a text names, or null. */
export const partIn = (text: string): DayPart | null => PARTS.find(([pattern]) => pattern.test(text))?.[1] ?? null

/** The time of day in a text. */
export function timeIn(text: string): ClockTime {
  if (/^\s*(?:午夜|零点)\s*$/.test(text)) return { second: 0, isBare: false, text }
  if (/^\s*(?:中午|正午)\s*$/.test(text)) return { second: 12 * 3600, isBare: false, text }
  const part = partIn(text)
  const digital = /(\d{1,2}):(\d{2})(?::(\d{2}))?/.exec(text)
  const spoken = new RegExp(`(${NUM})\\s*[点时](?:\\s*(半|[一三]刻|整|钟)|\\s*零?(${NUM})分?)?`, 'u').exec(text)
  const given = numberOf(digital?.[1] ?? spoken?.[1] ?? '0')
  const word = spoken?.[2]
  const minute =
    digital === null ? wordMinute(word) + (spoken?.[3] === undefined ? 0 : numberOf(spoken[3])) : Number(digital[2])
  const hour = part === null ? given : hourInPart(given, part)
  const isBare = part === null && digital === null && given <= 12 && given > 0 && word !== '整'
  return { second: hour * 3600 + minute * 60 + Number(digital?.[3] ?? 0), isBare, text }
}

const wordMinute = (word: string | undefined): number =>
  word === '半' ? 30 : word === '一刻' ? 15 : word === '三刻' ? 45 : 0

/** The times in a list of times: the part of the day that was said goes on until another one is. */
export function timesIn(text: string): readonly ClockTime[] {
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
export function dayIn(text: string): DayRef {
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
