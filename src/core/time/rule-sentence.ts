import { DAY_SECONDS, civilFromDay, formatTimeOfDay, weekdayOf } from '../../domain/time/calendar.ts'
import type { RecurrenceRule } from './rrule.ts'
import type { Frequency } from '../../domain/time/rrule-text.ts'
import { localOf } from '../../domain/time/wall-clock.ts'
import { everyUnit, joinRuns, joinWeekdays, joinWords, MONTHS, PLACES, WEEKDAYS } from '../../domain/time/words.ts'

/** A rule in English where it is one of the usual kind, else its text: better plain than wrong. */
export function ruleSentence(rule: RecurrenceRule): string {
  const day = dayClause(rule)
  const time = timeClause(rule)
  if (day === null || time === null) return `by the rule ${rule.text}`
  const { count, other } = rule.parts
  const until = other.get('UNTIL')
  const every = everyUnit(rule.parts.interval, UNITS[rule.parts.frequency])
  return [
    [every, day, time].filter((clause) => clause !== '').join(' '),
    ...(count === null ? [] : [count === 1 ? 'once' : `${count} times`]),
    ...(until === undefined ? [] : [`until ${untilText(until)}`]),
  ].join(', ')
}

const UNITS: Readonly<Record<Frequency, string>> = {
  YEARLY: 'year',
  MONTHLY: 'month',
  WEEKLY: 'week',
  DAILY: 'day',
  HOURLY: 'hour',
  MINUTELY: 'minute',
  SECONDLY: 'second',
}

/** The parts that each frequency can be told with; a rule with any other part is shown as it is written. */
const TOLD: Readonly<Record<Frequency, readonly string[]>> = {
  YEARLY: ['BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYHOUR', 'BYMINUTE', 'UNTIL'],
  MONTHLY: ['BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYHOUR', 'BYMINUTE', 'UNTIL'],
  WEEKLY: ['BYMONTH', 'BYDAY', 'BYHOUR', 'BYMINUTE', 'UNTIL', 'WKST'],
  DAILY: ['BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYHOUR', 'BYMINUTE', 'BYSETPOS', 'UNTIL'],
  HOURLY: ['UNTIL'],
  MINUTELY: ['UNTIL'],
  SECONDLY: ['UNTIL'],
}

const isWithinDay = (frequency: Frequency): boolean =>
  frequency === 'HOURLY' || frequency === 'MINUTELY' || frequency === 'SECONDLY'

/** Which days, or null for a rule that this file has no words for. */
function dayClause(rule: RecurrenceRule): string | null {
  const { frequency, other } = rule.parts
  if ([...other.keys()].some((name) => !TOLD[frequency].includes(name))) return null
  if (isWithinDay(frequency)) return ''
  const [byDay, byDate] = [other.get('BYDAY'), other.get('BYMONTHDAY')]
  if (byDay !== undefined && byDate !== undefined) return null
  const days = byDay === undefined ? dateWords(rule, byDate) : weekdayWords(rule, byDay)
  const months = monthWords(rule)
  return days === null ? null : [days, months].filter((words) => words !== '').join(' ')
}

const CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

function weekdayWords(rule: RecurrenceRule, text: string): string | null {
  const { frequency, other } = rule.parts
  const items = text.split(',').map((item) => ({
    place: item.length > 2 ? Number(item.slice(0, -2)) : null,
    weekday: CODES.indexOf(item.slice(-2)),
  }))
  if (items.every(({ place }) => place === null)) {
    // In a yearly or monthly rule a bare weekday means each such day of it, which needs saying.
    const each = frequency === 'YEARLY' || frequency === 'MONTHLY' ? 'every ' : ''
    return `on ${each}${joinWeekdays(items.map(({ weekday }) => weekday))}`
  }
  if (frequency === 'YEARLY' && !other.has('BYMONTH')) return null
  const words = items.map(({ place, weekday }) => {
    const which = place === -1 ? 'last' : place === null ? undefined : PLACES[place - 1]
    return which === undefined ? null : `the ${which} ${WEEKDAYS[weekday] ?? ''}`
  })
  const known = words.filter((word) => word !== null)
  return known.length === words.length ? `on ${joinWords(known)}` : null
}

function dateWords(rule: RecurrenceRule, text: string | undefined): string | null {
  const { frequency, other } = rule.parts
  const startDay = Math.floor(localOf(rule.zone, rule.start) / DAY_SECONDS)
  const start = civilFromDay(startDay)
  if (text === undefined) {
    if (frequency === 'DAILY') return ''
    if (frequency === 'WEEKLY') return `on ${WEEKDAYS[weekdayOf(startDay)] ?? ''}`
    return frequency === 'YEARLY' && !other.has('BYMONTH')
      ? `on ${MONTHS[start.month - 1] ?? ''} ${start.day}`
      : `on day ${start.day}`
  }
  const dates = text.split(',').map(Number)
  if (dates.some((date) => date < -1)) return null
  const days = dates.filter((date) => date > 0).sort((a, b) => a - b)
  const plain = days.length === 0 ? [] : [`day${days.length === 1 ? '' : 's'} ${joinRuns(days, String)}`]
  const each = frequency === 'YEARLY' && !other.has('BYMONTH') ? ' of every month' : ''
  return `on ${joinWords([...plain, ...(dates.includes(-1) ? ['the last day'] : [])])}${each}`
}

function monthWords(rule: RecurrenceRule): string {
  const text = rule.parts.other.get('BYMONTH')
  if (text === undefined) return ''
  const months = text.split(',').map(Number)
  return `in ${joinRuns(
    [...new Set(months)].sort((a, b) => a - b),
    (month) => MONTHS[month - 1] ?? '',
  )}`
}

/** At which times of the day; null if there are too many to tell. */
function timeClause(rule: RecurrenceRule): string | null {
  const { frequency, other } = rule.parts
  const start = localOf(rule.zone, rule.start) % DAY_SECONDS
  if (isWithinDay(frequency)) return `from ${formatTimeOfDay(start)}`
  const list = (name: string, own: number): readonly number[] => other.get(name)?.split(',').map(Number) ?? [own]
  const hours = list('BYHOUR', Math.floor(start / 3600))
  const minutes = list('BYMINUTE', Math.floor(start / 60) % 60)
  const all = hours.flatMap((hour) => minutes.map((minute) => hour * 3600 + minute * 60 + (start % 60)))
  const times = positioned(
    all.sort((a, b) => a - b),
    other.get('BYSETPOS'),
  )
  return times.length > 6 ? null : `at ${joinWords(times.map(formatTimeOfDay))}`
}

/** Of the times of a day those at certain places, from the front or the end. */
function positioned(times: readonly number[], positions: string | undefined): readonly number[] {
  if (positions === undefined) return times
  const wanted = positions.split(',').map((position) => (Number(position) < 0 ? times.length : -1) + Number(position))
  return times.filter((_, index) => wanted.includes(index))
}

function untilText(text: string): string {
  const date = `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}`
  if (text.length === 8) return date
  return `${date} ${text.slice(9, 11)}:${text.slice(11, 13)}${text.endsWith('Z') ? ' UTC' : ''}`
}
