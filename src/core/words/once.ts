import { formatInstant, later } from '../instant.ts'
import { DAY_SECONDS } from '../time/calendar.ts'
import { complainOf, partOf, type Said } from './gather.ts'
import { dateNote, dayOf, momentOf, timesMeant, type Place } from './moments.ts'
import type { Complaint, Note } from './parts.ts'

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
