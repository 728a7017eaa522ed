import { boundsText, everyText } from '../schedule/pace/describe.ts'
import { civilFromDay, DAY_SECONDS, FIRST_YEAR, formatTimeOfDay, weekdayOf } from './calendar.ts'
import { type CronExpression, type DayRule, LAST_OF_MONTH, LAST_WEEKDAY, type SixtyBits } from './cron-expression.ts'
import type { Exclusion } from './exclusion.ts'
import type { Frequency } from './rrule-text.ts'
import type { RecurrenceRule } from './rrule.ts'
import type { Timing } from './timing.ts'
import { formatInZone, localTimeAt } from './wall-clock.ts'
import {
  setBits,
  numberedUnits,
  everyUnit,
  isConsecutive,
  joinRuns,
  joinWeekdays,
  joinWords,
  MONTHS,
  ORDINAL_WORDS,
  WEEKDAYS,
} from './words.ts'

/** A rule in English if it is of a common form, otherwise its text. */
function ruleSentence(rule: RecurrenceRule): string {
  const day = ruleDayClause(rule)
  const time = timeClause(rule)
  if (day === null || time === null) return `by the rule ${rule.text}`
  const { count, other } = rule.parts
  const until = other.get('UNTIL')
  const every = everyUnit(rule.parts.interval, UNIT_NAMES[rule.parts.frequency])
  return [
    [every, day, time].filter((clause) => clause !== '').join(' '),
    ...(count === null ? [] : [count === 1 ? 'once' : `${count} times`]),
    ...(until === undefined ? [] : [`until ${untilText(until)}`]),
  ].join(', ')
}

const UNIT_NAMES: Readonly<Record<Frequency, string>> = {
  YEARLY: 'year',
  MONTHLY: 'month',
  WEEKLY: 'week',
  DAILY: 'day',
  HOURLY: 'hour',
  MINUTELY: 'minute',
  SECONDLY: 'second',
}

/** The parts that a sentence can express, by frequency. A rule with any other part is shown as its text. */
const SUPPORTED_PARTS: Readonly<Record<Frequency, readonly string[]>> = {
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

/** The days of a rule in words; null if the rule has no sentence. */
function ruleDayClause(rule: RecurrenceRule): string | null {
  const { frequency, other } = rule.parts
  if ([...other.keys()].some((name) => !SUPPORTED_PARTS[frequency].includes(name))) return null
  if (isWithinDay(frequency)) return ''
  const [byDay, byDate] = [other.get('BYDAY'), other.get('BYMONTHDAY')]
  if (byDay !== undefined && byDate !== undefined) return null
  const days = byDay === undefined ? dateWords(rule, byDate) : weekdayWords(rule, byDay)
  const months = monthWords(rule)
  return days === null ? null : [days, months].filter((words) => words !== '').join(' ')
}

const WEEKDAY_CODES = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

function weekdayWords(rule: RecurrenceRule, text: string): string | null {
  const { frequency, other } = rule.parts
  const items = text.split(',').map((item) => ({
    place: item.length > 2 ? Number(item.slice(0, -2)) : null,
    weekday: WEEKDAY_CODES.indexOf(item.slice(-2)),
  }))
  if (items.every(({ place: ordinal }) => ordinal === null)) {
    // In a yearly or monthly rule, a weekday without a number means every such day, so the sentence says "every".
    const each = frequency === 'YEARLY' || frequency === 'MONTHLY' ? 'every ' : ''
    return `on ${each}${joinWeekdays(items.map(({ weekday }) => weekday))}`
  }
  if (frequency === 'YEARLY' && !other.has('BYMONTH')) return null
  const words = items.map(({ place: ordinal, weekday }) => {
    const which = ordinal === -1 ? 'last' : ordinal === null ? undefined : ORDINAL_WORDS[ordinal - 1]
    return which === undefined ? null : `the ${which} ${WEEKDAYS[weekday] ?? ''}`
  })
  const known = words.filter((word) => word !== null)
  return known.length === words.length ? `on ${joinWords(known)}` : null
}

function dateWords(rule: RecurrenceRule, text: string | undefined): string | null {
  const { frequency, other } = rule.parts
  const startDay = Math.floor(localTimeAt(rule.zone, rule.start) / DAY_SECONDS)
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

/** The times of day in words; null if there are too many. */
function timeClause(rule: RecurrenceRule): string | null {
  const { frequency, other } = rule.parts
  const start = localTimeAt(rule.zone, rule.start) % DAY_SECONDS
  if (isWithinDay(frequency)) return `from ${formatTimeOfDay(start)}`
  const list = (name: string, own: number): readonly number[] => other.get(name)?.split(',').map(Number) ?? [own]
  const hours = list('BYHOUR', Math.floor(start / 3600))
  const minutes = list('BYMINUTE', Math.floor(start / 60) % 60)
  const all = hours.flatMap((hour) => minutes.map((minute) => hour * 3600 + minute * 60 + (start % 60)))
  const times = applySetPositions(
    all.sort((a, b) => a - b),
    other.get('BYSETPOS'),
  )
  return times.length > 6 ? null : `at ${joinWords(times.map(formatTimeOfDay))}`
}

/** Applies BYSETPOS to the times of a day. */
function applySetPositions(times: readonly number[], positions: string | undefined): readonly number[] {
  if (positions === undefined) return times
  const wanted = positions.split(',').map((position) => (Number(position) < 0 ? times.length : -1) + Number(position))
  return times.filter((_, index) => wanted.includes(index))
}

function untilText(text: string): string {
  const date = `${text.slice(0, 4)}-${text.slice(4, 6)}-${text.slice(6, 8)}`
  if (text.length === 8) return date
  return `${date} ${text.slice(9, 11)}:${text.slice(11, 13)}${text.endsWith('Z') ? ' UTC' : ''}`
}

/** A timing as one English sentence without a period: "At 09:00, Monday through Friday (Europe/Berlin)". */
export function sentenceFor(timing: Timing): string {
  const limits = limitClauses(timing)
  const zone = timing.kind === 'every' && limits.length === 0 ? '' : ` (${timing.zone.name})`
  const text = [planText(timing), ...limits].join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1) + zone
}

function planText(timing: Timing): string {
  switch (timing.kind) {
    case 'at':
      return `once, on ${formatInZone(timing.zone, timing.at).replace(' ', ' at ')}`
    case 'every':
      return timing.cadence === undefined
        ? everyText(timing.intervalMs)
        : `${everyText(timing.intervalMs)}, ${boundsText(timing.cadence)} depending on its results`
    case 'cron':
      return cronSentence(timing.expression, timing.dayMatch === 'and')
    case 'rrule':
      return ruleSentence(timing.rule)
  }
}

function limitClauses(timing: Timing): readonly string[] {
  return [
    ...(timing.startsAt === null ? [] : [`starting ${formatInZone(timing.zone, timing.startsAt)}`]),
    ...(timing.endsAt === null ? [] : [`ending ${formatInZone(timing.zone, timing.endsAt)}`]),
    ...(timing.exclude === null ? [] : exclusionClause(timing.exclude)),
  ]
}

function exclusionClause({ dates, windows }: Exclusion): readonly string[] {
  const count = (size: number, word: string): readonly string[] =>
    size === 0 ? [] : [`${size} ${word}${size === 1 ? '' : 's'}`]
  const excluded = [...count(dates.length, 'date'), ...count(windows.length, 'window')]
  return excluded.length === 0 ? [] : [`except ${excluded.join(' and ')}`]
}

/**
 * A cron expression in English. It describes the matching values and not the text, so that `MON/2`, `0-59` or `THU-SUN`
 * are described as the search interprets them.
 */
function cronSentence(expression: CronExpression, matchBoth: boolean): string {
  const { days } = expression
  const times = timeClauses(expression)
  const day = dayClause(days, matchBoth)
  // "At 09:00" needs "every day"; "every 5 minutes" does not.
  const daily = day === '' && times[0]?.startsWith('at ') === true && expression.hour !== ALL_HOURS ? 'every day' : day
  return [...times, daily, monthClause(days), yearClause(days)].filter((clause) => clause !== '').join(', ')
}

const ALL_HOURS = 0xff_ffff
const MAX_LISTED_TIMES = 6

const valuesOf = (bits: SixtyBits): readonly number[] => [
  ...setBits(bits.low, 30),
  ...setBits(bits.high, 30).map((value) => value + 30),
]

/** The step of values that are evenly spaced from 0 through the whole range, or null. */
function evenStep(values: readonly number[], size: number): number | null {
  const step = size / values.length
  return Number.isInteger(step) && values.every((value, index) => value === index * step) ? step : null
}

function timeClauses(expression: CronExpression): readonly string[] {
  const [seconds, minutes] = [valuesOf(expression.second), valuesOf(expression.minute)]
  const hours = setBits(expression.hour, 24)
  const onTheMinute = seconds.length === 1 && seconds[0] === 0
  if (seconds.length * minutes.length * hours.length <= MAX_LISTED_TIMES) {
    const times = hours.flatMap((hour) =>
      minutes.flatMap((minute) => seconds.map((second) => formatTimeOfDay(hour * 3600 + minute * 60 + second))),
    )
    return [`at ${joinWords(times)}`]
  }
  const hourStep = evenStep(hours, 24)
  if (onTheMinute && minutes.length === 1 && minutes[0] === 0 && hourStep !== null) return [everyUnit(hourStep, 'hour')]
  const everyHour = hours.length === 24
  const clauses = onTheMinute ? minuteClauses(minutes, everyHour) : secondClauses(seconds, minutes, everyHour)
  return everyHour ? clauses : [...clauses, hourClause(hours)]
}

function minuteClauses(minutes: readonly number[], everyHour: boolean): readonly string[] {
  const step = evenStep(minutes, 60)
  if (step !== null && step < 60) return [everyUnit(step, 'minute')]
  return [`at ${numberedUnits('minute', minutes)} ${everyHour ? 'of every hour' : 'past the hour'}`]
}

function secondClauses(seconds: readonly number[], minutes: readonly number[], everyHour: boolean): readonly string[] {
  const step = evenStep(seconds, 60)
  const every =
    step === null || step === 60 ? `at ${numberedUnits('second', seconds)} of the minute` : everyUnit(step, 'second')
  if (minutes.length === 60) return [step === null || step === 60 ? every.replace('the', 'every') : every]
  return [every, `during ${numberedUnits('minute', minutes)} ${everyHour ? 'of every hour' : 'past the hour'}`]
}

function hourClause(hours: readonly number[]): string {
  const [first = 0] = hours
  const last = hours.at(-1) ?? 0
  if (isConsecutive(hours))
    return `between ${formatTimeOfDay(first * 3600)} and ${formatTimeOfDay(last * 3600 + 59 * 60)}`
  return `in ${numberedUnits('hour', hours)}`
}

function dayClause(rule: DayRule, matchBoth: boolean): string {
  const date = rule.anyDayOfMonth ? '' : dateClause(rule)
  const weekday = rule.anyDayOfWeek ? '' : weekdayClause(rule)
  if (date === '' || weekday === '') return date === '' ? weekdayPhrase(rule, weekday) : `on ${date}`
  if (matchBoth || rule.bothDays) return `on ${date}, only if it is also ${weekday}`
  return `on ${date} or on ${weekday}`
}

/** Adds "on", except before "Monday through Friday". */
function weekdayPhrase(rule: DayRule, weekday: string): string {
  if (weekday === '') return ''
  if (rule.weekdays === 0b111_1111) return 'every day'
  return weekday.includes(' through ') && rule.nthWeekdays === null ? weekday : `on ${weekday}`
}

function dateClause(rule: DayRule): string {
  if (rule.nearestWeekday === LAST_WEEKDAY) return 'the last weekday (Monday to Friday) of the month'
  if (rule.nearestWeekday > 0) return `the weekday (Monday to Friday) nearest day ${rule.nearestWeekday} of the month`
  const days = setBits(rule.daysOfMonth, 31).map((index) => index + 1)
  const fromEnd = setBits(rule.daysBeforeLast, 31).map(beforeLast)
  return joinWords([...(days.length === 0 ? [] : [`${numberedUnits('day', days)} of the month`]), ...fromEnd])
}

function beforeLast(distance: number): string {
  if (distance === 0) return 'the last day of the month'
  return `${distance === 1 ? '1 day' : `${distance} days`} before the last day of the month`
}

function weekdayClause(rule: DayRule): string {
  const plain = rule.weekdays === 0 ? [] : [joinWeekdays(setBits(rule.weekdays, 7))]
  const nth = (rule.nthWeekdays ?? []).flatMap((mask, ordinal) =>
    setBits(mask, 7).map((weekday) => {
      const which = ordinal === LAST_OF_MONTH ? 'last' : (ORDINAL_WORDS[ordinal] ?? '')
      return `the ${which} ${WEEKDAYS[weekday] ?? ''} of the month`
    }),
  )
  return joinWords([...plain, ...nth])
}

function monthClause(rule: DayRule): string {
  const months = setBits(rule.months, 12)
  if (months.length === 12) return ''
  const names = joinRuns(months, (month) => MONTHS[month] ?? '')
  return isConsecutive(months) && months.length > 2 ? names : `in ${names}`
}

function yearClause(rule: DayRule): string {
  if (rule.years === null) return ''
  const years = [...rule.years.entries()].filter(([, wanted]) => wanted === 1).map(([index]) => FIRST_YEAR + index)
  const [first = 0, second = 0] = years
  const last = years.at(-1) ?? 0
  const step = second - first
  if (years.length > 3 && step > 1 && years.every((year, index) => year === first + index * step))
    return `every ${step} years from ${first} through ${last}`
  return `in ${joinRuns(years, String)}`
}
