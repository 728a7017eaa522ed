import { DAY_SECONDS, formatTimeOfDay } from '../../domain/time/calendar.ts'
import { cronDays, type DayFields, dayFieldsOf, saysDays } from './day-fields.ts'
import { complainOf, partOf, type Said } from './gather.ts'
import { bareNote, type Composed } from '../../domain/words/times.ts'
import type { ClockTime, Complaint, Note } from '../../domain/words/parts.ts'

const SECONDS = { second: 1, minute: 60, hour: 3600 } as const
const DAY = 86_400

const note = (en: string, zh: string): Note => ({ en, zh })

/** Whether the interval is shorter than a day. */
export const isWithinDay = ({ step, minutes }: Said): boolean =>
  minutes.length > 0 || step?.unit === 'second' || step?.unit === 'minute' || step?.unit === 'hour'

/** An interval within the day: counted from now, or by the clock as soon as days or hours are named. */
export function composeWithinDay(said: Said): Composed | Complaint {
  const time = partOf(said, 'times', 'part')
  if (time !== null)
    return complainOf(
      time,
      note(
        'an interval has no time of day; say between which hours it is, as in between 9 and 17',
        '按间隔执行时不能再说时刻，可以说“9点到17点之间”',
      ),
    )
  const fields = dayFieldsOf(said)
  if ('note' in fields) return fields
  const seconds = stepSeconds(said)
  if (said.step !== null && !(said.step.unit in SECONDS) && said.step.count > 1)
    return complainOf(
      said.step,
      note('minutes of the hour cannot be combined with such an interval', '分钟不能与这样的间隔一起使用'),
    )
  const isFiltered =
    saysDays(said) ||
    fields.months.length > 0 ||
    fields.weekdays.length > 0 ||
    said.span !== null ||
    said.minutes.length > 0
  if (!isFiltered && (said.zone === null || !isEven(seconds)))
    return {
      fields: { every_seconds: seconds },
      notes: [note('counted from the moment it is made', '从创建的那一刻开始计算')],
    }
  return byClock(said, fields, seconds)
}

const stepSeconds = ({ step }: Said): number =>
  step !== null && step.unit in SECONDS ? step.count * SECONDS[step.unit as keyof typeof SECONDS] : SECONDS.hour

/** Whether the clock goes round in whole steps: 60 seconds, 60 minutes, 24 hours. */
function isEven(seconds: number): boolean {
  if (seconds < 60) return 60 % seconds === 0
  if (seconds < 3600) return seconds % 60 === 0 && 3600 % seconds === 0
  return seconds % 3600 === 0 && DAY % seconds === 0
}

function byClock(said: Said, fields: DayFields, seconds: number): Composed | Complaint {
  const at = said.step ?? partOf(said, 'minutes') ?? { at: 0 }
  if (said.minutes.length > 0 && seconds % 3600 !== 0)
    return complainOf(
      partOf(said, 'minutes') ?? at,
      note('minutes of the hour need an interval of hours', '指定分钟时，间隔必须是整小时'),
    )
  if (said.span !== null) return inSpan(said, fields, seconds)
  if (!isEven(seconds))
    return complainOf(
      at,
      note(
        'such an interval does not go round the clock, so it cannot be kept to certain days',
        '这样的间隔不能整除一小时或一天，无法限定日期',
      ),
    )
  const days = cronDays(fields)
  const written = (cron: string): Composed => ({ fields: { cron }, notes: fields.notes })
  if (seconds < 60) return written(`*/${seconds} * * ${days}`)
  if (seconds < 3600) return written(`*/${seconds / 60} * ${days}`)
  const minute = said.minutes.length === 0 ? '0' : cronList(said.minutes, 60)
  return written(`${minute} ${seconds === 3600 ? '*' : seconds === DAY ? '0' : `*/${seconds / 3600}`} ${days}`)
}

function inSpan(said: Said, fields: DayFields, seconds: number): Composed | Complaint {
  const { span } = said
  if (span === null) return complainOf({ at: 0 }, note('between which hours?', '几点到几点？'))
  const ends = endsOf(span.from, span.to)
  if (ends === null)
    return complainOf(
      span,
      note(
        `${span.to.text.trim()} is before ${span.from.text.trim()}: say am or pm, or hours from 0 to 24`,
        `“${span.to.text.trim()}”早于“${span.from.text.trim()}”，请说明上午或下午`,
      ),
    )
  if (ends.to > DAY && (saysDays(said) || fields.weekdays.length > 0))
    return complainOf(
      span,
      note(
        'a stretch over midnight belongs to two days: leave the days out, or make two schedules',
        '跨过午夜的时段不能再限定日期，请分成两个计划',
      ),
    )
  const beats = seconds < 60 ? null : said.minutes.length > 0 ? minutesIn(said.minutes, ends) : beatsIn(ends, seconds)
  if (beats === null)
    return complainOf(
      span,
      note(
        'the minutes would differ from hour to hour; choose an interval that goes into the hour and whole hours',
        '每小时的分钟数会不同，请选择能整除一小时的间隔',
      ),
    )
  const { fields: clock, note: firstAndLast } = beats
  const bare = [...bareNote(span.from, ends.from), ...bareNote(span.to, ends.to)]
  return { fields: { cron: `${cronOf(clock)} ${cronDays(fields)}` }, notes: [...fields.notes, ...bare, firstAndLast] }
}

function minutesIn(
  minutes: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): ReturnType<typeof beatsIn> {
  const beats: number[] = []
  for (let hour = Math.floor(from / 3600); hour * 3600 <= to; hour += 1)
    for (const minute of minutes) {
      const at = hour * 3600 + minute * 60
      if (at >= from && at <= to) beats.push(at)
    }
  const hours = [...new Set(beats.map((beat) => Math.floor(beat / 3600) % 24))].sort((a, b) => a - b)
  if (beats.length === 0 || hours.length * minutes.length !== beats.length) return null
  const found = beatsIn({ from: beats[0] ?? 0, to: beats.at(-1) ?? 0 }, 3600)
  return found === null ? null : { fields: { hours, minutes }, note: found.note }
}

/** Times that were named one by one. Ranges and steps would be intervals, which go on while clocks go back. */
export const cronOfTimes = ({ minutes, hours }: ClockFields): string => `${minutes.join(',')} ${hours.join(',')}`

/** Minutes and hours of cron. */
const cronOf = ({ minutes, hours }: ClockFields): string => `${cronList(minutes, 60)} ${cronList(hours, 24)}`

/** Times of day as the fields of cron have them. */
interface ClockFields {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
}

const unique = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b)

/** Times that are every one of some minutes in every one of some hours; null if they are not. */
export function productOf(seconds: readonly number[]): ClockFields | null {
  if (seconds.some((second) => second % 60 !== 0)) return null
  const hours = unique(seconds.map((second) => Math.floor(second / 3600) % 24))
  const minutes = unique(seconds.map((second) => Math.floor(second / 60) % 60))
  return hours.length * minutes.length === new Set(seconds.map((second) => second % DAY_SECONDS)).size
    ? { hours, minutes }
    : null
}

/** The two ends of a stretch of the day. The end is later than the beginning, if need be on the next day. */
function endsOf(from: ClockTime, to: ClockTime): { readonly from: number; readonly to: number } | null {
  const isTwelve = (time: ClockTime): boolean => time.isBare && time.second <= 12 * 3600
  if (to.second <= from.second && isTwelve(to) && isTwelve(from)) return null
  // "From 1 to 5pm" begins in the afternoon; "from 9 to 5pm" does not.
  const isAfternoon =
    isTwelve(from) && !to.isBare && to.second > 12 * 3600 && from.second < 12 * 3600 && /p\.?m/i.test(to.text)
  const start = isAfternoon && from.second + 12 * 3600 < to.second ? from.second + 12 * 3600 : from.second
  return { from: start, to: to.second <= start ? to.second + DAY_SECONDS : to.second }
}

/** The beats of an interval in a stretch of the day, with the end if it fits what cron can say, else without. */
function beatsIn(
  span: { readonly from: number; readonly to: number },
  stepSeconds: number,
): { readonly fields: ClockFields; readonly note: Note } | null {
  const beats: number[] = []
  for (let at = span.from; at <= span.to; at += stepSeconds) beats.push(at)
  const withEnd = productOf(beats)
  const kept = withEnd === null && beats.at(-1) === span.to ? beats.slice(0, -1) : beats
  const fields = withEnd ?? productOf(kept)
  const [first = 0] = kept
  const [begin, end] = [first, kept.at(-1) ?? 0].map((second) => formatTimeOfDay(second % DAY_SECONDS))
  if (fields === null || begin === undefined || end === undefined) return null
  return {
    fields,
    note: { en: `the first is at ${begin} and the last at ${end}`, zh: `第一次在 ${begin}，最后一次在 ${end}` },
  }
}

/** Values of a field of cron, written as short as they can be. */
function cronList(values: readonly number[], size: number): string {
  if (values.length === size) return '*'
  const step = size / values.length
  if (values.length > 2 && Number.isInteger(step) && values.every((value, index) => value === index * step))
    return `*/${step}`
  const first = values[0] ?? 0
  const isRun = values.length > 2 && values.every((value, index) => value === first + index)
  return isRun ? `${first}-${values.at(-1) ?? first}` : values.join(',')
}
