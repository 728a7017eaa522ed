import { FIRST_YEAR, LAST_YEAR } from './calendar.ts'

/** A set of values 0-59 as two 30-bit masks: bitwise operators work on 32-bit signed integers. */
export interface SixtyBits {
  readonly low: number
  readonly high: number
}

/** Which days match. Bit 0 of a mask is the first value: the 1st, January, Sunday. */
export interface DayRule {
  readonly months: number
  /** One entry per year from 1970 (1 if it matches); null if every year matches. */
  readonly years: Uint8Array | null
  readonly daysOfMonth: number
  /** Bit n is the day n days before the last day of the month. */
  readonly daysBeforeLast: number
  /** 0: unused. 1-31: the Monday-to-Friday day nearest to that date. LAST_WEEKDAY: the last such day of the month. */
  readonly nearestWeekday: number
  readonly weekdays: number
  /** Weekday masks of `n#k` (at index k - 1) and `nL` (at LAST_OF_MONTH); null if neither is used. */
  readonly nthWeekdays: readonly number[] | null
  readonly anyDayOfMonth: boolean
  readonly anyDayOfWeek: boolean
  /** Set by a `+` in the expression: both day fields must match, whatever `day_match` is. */
  readonly bothDays: boolean
}

export const LAST_WEEKDAY = 32
export const LAST_OF_MONTH = 5

/** A parsed cron expression. Equal parts are shared between expressions to save memory. */
export interface CronExpression {
  readonly text: string
  readonly second: SixtyBits
  readonly minute: SixtyBits
  readonly hour: number
  readonly days: DayRule
  /** Whether `vixie` fires on both passes of a repeated hour. Decided by the text, not by the values. */
  readonly isInterval: boolean
}

const SHARED_LIMIT = 4096

/**
 * Returns one shared object for equal content. The cache only saves memory, so it is cleared when it is full: hostile
 * input must not make it grow forever.
 */
function createInterner<T>(): (key: string, value: T) => T {
  const shared = new Map<string, T>()
  return (key, value) => {
    const known = shared.get(key)
    if (known !== undefined) return known
    if (shared.size >= SHARED_LIMIT) shared.clear()
    shared.set(key, value)
    return value
  }
}

const internBits = createInterner<SixtyBits>()
const internDayRule = createInterner<DayRule>()

export function sixtyBits(values: readonly number[]): SixtyBits {
  let [low, high] = [0, 0]
  for (const value of values) {
    if (value < 30) low |= 1 << value
    else high |= 1 << (value - 30)
  }
  return internBits(`${low} ${high}`, { low, high })
}

export const bitMask = (values: readonly number[]): number => values.reduce((mask, value) => mask | (1 << value), 0)

export const sharedDayRule = (rule: DayRule): DayRule => internDayRule(dayRuleKey(rule), rule)

/** A cache key with all fields of the rule. Written out by hand because it takes half of the parsing time. */
function dayRuleKey(rule: DayRule): string {
  const flags = (rule.anyDayOfMonth ? 1 : 0) + (rule.anyDayOfWeek ? 2 : 0) + (rule.bothDays ? 4 : 0)
  const dates = `${rule.daysOfMonth} ${rule.daysBeforeLast} ${rule.nearestWeekday}`
  const weekdays = `${rule.weekdays} ${rule.nthWeekdays === null ? '' : rule.nthWeekdays.join('.')}`
  return `${flags} ${rule.months} ${dates} ${weekdays} ${rule.years === null ? '' : rule.years.join('')}`
}

export function yearTable(years: readonly number[]): Uint8Array | null {
  const wanted = new Set(years)
  const count = LAST_YEAR - FIRST_YEAR + 1
  return wanted.size === count
    ? null
    : Uint8Array.from({ length: count }, (_, index) => (wanted.has(FIRST_YEAR + index) ? 1 : 0))
}
