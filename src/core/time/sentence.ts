import { boundsText, everyText } from '../../domain/schedule/pace/describe.ts'
import { FIRST_YEAR, formatTimeOfDay } from '../../domain/time/calendar.ts'
import {
  type CronExpression,
  type DayRule,
  LAST_OF_MONTH,
  LAST_WEEKDAY,
  type SixtyBits,
} from '../../domain/time/cron-expression.ts'
import type { Exclusion } from '../../domain/time/exclusion.ts'
import { ruleSentence } from './rule-sentence.ts'
import type { Timing } from '../../domain/time/timing.ts'
import { formatInZone } from '../../domain/time/wall-clock.ts'
import {
  bitsOf,
  counted,
  everyUnit,
  isRun,
  joinRuns,
  joinWeekdays,
  joinWords,
  MONTHS,
  PLACES,
  WEEKDAYS,
} from '../../domain/time/words.ts'

/** A timing in one English sentence without a full stop: "At 09:00, Monday through Friday (Europe/Berlin)". */
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
        : `${everyText(timing.intervalMs)}, ${boundsText(timing.cadence)} by what it finds`
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
  const left = [...count(dates.length, 'date'), ...count(windows.length, 'window')]
  return left.length === 0 ? [] : [`except ${left.join(' and ')}`]
}

/**
 * A cron expression in English. It is told from the values that match and not from the text, so that `MON/2`, `0-59`
 * or `THU-SUN` cannot be misread: whatever is said here is what the search looks for.
 */
function cronSentence(expression: CronExpression, both: boolean): string {
  const { days } = expression
  const times = timeClauses(expression)
  const day = dayClause(days, both)
  // "At 09:00" alone leaves open how often; "every 5 minutes" does not.
  const daily = day === '' && times[0]?.startsWith('at ') === true && expression.hour !== ALL_HOURS ? 'every day' : day
  return [...times, daily, monthClause(days), yearClause(days)].filter((clause) => clause !== '').join(', ')
}

const ALL_HOURS = 0xff_ffff
const MOST_TIMES = 6

const valuesOf = (bits: SixtyBits): readonly number[] => [
  ...bitsOf(bits.low, 30),
  ...bitsOf(bits.high, 30).map((value) => value + 30),
]

/** The step of values that go round the clock evenly from 0, or null. */
function evenStep(values: readonly number[], size: number): number | null {
  const step = size / values.length
  return Number.isInteger(step) && values.every((value, index) => value === index * step) ? step : null
}

function timeClauses(expression: CronExpression): readonly string[] {
  const [seconds, minutes] = [valuesOf(expression.second), valuesOf(expression.minute)]
  const hours = bitsOf(expression.hour, 24)
  const onTheMinute = seconds.length === 1 && seconds[0] === 0
  if (seconds.length * minutes.length * hours.length <= MOST_TIMES) {
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
  return [`at ${counted('minute', minutes)} ${everyHour ? 'of every hour' : 'past the hour'}`]
}

function secondClauses(seconds: readonly number[], minutes: readonly number[], everyHour: boolean): readonly string[] {
  const step = evenStep(seconds, 60)
  const every =
    step === null || step === 60 ? `at ${counted('second', seconds)} of the minute` : everyUnit(step, 'second')
  if (minutes.length === 60) return [step === null || step === 60 ? every.replace('the', 'every') : every]
  return [every, `during ${counted('minute', minutes)} ${everyHour ? 'of every hour' : 'past the hour'}`]
}

function hourClause(hours: readonly number[]): string {
  const [first = 0] = hours
  const last = hours.at(-1) ?? 0
  if (isRun(hours)) return `between ${formatTimeOfDay(first * 3600)} and ${formatTimeOfDay(last * 3600 + 59 * 60)}`
  return `in ${counted('hour', hours)}`
}

function dayClause(rule: DayRule, both: boolean): string {
  const date = rule.openDayOfMonth ? '' : dateClause(rule)
  const weekday = rule.openDayOfWeek ? '' : weekdayClause(rule)
  if (date === '' || weekday === '') return date === '' ? bareWeekdays(rule, weekday) : `on ${date}`
  if (both || rule.bothDays) return `on ${date}, only if it is also ${weekday}`
  return `on ${date} or on ${weekday}`
}

/** "Monday through Friday" needs no "on" in front. */
function bareWeekdays(rule: DayRule, weekday: string): string {
  if (weekday === '') return ''
  if (rule.weekdays === 0b111_1111) return 'every day'
  return weekday.includes(' through ') && rule.nthWeekdays === null ? weekday : `on ${weekday}`
}

function dateClause(rule: DayRule): string {
  if (rule.nearestWeekday === LAST_WEEKDAY) return 'the last weekday (Monday to Friday) of the month'
  if (rule.nearestWeekday > 0) return `the weekday (Monday to Friday) nearest day ${rule.nearestWeekday} of the month`
  const days = bitsOf(rule.daysOfMonth, 31).map((index) => index + 1)
  const fromEnd = bitsOf(rule.daysBeforeLast, 31).map(beforeLast)
  return joinWords([...(days.length === 0 ? [] : [`${counted('day', days)} of the month`]), ...fromEnd])
}

function beforeLast(distance: number): string {
  if (distance === 0) return 'the last day of the month'
  return `${distance === 1 ? '1 day' : `${distance} days`} before the last day of the month`
}

function weekdayClause(rule: DayRule): string {
  const plain = rule.weekdays === 0 ? [] : [joinWeekdays(bitsOf(rule.weekdays, 7))]
  const nth = (rule.nthWeekdays ?? []).flatMap((mask, place) =>
    bitsOf(mask, 7).map((weekday) => {
      const which = place === LAST_OF_MONTH ? 'last' : (PLACES[place] ?? '')
      return `the ${which} ${WEEKDAYS[weekday] ?? ''} of the month`
    }),
  )
  return joinWords([...plain, ...nth])
}

function monthClause(rule: DayRule): string {
  const months = bitsOf(rule.months, 12)
  if (months.length === 12) return ''
  const names = joinRuns(months, (month) => MONTHS[month] ?? '')
  return isRun(months) && months.length > 2 ? names : `in ${names}`
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
