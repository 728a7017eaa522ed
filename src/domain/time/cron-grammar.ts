import { type Flaw, flawed, parsed, type Parsed } from '../input.ts'
import { addAll } from '../long-lists.ts'
import {
  bitMask,
  type CronExpression,
  type DayRule,
  LAST_OF_MONTH,
  LAST_WEEKDAY,
  sharedDayRule,
  sixtyBits,
  yearTable,
} from './cron-expression.ts'
import {
  cronFieldError,
  type CronFieldError,
  splitToken,
  DAY_OF_MONTH_FIELD,
  DAY_OF_WEEK_FIELD,
  type FieldRule,
  HOUR_FIELD,
  isCronFieldError,
  MINUTE_FIELD,
  MONTH_FIELD,
  parseItem,
  parseList,
  parseValue,
  type CronToken,
  SECOND_FIELD,
  YEAR_FIELD,
} from './cron-field.ts'

type MonthDays = Pick<DayRule, 'daysOfMonth' | 'daysBeforeLast' | 'nearestWeekday' | 'anyDayOfMonth'>
type WeekDays = Pick<DayRule, 'weekdays' | 'nthWeekdays' | 'anyDayOfWeek'>

/** Parses the two day fields. Both can start with `+`. */
function parseDays(dayOfMonth: CronToken, dayOfWeek: CronToken): readonly CronFieldError[] | (MonthDays & WeekDays) {
  const monthDays = parseMonthDays(withoutPlus(dayOfMonth))
  const weekDays = parseWeekDays(withoutPlus(dayOfWeek))
  if (!isCronFieldError(monthDays) && !isCronFieldError(weekDays)) return { ...monthDays, ...weekDays }
  return [monthDays, weekDays].filter(isCronFieldError)
}

const hasPlus = (token: CronToken): boolean => token.text.startsWith('+')

const withoutPlus = (token: CronToken): CronToken =>
  hasPlus(token) ? { text: token.text.slice(1), position: token.position + 1 } : token

/** Decided by the text: `1-31` matches every day but still counts as a restriction. */
const matchesAnyDay = (token: CronToken): boolean => /^[*?](\/0*1)?$/.test(token.text)

function parseMonthDays(field: CronToken): MonthDays | CronFieldError {
  const nearestWeekday = parseNearestWeekday(field)
  if (nearestWeekday === null) return parseMonthDayList(field)
  if (typeof nearestWeekday === 'object') return nearestWeekday
  return { daysOfMonth: 0, daysBeforeLast: 0, nearestWeekday, anyDayOfMonth: false }
}

/** Parses `LW` and `nW`, which must be the whole field; null for anything else. */
function parseNearestWeekday(field: CronToken): number | CronFieldError | null {
  if (/^LW$/i.test(field.text)) return LAST_WEEKDAY
  if (!/^\d+W$/i.test(field.text)) return null
  return parseValue(DAY_OF_MONTH_FIELD, { text: field.text.slice(0, -1), position: field.position })
}

function parseMonthDayList(field: CronToken): MonthDays | CronFieldError {
  const days: number[] = []
  const beforeLast: number[] = []
  for (const item of splitToken(field, ',')) {
    const distance = parseBeforeLast(item)
    if (typeof distance === 'number') beforeLast.push(distance)
    else {
      const found = distance ?? parsePlainDay(item)
      if (isCronFieldError(found)) return found
      addAll(
        days,
        found.map((day) => day - 1),
      )
    }
  }
  return {
    daysOfMonth: bitMask(days),
    daysBeforeLast: bitMask(beforeLast),
    nearestWeekday: 0,
    anyDayOfMonth: matchesAnyDay(field),
  }
}

function parsePlainDay(item: CronToken): readonly number[] | CronFieldError {
  if (/^(L|\d+)W$/i.test(item.text))
    return cronFieldError(DAY_OF_MONTH_FIELD, item, {
      text: 'must stand alone',
      allowed: 'LW or nW as the whole field',
    })
  return parseItem(DAY_OF_MONTH_FIELD, item)
}

/** Parses `L` as 0 and `L-n` as n days before the last day; null for anything else. */
function parseBeforeLast(item: CronToken): number | CronFieldError | null {
  const match = /^L(?:-(\d+))?$/i.exec(item.text)
  if (match === null) return null
  const distance = Number(match[1] ?? '0')
  return distance > 30
    ? cronFieldError(DAY_OF_MONTH_FIELD, item, { text: 'is before the first day of the month', allowed: 'L-0 to L-30' })
    : distance
}

function parseWeekDays(field: CronToken): WeekDays | CronFieldError {
  const days: number[] = []
  const nth: [number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0]
  for (const item of splitToken(field, ',')) {
    const ordinal = parseNthWeekday(item)
    if (ordinal === null) {
      const found = parseItem(DAY_OF_WEEK_FIELD, item)
      if (isCronFieldError(found)) return found
      addAll(
        days,
        found.map((day) => day % 7),
      )
    } else if (isCronFieldError(ordinal)) return ordinal
    else nth[ordinal.index] = (nth[ordinal.index] ?? 0) | (1 << ordinal.weekday)
  }
  const nthWeekdays = nth.some((mask) => mask !== 0) ? nth : null
  return { weekdays: bitMask(days), nthWeekdays, anyDayOfWeek: matchesAnyDay(field) }
}

interface NthWeekday {
  readonly index: number
  readonly weekday: number
}

/** Parses `n#k` and `nL`; null for anything else. */
function parseNthWeekday(item: CronToken): NthWeekday | CronFieldError | null {
  if (/^L$/i.test(item.text)) return cronFieldError(DAY_OF_WEEK_FIELD, item, 'requires a preceding weekday, such as 5L')
  const last = /^(\d+|[a-z]{3})L$/i.exec(item.text)
  const match = last ?? /^([^#/,-]*)#(.*)$/.exec(item.text)
  if (match === null) return null
  const weekday = parseValue(DAY_OF_WEEK_FIELD, { text: match[1] ?? '', position: item.position })
  if (isCronFieldError(weekday)) return weekday
  if (last !== null) return { index: LAST_OF_MONTH, weekday: weekday % 7 }
  const ordinal = { text: match[2] ?? '', position: item.position + (match[1] ?? '').length + 1 }
  if (/^0*[1-5]$/.test(ordinal.text)) return { index: Number(ordinal.text) - 1, weekday: weekday % 7 }
  return cronFieldError(DAY_OF_WEEK_FIELD, ordinal, { text: 'is not a week of the month', allowed: 'n#1 to n#5' })
}

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const CRON_FORMAT =
  '5 fields (minute hour day-of-month month day-of-week), 6 with a leading second, 7 with a trailing year'

/** Longer than any expression that people write; the limit bounds the work for hostile input. */
export const MAX_CRON_LENGTH = 4000

/** Parses a cron expression. Each invalid field adds one flaw with its position in the text. */
export function parseCron(field: string, value: unknown): Parsed<CronExpression> {
  if (typeof value !== 'string')
    return flawed({ field, value, message: 'must be a cron expression', allowed: CRON_FORMAT, position: 0 })
  const flaw = (error: CronFieldError): Flaw => ({ field, value, ...error })
  if (value.length > MAX_CRON_LENGTH)
    return flawed(
      flaw({ message: 'is too long', allowed: `up to ${MAX_CRON_LENGTH} characters`, position: MAX_CRON_LENGTH }),
    )
  const tokens = splitFields(value)
  const nickname = tokens[0]
  if (nickname?.text.startsWith('@') === true) {
    const meaning = tokens.length === 1 ? NICKNAMES[nickname.text.toLowerCase()] : undefined
    if (meaning !== undefined) return parseNickname(field, nickname.text, meaning)
    const message = `${value.trim()} is not a known nickname`
    return flawed(flaw({ message, allowed: Object.keys(NICKNAMES).join(', '), position: nickname.position }))
  }
  const fields = nameFields(tokens)
  if (fields === null) return flawed(flaw(wrongCount(tokens, value)))
  const found = parseCronFields(value.trim(), fields)
  return 'text' in found ? parsed(found) : flawed(found.map(flaw))
}

function parseNickname(field: string, text: string, meaning: string): Parsed<CronExpression> {
  const expression = parseCron(field, meaning)
  return expression.ok ? parsed({ ...expression.value, text }) : expression
}

/** Splits at spaces and tabs. Other white space is kept and rejected as part of a field. */
const splitFields = (text: string): readonly CronToken[] =>
  [...text.matchAll(/[^ \t]+/g)].map((match) => ({ text: match[0], position: match.index }))

function wrongCount(tokens: readonly CronToken[], text: string): CronFieldError {
  const position = tokens.length > 7 ? (tokens[7]?.position ?? 0) : text.length
  const count = tokens.length === 1 ? '1 field' : `${tokens.length} fields`
  return { message: tokens.length === 0 ? 'is empty' : `has ${count}`, allowed: CRON_FORMAT, position }
}

interface CronFields {
  readonly second: CronToken
  readonly minute: CronToken
  readonly hour: CronToken
  readonly dayOfMonth: CronToken
  readonly month: CronToken
  readonly dayOfWeek: CronToken
  readonly year: CronToken
}

function nameFields(tokens: readonly CronToken[]): CronFields | null {
  const absent = (text: string): CronToken => ({ text, position: 0 })
  const all = [...(tokens.length === 5 ? [absent('0')] : []), ...tokens, ...(tokens.length < 7 ? [absent('*')] : [])]
  const [second, minute, hour, dayOfMonth, month, dayOfWeek, year] = all
  if (all.length !== 7 || second === undefined || minute === undefined || hour === undefined) return null
  if (dayOfMonth === undefined || month === undefined || dayOfWeek === undefined || year === undefined) return null
  return { second, minute, hour, dayOfMonth, month, dayOfWeek, year }
}

function parseCronFields(text: string, fields: CronFields): CronExpression | readonly CronFieldError[] {
  const errors: CronFieldError[] = []
  const readField = (rule: FieldRule, token: CronToken): readonly number[] => {
    const found = parseList(rule, token)
    if (!isCronFieldError(found)) return found
    errors.push(found)
    return []
  }
  const second = readField(SECOND_FIELD, fields.second)
  const minute = readField(MINUTE_FIELD, fields.minute)
  const hour = readField(HOUR_FIELD, fields.hour)
  const days = parseDays(fields.dayOfMonth, fields.dayOfWeek)
  if (!('weekdays' in days)) addAll(errors, days)
  const months = readField(MONTH_FIELD, fields.month)
  // Skip listing over 200 years for `*`, which nearly every expression has.
  const years = fields.year.text === '*' ? null : readField(YEAR_FIELD, fields.year)
  if (errors.length > 0 || !('weekdays' in days)) return errors.sort((a, b) => a.position - b.position)
  return {
    text,
    second: sixtyBits(second),
    minute: sixtyBits(minute),
    hour: bitMask(hour),
    days: sharedDayRule({
      ...days,
      months: bitMask(months.map((month) => month - 1)),
      years: years === null ? null : yearTable(years),
      bothDays: hasPlus(fields.dayOfMonth) || hasPlus(fields.dayOfWeek),
    }),
    isInterval: [fields.second, fields.minute, fields.hour].some((token) => /[*/-]/.test(token.text)),
  }
}
