import {
  DATE,
  dayIn,
  END,
  isRealDay,
  listOf,
  MONTH,
  MONTHS,
  monthsIn,
  ORDINAL,
  ordinalOf,
  ordinalsIn,
  WEEKDAY,
  WEEKDAYS,
  weekdaysIn,
} from '../../domain/words/english-terms.ts'
import { clause, type Clause, type DayRef, type Note, type Saying } from '../../domain/words/parts.ts'

const both = (en: string, zh: string): Note => ({ en, zh })

/** What is said of a day that is not in the calendar. */
const badDay = (text: string): Note => both(`${text.trim()} is no day of the calendar`, `${text.trim()} 不是一个日期`)

/** Says something of a day, if there is such a day. */
export const ofDay = (text: string, says: (day: DayRef) => Saying): Saying | Note => {
  const day = dayIn(text)
  return isRealDay(day) ? says(day) : badDay(text)
}

export const EVERY = String.raw`(?:every|each)`
const OF_MONTH = String.raw`\s+(?:of|in)\s+(?:the|each|every)\s+month${END}`

/** On which days. */
export const ENGLISH_DAYS: readonly Clause[] = [
  clause(`from\\s+(?<days>${WEEKDAY}\\s*(?:-|–|to|through|thru)\\s*${WEEKDAY})`, ({ days = '' }) => ({
    ...{ kind: 'weekdays', days: weekdaysIn(days), isEvery: true },
  })),
  clause(`(?:(?<every>${EVERY}|all|on|only\\s+on)\\s+)?(?:the\\s+)?(?<days>${WEEKDAYS})`, ({ every, days = '' }) => ({
    ...{ kind: 'weekdays', days: weekdaysIn(days) },
    isEvery: /^[ea]/i.test(every ?? '') || /days(?!\p{L})/iu.test(days) || weekdaysIn(days).length > 1,
  })),
  clause(`${EVERY}\\s+(?<which>other|${ORDINAL})\\s+(?<day>${WEEKDAY})(?!${OF_MONTH})`, ({ which = '', day = '' }) => {
    const days = weekdaysIn(day)
    const place = /other/i.test(which) ? 2 : ordinalOf(which)
    if (place === 1 || place === -1) return [{ kind: 'places', places: [place], days }]
    const [en, zh] = [`every ${place} weeks`, `每 ${place} 周`]
    const note = both(
      `${which} ${day} is read as ${en}; say "of the month" for its place in the month`,
      `${which} ${day} 理解为${zh}`,
    )
    const said = /other/i.test(which) ? {} : { note }
    return [
      { kind: 'step', count: place, unit: 'week', ...said },
      { kind: 'weekdays', days, isEvery: true },
    ]
  }),
  clause(
    `(?:(?:on|${EVERY})\\s+)?(?:the\\s+)?(?<which>${listOf(ORDINAL)})\\s+(?<days>${WEEKDAYS})(?:${OF_MONTH}|\\s+(?:of|in)\\s+(?<months>${MONTHS}))?`,
    ({ which = '', days = '', months }, text) =>
      placesOf({
        which,
        days,
        months,
        isBareEvery: /^(?:every|each)/i.test(text) && !/month$/i.test(text) && months === undefined,
      }),
  ),
  clause(`(?:(?:on|${EVERY})\\s+)?(?:the\\s+)?(?<which>${listOf(ORDINAL)})\\s+days?${OF_MONTH}`, ({ which = '' }) =>
    ofDates(ordinalsIn(which)),
  ),
  clause(
    `(?:on\\s+|${EVERY}\\s+)?(?:the\\s+)?(?<which>${listOf(ORDINAL)})(?:${OF_MONTH}|${END})(?!\\s+(?:of\\s+)?${MONTH})`,
    ({ which = '' }) => ofDates(ordinalsIn(which)),
  ),
  clause(
    `(?:on\\s+)?(?:the\\s+)?days?\\s+(?<days>${listOf(String.raw`\d{1,2}(?:\s*(?:-|to|through)\s*\d{1,2})?`)})(?:${OF_MONTH})?(?:\\s+and\\s+(?<last>the\\s+last\\s+day)${OF_MONTH})?`,
    ({ days = '', last }) => ofDates([...numbersIn(days), ...(last === undefined ? [] : [-1])]),
  ),
  clause(`(?:in|only\\s+in|during|${EVERY}|of)\\s+(?<months>${MONTHS})`, ({ months = '' }) => ({
    ...{ kind: 'months', months: monthsIn(months) },
  })),
  clause(`(?<months>${MONTH}\\s+(?:through|to|-)\\s+${MONTH})`, ({ months = '' }) => ({
    kind: 'months',
    months: monthsIn(months),
  })),
  clause(`${EVERY}\\s+(?<date>${DATE})`, ({ date = '' }) =>
    ofDay(date, (day) =>
      day.kind === 'date' ? { kind: 'yearday', month: day.month, day: day.day } : { kind: 'day', day },
    ),
  ),
]

interface Places {
  readonly which: string
  readonly days: string
  readonly months: string | undefined
  readonly isBareEvery: boolean
}

function placesOf({ which, days, months, isBareEvery }: Places): readonly Saying[] | Note | null {
  const places = ordinalsIn(which)
  if (isBareEvery && places.some((place) => place !== 1 && place !== -1)) return null
  if (places.some((place) => place > 5))
    return both('a month has at most five of each weekday', '一个月同一星期几最多五次')
  const also: readonly Saying[] = months === undefined ? [] : [{ kind: 'months', months: monthsIn(months) }]
  if (/^(?:week|work|working |business )day/i.test(days)) {
    const [place] = places
    if (places.length > 1 || (place !== 1 && place !== -1))
      return both('only the first and the last weekday of a month are known', '只支持每月第一个或最后一个工作日')
    return [{ kind: 'nearest', which: place === 1 ? '1W' : 'LW' }, ...also]
  }
  return [{ kind: 'places', places, days: weekdaysIn(days) }, ...also]
}

const ofDates = (dates: readonly number[]): Saying | Note =>
  dates.some((date) => date === 0 || date > 31)
    ? both('a month has the days 1 to 31', '日期应在 1 到 31 之间')
    : { kind: 'dates', dates }

/** The numbers in a list of numbers and stretches of them. */
export const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/(\d+)(?:\s*(?:-|to|through)\s*(\d+))?/giu)].flatMap(([, from = '0', to = from]) =>
    Array.from({ length: Math.max(0, Number(to) - Number(from)) + 1 }, (_, index) => Number(from) + index),
  )

const EXCEPT = String.raw`(?:except|excluding|excepting|but\s+not|not)(?:\s+for)?(?:\s+(?:on|in))?(?:\s+the)?\s+`
/** What is left out. */
export const ENGLISH_EXCEPTIONS: readonly Clause[] = [
  clause(`${EXCEPT}(?<days>${WEEKDAYS})`, ({ days = '' }) => ({
    kind: 'except',
    weekdays: weekdaysIn(days),
    months: [],
    days: [],
  })),
  clause(`${EXCEPT}(?<months>${MONTHS})`, ({ months = '' }) => ({
    kind: 'except',
    weekdays: [],
    months: monthsIn(months),
    days: [],
  })),
  clause(`${EXCEPT}(?<dates>${listOf(`(?:${DATE})`)})`, ({ dates = '' }) => {
    const days = [...dates.matchAll(new RegExp(DATE, 'giu'))].map(([text]) => dayIn(text))
    return days.every(isRealDay) ? { kind: 'except', weekdays: [], months: [], days } : badDay(dates)
  }),
]
