import { sentenceError, findPart, type ParsedSentence } from './gather.ts'
import type { SentenceError, BilingualNote } from './parts.ts'

/** The days of a schedule, for cron or a recurrence rule. An empty list means no restriction. */
export interface DayFields {
  readonly dates: readonly number[]
  readonly nearest: 'LW' | '1W' | null
  readonly weekdays: readonly number[]
  readonly nthWeekdays: ParsedSentence['nthWeekdays']
  readonly months: readonly number[]
  readonly notes: readonly BilingualNote[]
}

const ALL_WEEKDAYS = [0, 1, 2, 3, 4, 5, 6]
const ALL_MONTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

const bilingualNote = (en: string, zh: string): BilingualNote => ({ en, zh })

/** Whether the sentence names days. */
export const namesDays = (sentence: ParsedSentence): boolean =>
  sentence.weekdays.length + sentence.nthWeekdays.length + sentence.dates.length + sentence.yeardays.length > 0 ||
  sentence.nearest !== null

/** The days that a sentence names, or why they are contradictory. */
export function dayFieldsOf(sentence: ParsedSentence): DayFields | SentenceError {
  const byDate = findPart(sentence, 'dates', 'nearest', 'yearday')
  const byWeekday = findPart(sentence, 'weekdays', 'places')
  if (byDate !== null && byWeekday !== null)
    return sentenceError(
      byDate.at > byWeekday.at ? byDate : byWeekday,
      bilingualNote('use either days of the month or weekdays, not both', '日期和星期不能同时使用'),
    )
  if (
    (sentence.nearest !== null && sentence.dates.length > 0) ||
    (sentence.nthWeekdays.length > 0 && sentence.weekdays.length > 0)
  )
    return sentenceError(
      byDate ?? byWeekday ?? { at: 0 },
      bilingualNote('the days are given in two ways', '同时用了两种说法指定日期'),
    )
  const filled = withDefaultDays(sentence)
  if ('note' in filled) return filled
  return withoutExceptions(sentence, filled)
}

/** Adds the default day of "weekly" and "monthly". */
function withDefaultDays(sentence: ParsedSentence): DayFields | SentenceError {
  const { step, yeardays } = sentence
  const unit = step?.unit
  const plain: DayFields = { ...sentence, months: sentence.months, notes: [] }
  if (yeardays.length > 0) {
    const [months, days] = [
      sortedUnique(yeardays.map(({ month }) => month)),
      sortedUnique(yeardays.map(({ day }) => day)),
    ]
    if (months.length * days.length > yeardays.length || sentence.months.length > 0 || sentence.dates.length > 0)
      return sentenceError(
        findPart(sentence, 'yearday') ?? { at: 0 },
        bilingualNote('these dates need separate schedules', '这些日期请分成多个计划'),
      )
    return { ...plain, dates: days, months }
  }
  if (step === null || namesDays(sentence)) return dayConflict(sentence) ?? plain
  if (unit === 'week')
    return {
      ...plain,
      weekdays: [1],
      notes: [bilingualNote('no weekday given, so Monday is used', '没有说明星期几，按星期一处理')],
    }
  if (unit === 'month')
    return {
      ...plain,
      dates: [1],
      notes: [bilingualNote('no day given, so the first day of the month is used', '没有说明日期，按每月 1 日处理')],
    }
  if (unit === 'year')
    return sentenceError(step, bilingualNote('the day of the year is missing', '没有说明是一年中的哪一天'))
  return plain
}

function dayConflict(sentence: ParsedSentence): SentenceError | null {
  const unit = sentence.step?.unit
  if (unit === 'week' && (sentence.dates.length > 0 || sentence.nearest !== null))
    return sentenceError(
      findPart(sentence, 'dates', 'nearest') ?? { at: 0 },
      bilingualNote('a weekly schedule cannot use days of the month', '每周不能指定日期'),
    )
  if (unit === 'month' && sentence.weekdays.length > 0)
    return sentenceError(
      findPart(sentence, 'weekdays') ?? { at: 0 },
      bilingualNote('add which weekday of the month, such as the first or the last', '请说明是每月第几个'),
    )
  if (unit === 'year' && sentence.months.length === 0)
    return sentenceError(sentence.step ?? { at: 0 }, bilingualNote('the month is missing', '没有说明是哪个月'))
  return null
}

function withoutExceptions(sentence: ParsedSentence, fields: DayFields): DayFields | SentenceError {
  const weekdays = sentence.except.flatMap((one) => one.weekdays)
  const months = sentence.except.flatMap((one) => one.months)
  const [first] = sentence.except
  const isByDate = fields.dates.length > 0 || fields.nearest !== null || fields.nthWeekdays.length > 0
  if (weekdays.length > 0 && isByDate && first !== undefined)
    return sentenceError(first, bilingualNote('weekdays can only be excluded from weekdays', '只能从星期中排除星期'))
  const left = (fields.weekdays.length > 0 ? fields.weekdays : ALL_WEEKDAYS).filter((day) => !weekdays.includes(day))
  const open = (fields.months.length > 0 ? fields.months : ALL_MONTHS).filter((month) => !months.includes(month))
  if ((left.length === 0 || open.length === 0) && first !== undefined)
    return sentenceError(first, bilingualNote('no days are left', '没有剩下任何日子'))
  return {
    ...fields,
    weekdays: weekdays.length === 0 ? fields.weekdays : left,
    months: months.length === 0 ? fields.months : open,
  }
}

const sortedUnique = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b)

/** The three day fields of a cron expression. */
export function cronDays({ dates, nearest, weekdays, nthWeekdays, months }: DayFields): string {
  const days = dates.map((date) => (date === -1 ? 'L' : String(date)))
  const dayOfMonth = nearest ?? (days.length === 0 ? '*' : days.join(','))
  const named = nthWeekdays.map(({ place: ordinal, day }) => (ordinal === -1 ? `${day}L` : `${day}#${ordinal}`))
  const isAll = weekdays.length === 0 || weekdays.length === 7
  const dayOfWeek = named.length > 0 ? named.join(',') : isAll ? '*' : weekdayList(weekdays)
  return `${dayOfMonth} ${months.length === 0 || months.length === 12 ? '*' : cronRange(months)} ${dayOfWeek}`
}

const weekdayList = (weekdays: readonly number[]): string =>
  weekdays.join() === '1,2,3,4,5' ? '1-5' : weekdays.join(',')

const cronRange = (values: readonly number[]): string => {
  const first = values[0] ?? 0
  return values.length > 2 && values.every((value, index) => value === first + index)
    ? `${first}-${values.at(-1) ?? first}`
    : values.join(',')
}

const WEEKDAY_CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** The day parts of a recurrence rule; null if a rule cannot express the days. */
export function ruleDays({ dates, nearest, weekdays, nthWeekdays, months }: DayFields): readonly string[] | null {
  if (nearest !== null) return null
  const byDay = [
    ...weekdays.map((day) => WEEKDAY_CODES[day] ?? ''),
    ...nthWeekdays.map(({ place: ordinal, day }) => `${ordinal}${WEEKDAY_CODES[day] ?? ''}`),
  ]
  return [
    ...(months.length === 0 ? [] : [`BYMONTH=${months.join(',')}`]),
    ...(dates.length === 0 ? [] : [`BYMONTHDAY=${dates.join(',')}`]),
    ...(byDay.length === 0 ? [] : [`BYDAY=${byDay.join(',')}`]),
  ]
}
