import {
  DATE,
  DAY,
  END,
  isOddTime,
  listOf,
  MONTH,
  NEAR_DAY,
  NUM,
  numberOf,
  ORDINAL,
  ordinalOf,
  PLAIN_TIME,
  PLAIN_TIMES,
  TIME,
  TIMES,
  timeIn,
  timesIn,
  UNIT,
  unitOf,
} from '../../domain/words/english-terms.ts'
import { ENGLISH_DAYS, ENGLISH_EXCEPTIONS, EVERY, numbersIn, ofDay } from './english-days.ts'
import {
  clause,
  type Clause,
  type ClockTime,
  type DayPart,
  MS,
  type Note,
  type Saying,
} from '../../domain/words/parts.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { isAmbiguousZone, MOST_WORDS, PLACE_WORDS, zoneOfPlace } from '../../domain/words/place-zones.ts'

const both = (en: string, zh: string): Note => ({ en, zh })

const badTime = (text: string): Note => both(`${text.trim()} is no time of day`, `${text.trim()} 不是一个时刻`)

const ofTimes = (times: readonly ClockTime[]): Saying | Note => {
  const odd = times.find(isOddTime)
  return odd === undefined ? { kind: 'times', times } : badTime(odd.text)
}

const WORDS: Readonly<Record<string, Saying>> = {
  hourly: { kind: 'step', count: 1, unit: 'hour' },
  daily: { kind: 'step', count: 1, unit: 'day' },
  weekly: { kind: 'step', count: 1, unit: 'week' },
  fortnightly: { kind: 'step', count: 2, unit: 'week' },
  monthly: { kind: 'step', count: 1, unit: 'month' },
  yearly: { kind: 'step', count: 1, unit: 'year' },
  annually: { kind: 'step', count: 1, unit: 'year' },
}

/** How often. */
const STEPS: readonly Clause[] = [
  clause(`${EVERY}\\s+(?:(?<count>other|${NUM}|${ORDINAL})\\s+)?(?<unit>${UNIT})`, ({ count, unit = '' }) => {
    const isOrdinal = count !== undefined && /(?:st|nd|rd|th|second|third)$/i.test(count)
    const size = count === undefined ? 1 : /other/i.test(count) ? 2 : isOrdinal ? ordinalOf(count) : numberOf(count)
    return size >= 1 ? { kind: 'step', count: size, unit: unitOf(unit) } : both('every 0 is never', '间隔不能为 0')
  }),
  clause(`(?<word>${Object.keys(WORDS).join('|')})${END}`, ({ word = '' }) => WORDS[word.toLowerCase()] ?? null),
  clause(`once\\s+(?:a|an|every|each|per)\\s+(?<unit>hour|day|week|month|year)${END}`, ({ unit = '' }) => ({
    ...{ kind: 'step', count: 1, unit: unitOf(unit) },
  })),
  clause(`${EVERY}\\s+(?:half[\\s-](?:an\\s+)?hour|30\\s*min)${END}`, () => ({
    kind: 'step',
    count: 30,
    unit: 'minute',
  })),
  clause(`${EVERY}\\s+quarter[\\s-](?:of\\s+an\\s+)?hour${END}`, () => ({ kind: 'step', count: 15, unit: 'minute' })),
  clause(`${EVERY}\\s+fortnight${END}`, () => ({ kind: 'step', count: 2, unit: 'week' })),
  clause(`(?:quarterly|${EVERY}\\s+quarter)${END}`, () => [
    { kind: 'step', count: 1, unit: 'month' },
    { kind: 'months', months: [1, 4, 7, 10] },
  ]),
  clause(`(?:bi-?weekly|bi-?monthly|bi-?annually)${END}`, (_, text) =>
    both(`${text} means two things: say how often, as in every 2 weeks or twice with both days`, `${text} 有两种意思`),
  ),
  clause(`(?:twice|${NUM}\\s+times)\\s+(?:a|per|every|each)\\s+\\w+`, (_, text) =>
    both(`${text} leaves open when: name the times, as in every day at 9 and 17`, `${text} 没有说明具体时间`),
  ),
]

/** At what time of the day. */
const TIMES_OF_DAY: readonly Clause[] = [
  clause(`(?:at|@)\\s*(?<times>${TIMES})`, ({ times = '' }) => ofTimes(timesIn(times))),
  clause(`(?<times>${PLAIN_TIMES})`, ({ times = '' }) => ofTimes(timesIn(times))),
  clause(
    `(?:only\\s+)?(?:between|from|during)\\s+(?<from>${TIME})\\s*(?:and|to|till|until|through|-|–)\\s*(?<to>${TIME})`,
    ({ from = '', to = '' }) => ofSpan(from, to),
  ),
  clause(`(?<from>${PLAIN_TIME})\\s*(?:to|till|until|-|–)\\s*(?<to>${PLAIN_TIME})`, ({ from = '', to = '' }) =>
    ofSpan(from, to),
  ),
  clause(
    `(?:at\\s+)?minutes?\\s+(?<minutes>${listOf(String.raw`\d{1,2}(?:\s*(?:-|through)\s*\d{1,2})?`)})\\s+(?:of\\s+every|past\\s+the|past\\s+every|of\\s+the)\\s+hour${END}`,
    ({ minutes = '' }) => ofMinutes(numbersIn(minutes)),
  ),
  clause(`(?:at\\s+)?(?<minutes>${NUM})\\s+minutes?\\s+past\\s+(?:the|every|each)\\s+hour${END}`, ({ minutes = '' }) =>
    ofMinutes([numberOf(minutes)]),
  ),
  clause(
    `(?:(?<every>${EVERY}|in\\s+the|during\\s+the)\\s+(?<part>morning|afternoon|evening|night)s?|(?<night>at\\s+night|nightly))${END}`,
    ({ every, part, night }) => ({
      ...{ kind: 'part', part: (part ?? 'night').toLowerCase() as DayPart },
      isEvery: (every !== undefined && /^e/i.test(every)) || /nightly/i.test(night ?? ''),
    }),
  ),
]

function ofSpan(from: string, to: string): Saying | Note {
  const [first, last] = [timeIn(from), timeIn(to)]
  const odd = [first, last].find(isOddTime)
  return odd === undefined ? { kind: 'span', from: first, to: last } : badTime(odd.text)
}

const ofMinutes = (minutes: readonly number[]): Saying | Note =>
  minutes.some((minute) => minute > 59)
    ? both('an hour has the minutes 0 to 59', '分钟应在 0 到 59 之间')
    : { kind: 'minutes', minutes }

/** Once, and from when until when. */
const ONCE: readonly Clause[] = [
  clause(`in\\s+(?<count>${NUM})\\s+(?<unit>${UNIT})(?:\\s+(?:from\\s+now|time))?`, ({ count = '', unit = '' }) =>
    ofDelay(count, unit),
  ),
  clause(`(?<count>${NUM})\\s+(?<unit>${UNIT})\\s+from\\s+now${END}`, ({ count = '', unit = '' }) =>
    ofDelay(count, unit),
  ),
  clause(`in\\s+half\\s+an\\s+hour${END}`, () => ({ kind: 'after', ms: 30 * MS.minute })),
  clause(`tonight${END}`, () => [
    { kind: 'day', day: { kind: 'relative', days: 0 } },
    { kind: 'part', part: 'evening', isEvery: false },
  ]),
  clause(
    `(?:on\\s+)?(?:the\\s+)?(?<day>${NEAR_DAY}|${DATE})(?:T(?=\\d{2}:))?${String.raw`(?![\p{L}])`}`,
    ({ day = '' }) => ofDay(day, (found) => ({ kind: 'day', day: found })),
  ),
  clause(`(?:once|one\\s+time|only\\s+once|just\\s+once)${END}`, () => ({ kind: 'once' })),
  clause(`(?<count>${NUM})\\s+times(?:\\s+(?:in\\s+all|in\\s+total))?${END}`, ({ count = '' }) => ({
    kind: 'fires',
    count: numberOf(count),
  })),
  clause(
    `(?:starting|beginning|from|as\\s+of|since|not\\s+before)\\s+(?:on\\s+|from\\s+)?(?<day>${DAY})(?:\\s+(?:at\\s+)?(?<time>${TIME}))?(?:\\s+on${END})?`,
    ({ day = '', time }) =>
      ofDay(day, (found) => ({ kind: 'starts', day: found, time: time === undefined ? null : timeIn(time) })),
  ),
  clause(
    `(?:until|till|up\\s+to|ending|ends|through|to|not\\s+after)\\s+(?:on\\s+)?(?<day>${DAY})(?:\\s+(?:at\\s+)?(?<time>${TIME}))?`,
    ({ day = '', time }) =>
      ofDay(day, (found) => ({ kind: 'ends', day: found, time: time === undefined ? null : timeIn(time) })),
  ),
]

const ofDelay = (count: string, unit: string): Saying | Note => {
  const word = unitOf(unit)
  if (word === 'month' || word === 'year')
    return both(`a ${word} has no fixed length: name the date`, '月和年的长度不固定，请写明日期')
  return { kind: 'after', ms: numberOf(count) * MS[word] }
}

/** Where the clock hangs. Without "in" or "time" only names that cannot be anything else. */
const ZONES: Clause = {
  match: (text, at) => {
    const lead = /(?:in|for|at)\s+(?:the\s+)?|/iuy
    lead.lastIndex = at
    const begin = at + (lead.exec(text)?.[0].length ?? 0)
    const words = /[\p{L}][\p{L}.'/_+-]*(?:\s+[\p{L}][\p{L}.'/_+-]*)*/uy
    words.lastIndex = begin
    const all = words.exec(text)?.[0].split(/(?<=\S)(?=\s)/u) ?? []
    for (let count = Math.min(MOST_WORDS, all.length); count > 0; count -= 1) {
      const name = all.slice(0, count).join('')
      const found = placeOf(name, {
        isLed: begin > at,
        behind: text.slice(begin + name.length),
        before: text.slice(0, at),
      })
      if (found !== null) return { length: begin - at + name.length + found.length, says: found.says }
    }
    return null
  },
}

interface Around {
  readonly isLed: boolean
  readonly behind: string
  readonly before: string
}

function placeOf(
  name: string,
  { isLed, behind, before }: Around,
): { readonly length: number; readonly says: readonly Saying[] | Note } | null {
  const time = /^\s+time(?![\p{L}])/iu.exec(behind)?.[0] ?? ''
  const isMeant = isLed || time !== '' || name.includes('/') || /^(?:utc|gmt)$/i.test(name) || /\(\s*$/.test(before)
  if (!isMeant) return isAmbiguousZone(name) ? { length: 0, says: severalZones(name) } : null
  if (isAmbiguousZone(name)) return { length: time.length, says: severalZones(name) }
  const zone = zoneOfPlace(name.replace(/\.$/, ''))
  if (zone !== null) return { length: time.length, says: [{ kind: 'zone', zone }] }
  if (!isLed || /\s/.test(name) || new RegExp(`^(?:${MONTH}|the|a|an)$`, 'iu').test(name)) return null
  const near = nearestWord(name.toLowerCase(), PLACE_WORDS)
  return near === null
    ? null
    : {
        length: 0,
        says: both(
          `${name} is no place whose clock is known; did you mean ${near}?`,
          `不认识 ${name}，是否指 ${near}？`,
        ),
      }
}

const severalZones = (name: string): Note =>
  both(
    `${name} is the short name of several zones: name a city, as in New York time`,
    `${name} 可指多个时区，请写城市名`,
  )

const FILLERS: readonly Clause[] = [clause(`(?:please|do\\s+it|run|run\\s+it|remind\\s+me)${END}`, () => [])]

/** Every way of saying something about time in English that is understood. */
export const ENGLISH: readonly Clause[] = [
  ...STEPS,
  ...ENGLISH_DAYS,
  ...TIMES_OF_DAY,
  ...ONCE,
  ...ENGLISH_EXCEPTIONS,
  ZONES,
  ...FILLERS,
]
