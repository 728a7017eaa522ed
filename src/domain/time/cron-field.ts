import { addAll } from '../long-lists.ts'

/** An error in one field of an expression. The caller adds the name of the input field. */
export interface CronFieldError {
  readonly message: string
  readonly allowed: string
  /** Offset in the whole expression. */
  readonly position: number
}

/** A part of the expression and its offset. */
export interface CronToken {
  readonly text: string
  readonly position: number
}

export interface FieldRule {
  readonly name: string
  readonly allowed: string
  readonly min: number
  readonly max: number
  /** The last value of `*` and `a/n`. Differs from `max` for weekdays, where Sunday is also 7. */
  readonly end: number
  readonly names: readonly string[]
  /** Whether `?` means `*`, as in the two day fields. */
  readonly questionMark: boolean
}

const WEEKDAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const MONTH_NAMES = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const NUMERIC_FIELD = { names: [], questionMark: false }

export const SECOND_FIELD: FieldRule = { ...NUMERIC_FIELD, name: 'second', allowed: '0-59', min: 0, max: 59, end: 59 }
export const MINUTE_FIELD: FieldRule = { ...NUMERIC_FIELD, name: 'minute', allowed: '0-59', min: 0, max: 59, end: 59 }
export const HOUR_FIELD: FieldRule = { ...NUMERIC_FIELD, name: 'hour', allowed: '0-23', min: 0, max: 23, end: 23 }
export const DAY_OF_MONTH_FIELD: FieldRule = {
  name: 'day of month',
  allowed: '1-31, L, L-n, LW or nW',
  min: 1,
  max: 31,
  end: 31,
  names: [],
  questionMark: true,
}
export const MONTH_FIELD: FieldRule = {
  name: 'month',
  allowed: '1-12 or JAN-DEC',
  min: 1,
  max: 12,
  end: 12,
  names: MONTH_NAMES,
  questionMark: false,
}
export const DAY_OF_WEEK_FIELD: FieldRule = {
  name: 'day of week',
  allowed: '0-7 or SUN-SAT, nL or n#k',
  min: 0,
  max: 7,
  end: 6,
  names: WEEKDAY_NAMES,
  questionMark: true,
}
export const YEAR_FIELD: FieldRule = {
  ...NUMERIC_FIELD,
  name: 'year',
  allowed: '1970-2199',
  min: 1970,
  max: 2199,
  end: 2199,
}

export const isCronFieldError = (answer: object | number): answer is CronFieldError =>
  typeof answer === 'object' && 'message' in answer

/** `trouble` follows the offending text in the message. `allowed` defaults to the allowed values of the field. */
export function cronFieldError(rule: FieldRule, token: CronToken, problem: string | FieldProblem): CronFieldError {
  const { text, allowed = rule.allowed } = typeof problem === 'string' ? { text: problem } : problem
  const described = token.text === '' ? text : `${token.text} ${text}`
  return { message: `${rule.name} ${described}`, allowed, position: token.position }
}

interface FieldProblem {
  readonly text: string
  readonly allowed?: string
}

/** Splits a piece at a separator and keeps the offsets of the parts. */
export function splitToken(token: CronToken, separator: string): readonly CronToken[] {
  if (!token.text.includes(separator)) return [token]
  let position = token.position
  return token.text.split(separator).map((text) => {
    const part = { text, position }
    position += text.length + separator.length
    return part
  })
}

/** The values of a comma-separated list without items that only one field allows, such as `L`. */
export function parseList(rule: FieldRule, field: CronToken): readonly number[] | CronFieldError {
  const values: number[] = []
  for (const item of splitToken(field, ',')) {
    const found = parseItem(rule, item)
    if (isCronFieldError(found)) return found
    addAll(values, found)
  }
  return values
}

/** The values of one item: `*`, `a`, `a-b`, `a/n`, `*` + `/n`, `a-b/n`. */
export function parseItem(rule: FieldRule, item: CronToken): readonly number[] | CronFieldError {
  if (item.text === '') return cronFieldError(rule, item, 'has an empty item')
  const [base = item, stepPiece, ...more] = splitToken(item, '/')
  if (more.length > 0) return cronFieldError(rule, item, 'has more than one step')
  if (base.text === '')
    return cronFieldError(rule, item, { text: 'has no value before its step', allowed: `*/n, a/n or a-b/n` })
  const step = stepPiece === undefined ? 1 : parseStep(rule, stepPiece)
  if (isCronFieldError(step)) return step
  const range = parseRange(rule, base, stepPiece !== undefined)
  if (isCronFieldError(range)) return range
  const values: number[] = []
  for (let value = range.from; value <= range.to; value += step) values.push(value)
  return values
}

function parseStep(rule: FieldRule, token: CronToken): number | CronFieldError {
  const allowed = `a step from 1 to ${rule.max}`
  if (!/^\d+$/.test(token.text)) return cronFieldError(rule, token, { text: 'is not a step', allowed })
  const step = Number(token.text)
  if (step === 0) return cronFieldError(rule, token, { text: 'is a step below 1', allowed })
  return step > rule.max ? cronFieldError(rule, token, { text: `is a step above ${rule.max}`, allowed }) : step
}

interface ValueRange {
  readonly from: number
  readonly to: number
}

function parseRange(rule: FieldRule, base: CronToken, stepped: boolean): ValueRange | CronFieldError {
  if (base.text === '*' || (base.text === '?' && rule.questionMark)) return { from: rule.min, to: rule.end }
  const [first = base, last, ...more] = splitToken(base, '-')
  if (more.length > 0) return cronFieldError(rule, base, 'is more than one range')
  const from = parseValue(rule, first)
  if (isCronFieldError(from)) return from
  if (last === undefined) return stepped ? openRange(rule, from) : { from, to: from }
  const to = isSunday(rule, last) ? 7 : parseValue(rule, last)
  if (isCronFieldError(to)) return to
  return from > to
    ? cronFieldError(rule, base, { text: 'runs backwards', allowed: 'a range from a smaller to a larger value' })
    : { from, to }
}

/** `7/n` is `0/n`: as the start of a range, Sunday is the first day of the week. */
const openRange = (rule: FieldRule, from: number): ValueRange => ({
  from: from > rule.end ? rule.min : from,
  to: rule.end,
})

/** `SUN` at the end of a range is the last day of the week, as in `THU-SUN`. */
const isSunday = (rule: FieldRule, token: CronToken): boolean =>
  rule.names === WEEKDAY_NAMES && token.text.toUpperCase() === 'SUN'

/** One number or name. */
export function parseValue(rule: FieldRule, token: CronToken): number | CronFieldError {
  if (token.text === '') return cronFieldError(rule, token, 'is missing a value')
  if (!/^\d+$/.test(token.text)) {
    const index = rule.names.indexOf(token.text.toUpperCase())
    return index < 0 ? cronFieldError(rule, token, 'is not understood') : index + rule.min
  }
  const value = Number(token.text)
  if (value < rule.min) return cronFieldError(rule, token, `is below ${rule.min}`)
  return value > rule.max ? cronFieldError(rule, token, `is above ${rule.max}`) : value
}
