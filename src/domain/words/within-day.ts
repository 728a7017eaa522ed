import { DAY_SECONDS, formatTimeOfDay } from '../time/calendar.ts'
import { cronDays, type DayFields, dayFieldsOf, namesDays } from './day-fields.ts'
import { sentenceError, findPart, type ParsedSentence } from './gather.ts'
import { hourNote, type ComposedSchedule } from './times.ts'
import type { ClockTime, SentenceError, BilingualNote } from './parts.ts'

const UNIT_SECONDS_WITHIN_DAY = { second: 1, minute: 60, hour: 3600 } as const
const SECONDS_PER_DAY = 86_400

const bilingualNote = (en: string, zh: string): BilingualNote => ({ en, zh })

/** Whether the interval is shorter than a day. */
export const isWithinDay = ({ step, minutes }: ParsedSentence): boolean =>
  minutes.length > 0 || step?.unit === 'second' || step?.unit === 'minute' || step?.unit === 'hour'

/** Composes an interval shorter than a day: counted from now, or by the clock if days or hours are named. */
export function composeWithinDay(sentence: ParsedSentence): ComposedSchedule | SentenceError {
  const time = findPart(sentence, 'times', 'part')
  if (time !== null)
    return sentenceError(
      time,
      bilingualNote(
        'an interval cannot have a time of day; use a range of hours, such as between 9 and 17',
        '按间隔执行时不能再说时刻，可以说“9点到17点之间”',
      ),
    )
  const fields = dayFieldsOf(sentence)
  if ('note' in fields) return fields
  const seconds = stepSeconds(sentence)
  if (sentence.step !== null && !(sentence.step.unit in UNIT_SECONDS_WITHIN_DAY) && sentence.step.count > 1)
    return sentenceError(
      sentence.step,
      bilingualNote('minutes of the hour cannot be combined with this interval', '分钟不能与这样的间隔一起使用'),
    )
  const isFiltered =
    namesDays(sentence) ||
    fields.months.length > 0 ||
    fields.weekdays.length > 0 ||
    sentence.span !== null ||
    sentence.minutes.length > 0
  if (!isFiltered && (sentence.zone === null || !isEven(seconds)))
    return {
      fields: { every_seconds: seconds },
      notes: [bilingualNote('counted from when the schedule is created', '从创建的那一刻开始计算')],
    }
  return composeByClock(sentence, fields, seconds)
}

const stepSeconds = ({ step }: ParsedSentence): number =>
  step !== null && step.unit in UNIT_SECONDS_WITHIN_DAY
    ? step.count * UNIT_SECONDS_WITHIN_DAY[step.unit as keyof typeof UNIT_SECONDS_WITHIN_DAY]
    : UNIT_SECONDS_WITHIN_DAY.hour

/** Whether the interval evenly divides a minute, an hour or a day. */
function isEven(seconds: number): boolean {
  if (seconds < 60) return 60 % seconds === 0
  if (seconds < 3600) return seconds % 60 === 0 && 3600 % seconds === 0
  return seconds % 3600 === 0 && SECONDS_PER_DAY % seconds === 0
}

function composeByClock(
  sentence: ParsedSentence,
  fields: DayFields,
  seconds: number,
): ComposedSchedule | SentenceError {
  const at = sentence.step ?? findPart(sentence, 'minutes') ?? { at: 0 }
  if (sentence.minutes.length > 0 && seconds % 3600 !== 0)
    return sentenceError(
      findPart(sentence, 'minutes') ?? at,
      bilingualNote('minutes of the hour need an interval of whole hours', '指定分钟时，间隔必须是整小时'),
    )
  if (sentence.span !== null) return composeInSpan(sentence, fields, seconds)
  if (!isEven(seconds))
    return sentenceError(
      at,
      bilingualNote(
        'this interval does not divide an hour or a day evenly, so it cannot be limited to certain days or hours',
        '这样的间隔不能整除一小时或一天，无法限定日期',
      ),
    )
  const days = cronDays(fields)
  const toCron = (cron: string): ComposedSchedule => ({ fields: { cron }, notes: fields.notes })
  if (seconds < 60) return toCron(`*/${seconds} * * ${days}`)
  if (seconds < 3600) return toCron(`*/${seconds / 60} * ${days}`)
  const minute = sentence.minutes.length === 0 ? '0' : cronList(sentence.minutes, 60)
  return toCron(
    `${minute} ${seconds === 3600 ? '*' : seconds === SECONDS_PER_DAY ? '0' : `*/${seconds / 3600}`} ${days}`,
  )
}

function composeInSpan(sentence: ParsedSentence, fields: DayFields, seconds: number): ComposedSchedule | SentenceError {
  const { span } = sentence
  if (span === null) return sentenceError({ at: 0 }, bilingualNote('the hours are missing', '几点到几点？'))
  const ends = spanBounds(span.from, span.to)
  if (ends === null)
    return sentenceError(
      span,
      bilingualNote(
        `${span.to.text.trim()} is before ${span.from.text.trim()}; use am or pm, or hours from 0 to 24`,
        `“${span.to.text.trim()}”早于“${span.from.text.trim()}”，请说明上午或下午`,
      ),
    )
  if (ends.to > SECONDS_PER_DAY && (namesDays(sentence) || fields.weekdays.length > 0))
    return sentenceError(
      span,
      bilingualNote(
        'a range over midnight spans two days; omit the days or create two schedules',
        '跨过午夜的时段不能再限定日期，请分成两个计划',
      ),
    )
  const times =
    seconds < 60 ? null : sentence.minutes.length > 0 ? minutesIn(sentence.minutes, ends) : timesInSpan(ends, seconds)
  if (times === null)
    return sentenceError(
      span,
      bilingualNote(
        'the minutes would differ from hour to hour; use an interval that divides an hour evenly, and whole hours',
        '每小时的分钟数会不同，请选择能整除一小时的间隔',
      ),
    )
  const { fields: clock, note: firstAndLast } = times
  const hourNotes = [...hourNote(span.from, ends.from), ...hourNote(span.to, ends.to)]
  return {
    fields: { cron: `${cronFieldsText(clock)} ${cronDays(fields)}` },
    notes: [...fields.notes, ...hourNotes, firstAndLast],
  }
}

function minutesIn(
  minutes: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): ReturnType<typeof timesInSpan> {
  const times: number[] = []
  for (let hour = Math.floor(from / 3600); hour * 3600 <= to; hour += 1)
    for (const minute of minutes) {
      const at = hour * 3600 + minute * 60
      if (at >= from && at <= to) times.push(at)
    }
  const hours = [...new Set(times.map((tick) => Math.floor(tick / 3600) % 24))].sort((a, b) => a - b)
  if (times.length === 0 || hours.length * minutes.length !== times.length) return null
  const found = timesInSpan({ from: times[0] ?? 0, to: times.at(-1) ?? 0 }, 3600)
  return found === null ? null : { fields: { hours, minutes }, note: found.note }
}

/** Cron fields of single times. Written as lists, because `vixie` treats ranges and steps as intervals. */
export const cronOfTimes = ({ minutes, hours }: ClockFields): string => `${minutes.join(',')} ${hours.join(',')}`

/** The minute and hour fields of a cron expression. */
const cronFieldsText = ({ minutes, hours }: ClockFields): string => `${cronList(minutes, 60)} ${cronList(hours, 24)}`

/** Times of day as cron fields. */
interface ClockFields {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
}

const sortedUnique = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b)

/** The cron fields of times; null if the times are not all combinations of some hours and minutes. */
export function clockFieldsOf(seconds: readonly number[]): ClockFields | null {
  if (seconds.some((second) => second % 60 !== 0)) return null
  const hours = sortedUnique(seconds.map((second) => Math.floor(second / 3600) % 24))
  const minutes = sortedUnique(seconds.map((second) => Math.floor(second / 60) % 60))
  return hours.length * minutes.length === new Set(seconds.map((second) => second % DAY_SECONDS)).size
    ? { hours, minutes }
    : null
}

/** The start and end of a range of hours; null if it is ambiguous. An end before the start is on the next day. */
function spanBounds(from: ClockTime, to: ClockTime): { readonly from: number; readonly to: number } | null {
  const isTwelve = (time: ClockTime): boolean => time.isHourOnly && time.second <= 12 * 3600
  if (to.second <= from.second && isTwelve(to) && isTwelve(from)) return null
  // "From 1 to 5pm" starts in the afternoon; "from 9 to 5pm" does not.
  const isAfternoon =
    isTwelve(from) && !to.isHourOnly && to.second > 12 * 3600 && from.second < 12 * 3600 && /p\.?m/i.test(to.text)
  const start = isAfternoon && from.second + 12 * 3600 < to.second ? from.second + 12 * 3600 : from.second
  return { from: start, to: to.second <= start ? to.second + DAY_SECONDS : to.second }
}

/** The times of an interval in a range of hours; null if cron cannot express them. Omits the end if it does not fit. */
function timesInSpan(
  span: { readonly from: number; readonly to: number },
  stepSeconds: number,
): { readonly fields: ClockFields; readonly note: BilingualNote } | null {
  const times: number[] = []
  for (let at = span.from; at <= span.to; at += stepSeconds) times.push(at)
  const withEnd = clockFieldsOf(times)
  const kept = withEnd === null && times.at(-1) === span.to ? times.slice(0, -1) : times
  const fields = withEnd ?? clockFieldsOf(kept)
  const [first = 0] = kept
  const [begin, end] = [first, kept.at(-1) ?? 0].map((second) => formatTimeOfDay(second % DAY_SECONDS))
  if (fields === null || begin === undefined || end === undefined) return null
  return {
    fields,
    note: { en: `the first is at ${begin} and the last at ${end}`, zh: `第一次在 ${begin}，最后一次在 ${end}` },
  }
}

/** A cron field in its shortest form. */
function cronList(values: readonly number[], size: number): string {
  if (values.length === size) return '*'
  const step = size / values.length
  if (values.length > 2 && Number.isInteger(step) && values.every((value, index) => value === index * step))
    return `*/${step}`
  const first = values[0] ?? 0
  const isRun = values.length > 2 && values.every((value, index) => value === first + index)
  return isRun ? `${first}-${values.at(-1) ?? first}` : values.join(',')
}
