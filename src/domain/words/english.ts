import { nearestWord } from '../nearest-word.ts'
import {
  DATE,
  DAY,
  dayIn,
  END,
  isInvalidTime,
  isRealDay,
  listOf,
  MONTH,
  MONTHS,
  monthsIn,
  NEAR_DAY,
  NUM,
  numberOf,
  ORDINAL,
  ordinalOf,
  ordinalsIn,
  PLAIN_TIME,
  PLAIN_TIMES,
  TIME,
  timeIn,
  TIMES,
  timesIn,
  UNIT,
  unitOf,
  WEEKDAY,
  WEEKDAYS,
  weekdaysIn,
} from './english-terms.ts'
import {
  grammarRule,
  type GrammarRule,
  type ClockTime,
  type DayPart,
  type DayRef,
  UNIT_MS,
  type BilingualNote,
  type PartMeaning,
} from './parts.ts'
import { isAmbiguousZone, MAX_PLACE_WORDS, PLACE_WORDS, zoneOfPlace } from './place-zones.ts'

const bilingualNote = (en: string, zh: string): BilingualNote => ({ en, zh })

/** The note for a date that does not exist. */
const invalidDay = (text: string): BilingualNote =>
  bilingualNote(`${text.trim()} is not a calendar date`, `${text.trim()} 不是一个日期`)

/** Creates a saying from the day in a text, or a note if the day does not exist. */
const dayMeaning = (text: string, toMeaning: (day: DayRef) => PartMeaning): PartMeaning | BilingualNote => {
  const day = dayIn(text)
  return isRealDay(day) ? toMeaning(day) : invalidDay(text)
}

const EVERY = String.raw`(?:every|each)`
const OF_MONTH = String.raw`\s+(?:of|in)\s+(?:the|each|every)\s+month${END}`

/** Days. */
const ENGLISH_DAYS: readonly GrammarRule[] = [
  grammarRule(`from\\s+(?<days>${WEEKDAY}\\s*(?:-|–|to|through|thru)\\s*${WEEKDAY})`, ({ days = '' }) => ({
    ...{ kind: 'weekdays', days: weekdaysIn(days), isEvery: true },
  })),
  grammarRule(
    `(?:(?<every>${EVERY}|all|on|only\\s+on)\\s+)?(?:the\\s+)?(?<days>${WEEKDAYS})`,
    ({ every, days = '' }) => ({
      ...{ kind: 'weekdays', days: weekdaysIn(days) },
      isEvery: /^[ea]/i.test(every ?? '') || /days(?!\p{L})/iu.test(days) || weekdaysIn(days).length > 1,
    }),
  ),
  grammarRule(
    `${EVERY}\\s+(?<which>other|${ORDINAL})\\s+(?<day>${WEEKDAY})(?!${OF_MONTH})`,
    ({ which = '', day = '' }) => {
      const days = weekdaysIn(day)
      const ordinal = /other/i.test(which) ? 2 : ordinalOf(which)
      if (ordinal === 1 || ordinal === -1) return [{ kind: 'places', places: [ordinal], days }]
      const [en, zh] = [`every ${ordinal} weeks`, `每 ${ordinal} 周`]
      const note = bilingualNote(
        `${which} ${day} is read as ${en}; add "of the month" if you mean the week of the month`,
        `${which} ${day} 理解为${zh}`,
      )
      const extra = /other/i.test(which) ? {} : { note }
      return [
        { kind: 'step', count: ordinal, unit: 'week', ...extra },
        { kind: 'weekdays', days, isEvery: true },
      ]
    },
  ),
  grammarRule(
    `(?:(?:on|${EVERY})\\s+)?(?:the\\s+)?(?<which>${listOf(ORDINAL)})\\s+(?<days>${WEEKDAYS})(?:${OF_MONTH}|\\s+(?:of|in)\\s+(?<months>${MONTHS}))?`,
    ({ which = '', days = '', months }, text) =>
      nthWeekdaysMeaning({
        which,
        days,
        months,
        isBareEvery: /^(?:every|each)/i.test(text) && !/month$/i.test(text) && months === undefined,
      }),
  ),
  grammarRule(
    `(?:(?:on|${EVERY})\\s+)?(?:the\\s+)?(?<which>${listOf(ORDINAL)})\\s+days?${OF_MONTH}`,
    ({ which = '' }) => datesMeaning(ordinalsIn(which)),
  ),
  grammarRule(
    `(?:on\\s+|${EVERY}\\s+)?(?:the\\s+)?(?<which>${listOf(ORDINAL)})(?:${OF_MONTH}|${END})(?!\\s+(?:of\\s+)?${MONTH})`,
    ({ which = '' }) => datesMeaning(ordinalsIn(which)),
  ),
  grammarRule(
    `(?:on\\s+)?(?:the\\s+)?days?\\s+(?<days>${listOf(String.raw`\d{1,2}(?:\s*(?:-|to|through)\s*\d{1,2})?`)})(?:${OF_MONTH})?(?:\\s+and\\s+(?<last>the\\s+last\\s+day)${OF_MONTH})?`,
    ({ days = '', last }) => datesMeaning([...numbersIn(days), ...(last === undefined ? [] : [-1])]),
  ),
  grammarRule(`(?:in|only\\s+in|during|${EVERY}|of)\\s+(?<months>${MONTHS})`, ({ months = '' }) => ({
    ...{ kind: 'months', months: monthsIn(months) },
  })),
  grammarRule(`(?<months>${MONTH}\\s+(?:through|to|-)\\s+${MONTH})`, ({ months = '' }) => ({
    kind: 'months',
    months: monthsIn(months),
  })),
  grammarRule(`${EVERY}\\s+(?<date>${DATE})`, ({ date = '' }) =>
    dayMeaning(date, (day) =>
      day.kind === 'date' ? { kind: 'yearday', month: day.month, day: day.day } : { kind: 'day', day },
    ),
  ),
]

interface NthWeekdayWords {
  readonly which: string
  readonly days: string
  readonly months: string | undefined
  readonly isBareEvery: boolean
}

function nthWeekdaysMeaning({
  which,
  days,
  months,
  isBareEvery,
}: NthWeekdayWords): readonly PartMeaning[] | BilingualNote | null {
  const ordinals = ordinalsIn(which)
  if (isBareEvery && ordinals.some((ordinal) => ordinal !== 1 && ordinal !== -1)) return null
  if (ordinals.some((ordinal) => ordinal > 5))
    return bilingualNote('a month has at most five of each weekday', '一个月同一星期几最多五次')
  const extra: readonly PartMeaning[] = months === undefined ? [] : [{ kind: 'months', months: monthsIn(months) }]
  if (/^(?:week|work|working |business )day/i.test(days)) {
    const [ordinal] = ordinals
    if (ordinals.length > 1 || (ordinal !== 1 && ordinal !== -1))
      return bilingualNote(
        'only the first and the last weekday of a month are supported',
        '只支持每月第一个或最后一个工作日',
      )
    return [{ kind: 'nearest', which: ordinal === 1 ? '1W' : 'LW' }, ...extra]
  }
  return [{ kind: 'places', places: ordinals, days: weekdaysIn(days) }, ...extra]
}

const datesMeaning = (dates: readonly number[]): PartMeaning | BilingualNote =>
  dates.some((date) => date === 0 || date > 31)
    ? bilingualNote('days of the month are 1 to 31', '日期应在 1 到 31 之间')
    : { kind: 'dates', dates }

/** The numbers in a list of numbers and ranges. */
const numbersIn = (text: string): readonly number[] =>
  [...text.matchAll(/(\d+)(?:\s*(?:-|to|through)\s*(\d+))?/giu)].flatMap(([, from = '0', to = from]) =>
    Array.from({ length: Math.max(0, Number(to) - Number(from)) + 1 }, (_, index) => Number(from) + index),
  )

const EXCEPT = String.raw`(?:except|excluding|excepting|but\s+not|not)(?:\s+for)?(?:\s+(?:on|in))?(?:\s+the)?\s+`
/** Exceptions. */
const ENGLISH_EXCEPTIONS: readonly GrammarRule[] = [
  grammarRule(`${EXCEPT}(?<days>${WEEKDAYS})`, ({ days = '' }) => ({
    kind: 'except',
    weekdays: weekdaysIn(days),
    months: [],
    days: [],
  })),
  grammarRule(`${EXCEPT}(?<months>${MONTHS})`, ({ months = '' }) => ({
    kind: 'except',
    weekdays: [],
    months: monthsIn(months),
    days: [],
  })),
  grammarRule(`${EXCEPT}(?<dates>${listOf(`(?:${DATE})`)})`, ({ dates = '' }) => {
    const days = [...dates.matchAll(new RegExp(DATE, 'giu'))].map(([text]) => dayIn(text))
    return days.every(isRealDay) ? { kind: 'except', weekdays: [], months: [], days } : invalidDay(dates)
  }),
]

const invalidTime = (text: string): BilingualNote =>
  bilingualNote(`${text.trim()} is not a time of day`, `${text.trim()} 不是一个时刻`)

const timesMeaning = (times: readonly ClockTime[]): PartMeaning | BilingualNote => {
  const invalid = times.find(isInvalidTime)
  return invalid === undefined ? { kind: 'times', times } : invalidTime(invalid.text)
}

const INTERVAL_WORDS: Readonly<Record<string, PartMeaning>> = {
  hourly: { kind: 'step', count: 1, unit: 'hour' },
  daily: { kind: 'step', count: 1, unit: 'day' },
  weekly: { kind: 'step', count: 1, unit: 'week' },
  fortnightly: { kind: 'step', count: 2, unit: 'week' },
  monthly: { kind: 'step', count: 1, unit: 'month' },
  yearly: { kind: 'step', count: 1, unit: 'year' },
  annually: { kind: 'step', count: 1, unit: 'year' },
}

/** Intervals. */
const ENGLISH_STEPS: readonly GrammarRule[] = [
  grammarRule(`${EVERY}\\s+(?:(?<count>other|${NUM}|${ORDINAL})\\s+)?(?<unit>${UNIT})`, ({ count, unit = '' }) => {
    const isOrdinal = count !== undefined && /(?:st|nd|rd|th|second|third)$/i.test(count)
    const size = count === undefined ? 1 : /other/i.test(count) ? 2 : isOrdinal ? ordinalOf(count) : numberOf(count)
    return size >= 1
      ? { kind: 'step', count: size, unit: unitOf(unit) }
      : bilingualNote('the interval must be at least 1', '间隔不能为 0')
  }),
  grammarRule(
    `(?<word>${Object.keys(INTERVAL_WORDS).join('|')})${END}`,
    ({ word = '' }) => INTERVAL_WORDS[word.toLowerCase()] ?? null,
  ),
  grammarRule(`once\\s+(?:a|an|every|each|per)\\s+(?<unit>hour|day|week|month|year)${END}`, ({ unit = '' }) => ({
    ...{ kind: 'step', count: 1, unit: unitOf(unit) },
  })),
  grammarRule(`${EVERY}\\s+(?:half[\\s-](?:an\\s+)?hour|30\\s*min)${END}`, () => ({
    kind: 'step',
    count: 30,
    unit: 'minute',
  })),
  grammarRule(`${EVERY}\\s+quarter[\\s-](?:of\\s+an\\s+)?hour${END}`, () => ({
    kind: 'step',
    count: 15,
    unit: 'minute',
  })),
  grammarRule(`${EVERY}\\s+fortnight${END}`, () => ({ kind: 'step', count: 2, unit: 'week' })),
  grammarRule(`(?:quarterly|${EVERY}\\s+quarter)${END}`, () => [
    { kind: 'step', count: 1, unit: 'month' },
    { kind: 'months', months: [1, 4, 7, 10] },
  ]),
  grammarRule(`(?:bi-?weekly|bi-?monthly|bi-?annually)${END}`, (_, text) =>
    bilingualNote(`${text} is ambiguous; say "every 2 weeks" or name both days`, `${text} 有两种意思`),
  ),
  grammarRule(`(?:twice|${NUM}\\s+times)\\s+(?:a|per|every|each)\\s+\\w+`, (_, text) =>
    bilingualNote(
      `${text} does not say at what times; name them, as in "every day at 9 and 17"`,
      `${text} 没有说明具体时间`,
    ),
  ),
]

/** Times of day. */
const ENGLISH_TIMES: readonly GrammarRule[] = [
  grammarRule(`(?:at|@)\\s*(?<times>${TIMES})`, ({ times = '' }) => timesMeaning(timesIn(times))),
  grammarRule(`(?<times>${PLAIN_TIMES})`, ({ times = '' }) => timesMeaning(timesIn(times))),
  grammarRule(
    `(?:only\\s+)?(?:between|from|during)\\s+(?<from>${TIME})\\s*(?:and|to|till|until|through|-|–)\\s*(?<to>${TIME})`,
    ({ from = '', to = '' }) => spanMeaning(from, to),
  ),
  grammarRule(`(?<from>${PLAIN_TIME})\\s*(?:to|till|until|-|–)\\s*(?<to>${PLAIN_TIME})`, ({ from = '', to = '' }) =>
    spanMeaning(from, to),
  ),
  grammarRule(
    `(?:at\\s+)?minutes?\\s+(?<minutes>${listOf(String.raw`\d{1,2}(?:\s*(?:-|through)\s*\d{1,2})?`)})\\s+(?:of\\s+every|past\\s+the|past\\s+every|of\\s+the)\\s+hour${END}`,
    ({ minutes = '' }) => minutesMeaning(numbersIn(minutes)),
  ),
  grammarRule(
    `(?:at\\s+)?(?<minutes>${NUM})\\s+minutes?\\s+past\\s+(?:the|every|each)\\s+hour${END}`,
    ({ minutes = '' }) => minutesMeaning([numberOf(minutes)]),
  ),
  grammarRule(
    `(?:(?<every>${EVERY}|in\\s+the|during\\s+the)\\s+(?<part>morning|afternoon|evening|night)s?|(?<night>at\\s+night|nightly))${END}`,
    ({ every, part, night }) => ({
      ...{ kind: 'part', part: (part ?? 'night').toLowerCase() as DayPart },
      isEvery: (every !== undefined && /^e/i.test(every)) || /nightly/i.test(night ?? ''),
    }),
  ),
]

function spanMeaning(from: string, to: string): PartMeaning | BilingualNote {
  const [first, last] = [timeIn(from), timeIn(to)]
  const invalid = [first, last].find(isInvalidTime)
  return invalid === undefined ? { kind: 'span', from: first, to: last } : invalidTime(invalid.text)
}

const minutesMeaning = (minutes: readonly number[]): PartMeaning | BilingualNote =>
  minutes.some((minute) => minute > 59)
    ? bilingualNote('minutes are 0 to 59', '分钟应在 0 到 59 之间')
    : { kind: 'minutes', minutes }

/** One-time schedules, start and end. */
const ENGLISH_ONCE: readonly GrammarRule[] = [
  grammarRule(`in\\s+(?<count>${NUM})\\s+(?<unit>${UNIT})(?:\\s+(?:from\\s+now|time))?`, ({ count = '', unit = '' }) =>
    delayMeaning(count, unit),
  ),
  grammarRule(`(?<count>${NUM})\\s+(?<unit>${UNIT})\\s+from\\s+now${END}`, ({ count = '', unit = '' }) =>
    delayMeaning(count, unit),
  ),
  grammarRule(`in\\s+half\\s+an\\s+hour${END}`, () => ({ kind: 'after', ms: 30 * UNIT_MS.minute })),
  grammarRule(`tonight${END}`, () => [
    { kind: 'day', day: { kind: 'relative', days: 0 } },
    { kind: 'part', part: 'evening', isEvery: false },
  ]),
  grammarRule(
    `(?:on\\s+)?(?:the\\s+)?(?<day>${NEAR_DAY}|${DATE})(?:T(?=\\d{2}:))?${String.raw`(?![\p{L}])`}`,
    ({ day = '' }) => dayMeaning(day, (found) => ({ kind: 'day', day: found })),
  ),
  grammarRule(`(?:once|one\\s+time|only\\s+once|just\\s+once)${END}`, () => ({ kind: 'once' })),
  grammarRule(`(?<count>${NUM})\\s+times(?:\\s+(?:in\\s+all|in\\s+total))?${END}`, ({ count = '' }) => ({
    kind: 'fires',
    count: numberOf(count),
  })),
  grammarRule(
    `(?:starting|beginning|from|as\\s+of|since|not\\s+before)\\s+(?:on\\s+|from\\s+)?(?<day>${DAY})(?:\\s+(?:at\\s+)?(?<time>${TIME}))?(?:\\s+on${END})?`,
    ({ day = '', time }) =>
      dayMeaning(day, (found) => ({ kind: 'starts', day: found, time: time === undefined ? null : timeIn(time) })),
  ),
  grammarRule(
    `(?:until|till|up\\s+to|ending|ends|through|to|not\\s+after)\\s+(?:on\\s+)?(?<day>${DAY})(?:\\s+(?:at\\s+)?(?<time>${TIME}))?`,
    ({ day = '', time }) =>
      dayMeaning(day, (found) => ({ kind: 'ends', day: found, time: time === undefined ? null : timeIn(time) })),
  ),
]

const delayMeaning = (count: string, unit: string): PartMeaning | BilingualNote => {
  const word = unitOf(unit)
  if (word === 'month' || word === 'year')
    return bilingualNote(`a ${word} has no fixed length; use a date instead`, '月和年的长度不固定，请写明日期')
  return { kind: 'after', ms: numberOf(count) * UNIT_MS[word] }
}

/** Time zones. Without "in" or "time", only names that cannot be anything else are accepted. */
const ENGLISH_ZONES: GrammarRule = {
  match: (text, at) => {
    const lead = /(?:in|for|at)\s+(?:the\s+)?|/iuy
    lead.lastIndex = at
    const begin = at + (lead.exec(text)?.[0].length ?? 0)
    const words = /[\p{L}][\p{L}.'/_+-]*(?:\s+[\p{L}][\p{L}.'/_+-]*)*/uy
    words.lastIndex = begin
    const all = words.exec(text)?.[0].split(/(?<=\S)(?=\s)/u) ?? []
    for (let count = Math.min(MAX_PLACE_WORDS, all.length); count > 0; count -= 1) {
      const name = all.slice(0, count).join('')
      const found = matchPlace(name, {
        isLed: begin > at,
        behind: text.slice(begin + name.length),
        before: text.slice(0, at),
      })
      if (found !== null) return { length: begin - at + name.length + found.length, says: found.says }
    }
    return null
  },
}

interface PlaceSurroundings {
  readonly isLed: boolean
  readonly behind: string
  readonly before: string
}

function matchPlace(
  name: string,
  { isLed, behind, before }: PlaceSurroundings,
): { readonly length: number; readonly says: readonly PartMeaning[] | BilingualNote } | null {
  const time = /^\s+time(?![\p{L}])/iu.exec(behind)?.[0] ?? ''
  const isMeant = isLed || time !== '' || name.includes('/') || /^(?:utc|gmt)$/i.test(name) || /\(\s*$/.test(before)
  if (!isMeant) return isAmbiguousZone(name) ? { length: 0, says: ambiguousZone(name) } : null
  if (isAmbiguousZone(name)) return { length: time.length, says: ambiguousZone(name) }
  const zone = zoneOfPlace(name.replace(/\.$/, ''))
  if (zone !== null) return { length: time.length, says: [{ kind: 'zone', zone }] }
  if (!isLed || /\s/.test(name) || new RegExp(`^(?:${MONTH}|the|a|an)$`, 'iu').test(name)) return null
  const near = nearestWord(name.toLowerCase(), PLACE_WORDS)
  return near === null
    ? null
    : {
        length: 0,
        says: bilingualNote(`${name} is not a known place; did you mean ${near}?`, `不认识 ${name}，是否指 ${near}？`),
      }
}

const ambiguousZone = (name: string): BilingualNote =>
  bilingualNote(
    `${name} is the abbreviation of several time zones; name a city, as in "New York time"`,
    `${name} 可指多个时区，请写城市名`,
  )

const ENGLISH_FILLERS: readonly GrammarRule[] = [
  grammarRule(`(?:please|do\\s+it|run|run\\s+it|remind\\s+me)${END}`, () => []),
]

/** All clauses for English sentences. */
export const ENGLISH: readonly GrammarRule[] = [
  ...ENGLISH_STEPS,
  ...ENGLISH_DAYS,
  ...ENGLISH_TIMES,
  ...ENGLISH_ONCE,
  ...ENGLISH_EXCEPTIONS,
  ENGLISH_ZONES,
  ...ENGLISH_FILLERS,
]
