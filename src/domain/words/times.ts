import { formatInstant, instant, type Instant, later } from '../instant.ts'
import {
  civilFromDay,
  DAY_SECONDS,
  dayFromCivil,
  formatDay,
  formatTimeOfDay,
  monthLength,
  weekdayOf,
} from '../time/calendar.ts'
import { localDayAt, localTimeAt, offsetAt } from '../time/wall-clock.ts'
import type { Zone } from '../time/zone.ts'
import { hourInPart } from './english-terms.ts'
import { sentenceError, findPart, type ParsedSentence } from './gather.ts'
import type { ClockTime, SentenceError, DayPart, DayRef, BilingualNote } from './parts.ts'

/** The current time and time zone in which a sentence is read. */
export interface SentenceContext {
  readonly now: Instant
  readonly zone: Zone
}

/**
 * The instant of a wall-clock time. A repeated time means the first pass. A time in a gap does not exist and is shifted
 * forward by the length of the gap.
 */
export function resolveLocalTime(zone: Zone, local: number): { readonly at: Instant; readonly exists: boolean } {
  const offsets = [-DAY_SECONDS, DAY_SECONDS].map((away) => offsetAt(zone, instant((local + away) * 1000)))
  const shown = offsets
    .map((offset) => instant((local - offset) * 1000))
    .filter((at) => localTimeAt(zone, at) === local)
  const [first, second = first] = shown
  if (first !== undefined && second !== undefined) return { at: first < second ? first : second, exists: true }
  return { at: instant((local - (offsets[0] ?? 0)) * 1000), exists: false }
}

/** The referenced day in days since 1970. A date without a year is the next such date at or after `from`. */
export function dayOf(day: DayRef, { now, zone }: SentenceContext, from?: number): number {
  const today = localDayAt(zone, now)
  switch (day.kind) {
    case 'relative':
      return today + day.days
    case 'weekday': {
      const monday = today - ((weekdayOf(today) + 6) % 7)
      if (day.week === 1) return monday + 7 + ((day.weekday + 6) % 7)
      return today + (((day.weekday - weekdayOf(today) + 6) % 7) + 1)
    }
    case 'date': {
      if (day.year !== null) return dayFromCivil({ year: day.year, month: day.month, day: day.day })
      const minDay = from ?? today
      const { year } = civilFromDay(minDay)
      const candidates = [0, 1, 2, 3, 4, 5, 6, 7, 8]
        .map((years) => year + years)
        .filter((one) => day.day <= monthLength(one, day.month))
        .map((one) => dayFromCivil({ year: one, month: day.month, day: day.day }))
      return candidates.find((one) => one >= minDay) ?? minDay
    }
  }
}

/** The default hour of each part of the day. */
const PART_HOURS: Readonly<Record<DayPart, number>> = { morning: 9, noon: 12, afternoon: 15, evening: 18, night: 21 }
const PART_NAMES: Readonly<Record<DayPart, string>> = {
  morning: '早上',
  noon: '中午',
  afternoon: '下午',
  evening: '晚上',
  night: '夜里',
}
const DEFAULT_SECOND = 9 * 3600

/** The times of day, earliest first, and notes about assumptions. */
export function resolveTimes(
  times: readonly ClockTime[],
  part: DayPart | null,
): { readonly seconds: readonly number[]; readonly notes: readonly BilingualNote[] } {
  if (times.length === 0) {
    const second = part === null ? DEFAULT_SECOND : PART_HOURS[part] * 3600
    const time = formatTimeOfDay(second)
    const note =
      part === null
        ? { en: `no time given, so ${time} is used`, zh: `没有说明时间，按 ${time} 处理` }
        : { en: `${part} is read as ${time}`, zh: `${PART_NAMES[part]}理解为 ${time}` }
    return { seconds: [second], notes: [note] }
  }
  const resolved = times.map((time) => resolveSecond(time, part))
  const notes = times.flatMap((time, index) => hourNote(time, resolved[index] ?? 0))
  return { seconds: [...new Set(resolved)].sort((a, b) => a - b), notes }
}

function resolveSecond({ second, isHourOnly: isBare }: ClockTime, part: DayPart | null): number {
  if (!isBare || part === null) return second
  return hourInPart(Math.floor(second / 3600), part) * 3600 + (second % 3600)
}

/** A note for an hour without am or pm. Hours above 12 are unambiguous. */
export function hourNote({ isHourOnly: isBare, text, second }: ClockTime, resolved: number): readonly BilingualNote[] {
  if (!isBare || second > 12 * 3600 + 3599 || second < 3600) return []
  const [sentence, time] = [text.trim(), formatTimeOfDay(resolved % DAY_SECONDS)]
  return [{ en: `"${sentence}" is read as ${time}`, zh: `“${sentence}”理解为 ${time}` }]
}

/** A note about how a date was read, in both languages. */
export const dateNote = (text: string, day: number): BilingualNote => ({
  en: `"${text.trim()}" is read as ${formatDay(day)}`,
  zh: `“${text.trim()}”理解为 ${formatDay(day)}`,
})

/** Fields of a schedule, and notes about assumptions. */
export interface ComposedSchedule {
  readonly fields: Readonly<Record<string, unknown>>
  readonly notes: readonly BilingualNote[]
}

const REPEATING = [
  'step',
  'weekdays',
  'places',
  'dates',
  'nearest',
  'months',
  'yearday',
  'minutes',
  'span',
  'except',
  'starts',
  'ends',
  'fires',
] as const

/** Composes a one-time schedule: after a delay, or at a time of a day. */
export function composeOnce(sentence: ParsedSentence, context: SentenceContext): ComposedSchedule | SentenceError {
  const other = findPart(sentence, ...REPEATING)
  if (other !== null)
    return sentenceError(other, {
      en: `"${other.text.trim()}" repeats, but the rest of the sentence is about a single time`,
      zh: `“${other.text.trim()}”是重复的，而其余部分只说一个时刻`,
    })
  if (sentence.after !== null) {
    const time = findPart(sentence, 'times', 'day', 'part')
    if (time === null) return { fields: { at: formatInstant(later(context.now, sentence.after.ms)) }, notes: [] }
    return sentenceError(time, {
      en: 'a delay cannot be combined with a day or time',
      zh: '已经说了多久以后，不能再说时间',
    })
  }
  const { day } = sentence
  if (day === null)
    return sentenceError(sentence.parts[0] ?? { at: 0 }, { en: 'the day is missing', zh: '没有说明是哪一天' })
  const { seconds, notes } = resolveTimes(sentence.times, sentence.part)
  const [second, more] = seconds
  if (second === undefined || more !== undefined)
    return sentenceError(findPart(sentence, 'times') ?? day, {
      en: 'a one-time schedule has only one time; create a schedule for each',
      zh: '只执行一次的计划只能有一个时间',
    })
  const date = dayOf(day.day, context)
  const { at, exists } = resolveLocalTime(context.zone, date * DAY_SECONDS + second)
  if (at <= context.now) return sentenceError(day, { en: 'that time is in the past', zh: '这个时刻已经过去了' })
  const isNamed = day.day.kind === 'relative' || (day.day.kind === 'date' && day.day.year !== null)
  const gap: BilingualNote = {
    en: 'clocks skip that time, so it runs later by the length of the gap',
    zh: '当时正值拨快时钟，顺延到之后',
  }
  return {
    fields: { at: formatInstant(at) },
    notes: [...notes, ...(isNamed ? [] : [dateNote(day.text, date)]), ...(exists ? [] : [gap])],
  }
}
