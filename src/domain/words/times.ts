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
import { localDayOf, localOf, offsetAt } from '../time/wall-clock.ts'
import type { Zone } from '../../core/time/zone.ts'
import { hourInPart } from './english-terms.ts'
import { complainOf, partOf, type Said } from '../../core/words/gather.ts'
import type { ClockTime, Complaint, DayPart, DayRef, Note } from './parts.ts'

/** From where a sentence is read: what time it is, and where. */
export interface Place {
  readonly now: Instant
  readonly zone: Zone
}

/**
 * The moment at which the wall clock shows a time. One that is shown twice means the first; one that is never shown means
 * the moment at which it would have been, had the clock not been put forward.
 */
export function momentOf(zone: Zone, local: number): { readonly at: Instant; readonly exists: boolean } {
  const offsets = [-DAY_SECONDS, DAY_SECONDS].map((away) => offsetAt(zone, instant((local + away) * 1000)))
  const shown = offsets.map((offset) => instant((local - offset) * 1000)).filter((at) => localOf(zone, at) === local)
  const [first, second = first] = shown
  if (first !== undefined && second !== undefined) return { at: first < second ? first : second, exists: true }
  return { at: instant((local - (offsets[0] ?? 0)) * 1000), exists: false }
}

/** The day, in days since 1970, that somebody points at; a day of the year is the next one from `from` on. */
export function dayOf(day: DayRef, { now, zone }: Place, from?: number): number {
  const today = localDayOf(zone, now)
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
      const least = from ?? today
      const { year } = civilFromDay(least)
      const candidates = [0, 1, 2, 3, 4, 5, 6, 7, 8]
        .map((years) => year + years)
        .filter((one) => day.day <= monthLength(one, day.month))
        .map((one) => dayFromCivil({ year: one, month: day.month, day: day.day }))
      return candidates.find((one) => one >= least) ?? least
    }
  }
}

/** What a part of the day means where no hour is said. */
const PART_HOURS: Readonly<Record<DayPart, number>> = { morning: 9, noon: 12, afternoon: 15, evening: 18, night: 21 }
const PART_NAMES: Readonly<Record<DayPart, string>> = {
  morning: '早上',
  noon: '中午',
  afternoon: '下午',
  evening: '晚上',
  night: '夜里',
}
const USUAL_SECOND = 9 * 3600

/** The times of day that are meant, earliest first, and what had to be decided to know them. */
export function timesMeant(
  times: readonly ClockTime[],
  part: DayPart | null,
): { readonly seconds: readonly number[]; readonly notes: readonly Note[] } {
  if (times.length === 0) {
    const second = part === null ? USUAL_SECOND : PART_HOURS[part] * 3600
    const time = formatTimeOfDay(second)
    const note =
      part === null
        ? { en: `no time is said, so it is ${time}`, zh: `没有说明时间，按 ${time} 处理` }
        : { en: `${part} is read as ${time}`, zh: `${PART_NAMES[part]}理解为 ${time}` }
    return { seconds: [second], notes: [note] }
  }
  const meant = times.map((time) => secondOf(time, part))
  const notes = times.flatMap((time, index) => bareNote(time, meant[index] ?? 0))
  return { seconds: [...new Set(meant)].sort((a, b) => a - b), notes }
}

function secondOf({ second, isBare }: ClockTime, part: DayPart | null): number {
  if (!isBare || part === null) return second
  return hourInPart(Math.floor(second / 3600), part) * 3600 + (second % 3600)
}

/** Above twelve there is nothing to decide. */
export function bareNote({ isBare, text, second }: ClockTime, meant: number): readonly Note[] {
  if (!isBare || second > 12 * 3600 + 3599 || second < 3600) return []
  const [said, time] = [text.trim(), formatTimeOfDay(meant % DAY_SECONDS)]
  return [{ en: `"${said}" is read as ${time}`, zh: `“${said}”理解为 ${time}` }]
}

/** The date in both languages. */
export const dateNote = (text: string, day: number): Note => ({
  en: `"${text.trim()}" is read as ${formatDay(day)}`,
  zh: `“${text.trim()}”理解为 ${formatDay(day)}`,
})

/** Fields of a schedule, and what had to be decided on the way to them. */
export interface Composed {
  readonly fields: Readonly<Record<string, unknown>>
  readonly notes: readonly Note[]
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

/** One moment: so long from now, or at a time of a day. */
export function composeOnce(said: Said, place: Place): Composed | Complaint {
  const other = partOf(said, ...REPEATING)
  if (other !== null)
    return complainOf(other, {
      en: `"${other.text.trim()}" repeats, and the rest of the sentence is about one moment`,
      zh: `“${other.text.trim()}”是重复的，而其余部分只说一个时刻`,
    })
  if (said.after !== null) {
    const time = partOf(said, 'times', 'day', 'part')
    if (time === null) return { fields: { at: formatInstant(later(place.now, said.after.ms)) }, notes: [] }
    return complainOf(time, { en: 'a moment so long from now has no other time', zh: '已经说了多久以后，不能再说时间' })
  }
  const { day } = said
  if (day === null)
    return complainOf(said.parts[0] ?? { at: 0 }, { en: 'which day is not said', zh: '没有说明是哪一天' })
  const { seconds, notes } = timesMeant(said.times, said.part)
  const [second, more] = seconds
  if (second === undefined || more !== undefined)
    return complainOf(partOf(said, 'times') ?? day, {
      en: 'once means one time; make a schedule for each',
      zh: '只执行一次的计划只能有一个时间',
    })
  const date = dayOf(day.day, place)
  const { at, exists } = momentOf(place.zone, date * DAY_SECONDS + second)
  if (at <= place.now) return complainOf(day, { en: 'that moment has passed', zh: '这个时刻已经过去了' })
  const isNamed = day.day.kind === 'relative' || (day.day.kind === 'date' && day.day.year !== null)
  const gap: Note = {
    en: 'the clock is put forward over that time, so it is the moment after',
    zh: '当时正值拨快时钟，顺延到之后',
  }
  return {
    fields: { at: formatInstant(at) },
    notes: [...notes, ...(isNamed ? [] : [dateNote(day.text, date)]), ...(exists ? [] : [gap])],
  }
}
