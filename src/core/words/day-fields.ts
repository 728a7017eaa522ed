import { complainOf, partOf, type Said } from './gather.ts'
import type { Complaint, Note } from '../../domain/words/parts.ts'

/** On which days, as cron and as a rule have them. Empty: every one. */
export interface DayFields {
  readonly dates: readonly number[]
  readonly nearest: 'LW' | '1W' | null
  readonly weekdays: readonly number[]
  readonly places: Said['places']
  readonly months: readonly number[]
  readonly notes: readonly Note[]
}

const ALL_WEEKDAYS = [0, 1, 2, 3, 4, 5, 6]
const ALL_MONTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

const note = (en: string, zh: string): Note => ({ en, zh })

/** Whether anything is said about days, other than how often. */
export const saysDays = (said: Said): boolean =>
  said.weekdays.length + said.places.length + said.dates.length + said.yeardays.length > 0 || said.nearest !== null

/** On which days a sentence says it is, or why that makes no sense. */
export function dayFieldsOf(said: Said): DayFields | Complaint {
  const byDate = partOf(said, 'dates', 'nearest', 'yearday')
  const byWeekday = partOf(said, 'weekdays', 'places')
  if (byDate !== null && byWeekday !== null)
    return complainOf(
      byDate.at > byWeekday.at ? byDate : byWeekday,
      note('either days of the month or weekdays, not both', '日期和星期不能同时使用'),
    )
  if ((said.nearest !== null && said.dates.length > 0) || (said.places.length > 0 && said.weekdays.length > 0))
    return complainOf(
      byDate ?? byWeekday ?? { at: 0 },
      note('two ways to name the days at once', '同时用了两种说法指定日期'),
    )
  const filled = filledBy(said)
  if ('note' in filled) return filled
  return withoutExceptions(said, filled)
}

/** What is left open by "weekly", "monthly" and "yearly". */
function filledBy(said: Said): DayFields | Complaint {
  const { step, yeardays } = said
  const unit = step?.unit
  const plain: DayFields = { ...said, months: said.months, notes: [] }
  if (yeardays.length > 0) {
    const [months, days] = [unique(yeardays.map(({ month }) => month)), unique(yeardays.map(({ day }) => day))]
    if (months.length * days.length > yeardays.length || said.months.length > 0 || said.dates.length > 0)
      return complainOf(
        partOf(said, 'yearday') ?? { at: 0 },
        note('these dates need a schedule each', '这些日期请分成多个计划'),
      )
    return { ...plain, dates: days, months }
  }
  if (step === null || saysDays(said)) return contradiction(said) ?? plain
  if (unit === 'week')
    return {
      ...plain,
      weekdays: [1],
      notes: [note('no weekday is said, so it is Monday', '没有说明星期几，按星期一处理')],
    }
  if (unit === 'month')
    return {
      ...plain,
      dates: [1],
      notes: [note('no day is said, so it is the first of the month', '没有说明日期，按每月 1 日处理')],
    }
  if (unit === 'year') return complainOf(step, note('which day of the year is not said', '没有说明是一年中的哪一天'))
  return plain
}

function contradiction(said: Said): Complaint | null {
  const unit = said.step?.unit
  if (unit === 'week' && (said.dates.length > 0 || said.nearest !== null))
    return complainOf(
      partOf(said, 'dates', 'nearest') ?? { at: 0 },
      note('a week has no days of the month', '每周不能指定日期'),
    )
  if (unit === 'month' && said.weekdays.length > 0)
    return complainOf(
      partOf(said, 'weekdays') ?? { at: 0 },
      note('which one of the month? Say the first, or the last', '请说明是每月第几个'),
    )
  if (unit === 'year' && said.months.length === 0)
    return complainOf(said.step ?? { at: 0 }, note('which month of the year is not said', '没有说明是哪个月'))
  return null
}

function withoutExceptions(said: Said, fields: DayFields): DayFields | Complaint {
  const weekdays = said.except.flatMap((one) => one.weekdays)
  const months = said.except.flatMap((one) => one.months)
  const [first] = said.except
  const isByDate = fields.dates.length > 0 || fields.nearest !== null || fields.places.length > 0
  if (weekdays.length > 0 && isByDate && first !== undefined)
    return complainOf(first, note('weekdays can only be left out of weekdays', '只能从星期中排除星期'))
  const left = (fields.weekdays.length > 0 ? fields.weekdays : ALL_WEEKDAYS).filter((day) => !weekdays.includes(day))
  const open = (fields.months.length > 0 ? fields.months : ALL_MONTHS).filter((month) => !months.includes(month))
  if ((left.length === 0 || open.length === 0) && first !== undefined)
    return complainOf(first, note('nothing is left', '没有剩下任何日子'))
  return {
    ...fields,
    weekdays: weekdays.length === 0 ? fields.weekdays : left,
    months: months.length === 0 ? fields.months : open,
  }
}

const unique = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b)

/** The three fields of cron for days. */
export function cronDays({ dates, nearest, weekdays, places, months }: DayFields): string {
  const days = dates.map((date) => (date === -1 ? 'L' : String(date)))
  const dayOfMonth = nearest ?? (days.length === 0 ? '*' : days.join(','))
  const named = places.map(({ place, day }) => (place === -1 ? `${day}L` : `${day}#${place}`))
  const isAll = weekdays.length === 0 || weekdays.length === 7
  const dayOfWeek = named.length > 0 ? named.join(',') : isAll ? '*' : weekdayList(weekdays)
  return `${dayOfMonth} ${months.length === 0 || months.length === 12 ? '*' : runs(months)} ${dayOfWeek}`
}

const weekdayList = (weekdays: readonly number[]): string =>
  weekdays.join() === '1,2,3,4,5' ? '1-5' : weekdays.join(',')

const runs = (values: readonly number[]): string => {
  const first = values[0] ?? 0
  return values.length > 2 && values.every((value, index) => value === first + index)
    ? `${first}-${values.at(-1) ?? first}`
    : values.join(',')
}

const CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** The parts of a rule for days; null for what a rule has no words for. */
export function ruleDays({ dates, nearest, weekdays, places, months }: DayFields): readonly string[] | null {
  if (nearest !== null) return null
  const byDay = [
    ...weekdays.map((day) => CODES[day] ?? ''),
    ...places.map(({ place, day }) => `${place}${CODES[day] ?? ''}`),
  ]
  return [
    ...(months.length === 0 ? [] : [`BYMONTH=${months.join(',')}`]),
    ...(dates.length === 0 ? [] : [`BYMONTHDAY=${dates.join(',')}`]),
    ...(byDay.length === 0 ? [] : [`BYDAY=${byDay.join(',')}`]),
  ]
}
