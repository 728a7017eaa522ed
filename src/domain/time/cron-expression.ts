import { FIRST_YEAR, LAST_YEAR } from './calendar.ts'

/** Sixty yes-or-no answers; a JavaScript number has room for thirty that the bit operations do not turn negative. */
export interface SixtyBits {
  readonly low: number
  readonly high: number
}

/** Which days match. Bit 0 of a mask is the first member: the 1st, January, Sunday. */
export interface DayRule {
  readonly months: number
  /** One entry per year from 1970, null for every year. */
  readonly years: Uint8Array | null
  readonly daysOfMonth: number
  /** Bit n is the day n days before the last one. */
  readonly daysBeforeLast: number
  /** 0 none, 1-31 the Monday-to-Friday day nearest to it, LAST_WEEKDAY the last one of the month. */
  readonly nearestWeekday: number
  readonly weekdays: number
  /** For `n#k` at index k - 1 and for `nL` at LAST_OF_MONTH the weekdays meant; null if there are none. */
  readonly nthWeekdays: readonly number[] | null
  readonly openDayOfMonth: boolean
  readonly openDayOfWeek: boolean
  /** A `+` in the text: both day fields must match, whatever the schedule says. */
  readonly bothDays: boolean
}

export const LAST_WEEKDAY = 32
export const LAST_OF_MONTH = 5

/** A parsed expression: a handful of words, most of them shared with its like. */
export interface CronExpression {
  readonly text: string
  readonly second: SixtyBits
  readonly minute: SixtyBits
  readonly hour: number
  readonly days: DayRule
  /** Whether `vixie` fires it on both passes of a repeat. Decided by the text, not by the values. */
  readonly interval: boolean
}

const SHARED_LIMIT = 4096

/**
 * Hands out one object for equal content. A cache of a pure function that only saves memory, so it may forget: it
 * starts over when it is full, or input of a hostile kind would make it grow for ever.
 */
function sharing<T>(): (key: string, value: T) => T {
  const shared = new Map<string, T>()
  return (key, value) => {
    const known = shared.get(key)
    if (known !== undefined) return known
    if (shared.size >= SHARED_LIMIT) shared.clear()
    shared.set(key, value)
    return value
  }
}

const shareBits = sharing<SixtyBits>()
const shareDays = sharing<DayRule>()

export function sixtyBits(values: readonly number[]): SixtyBits {
  let [low, high] = [0, 0]
  for (const value of values) {
    if (value < 30) low |= 1 << value
    else high |= 1 << (value - 30)
  }
  return shareBits(`${low} ${high}`, { low, high })
}

export const bitMask = (values: readonly number[]): number => values.reduce((mask, value) => mask | (1 << value), 0)

export const sharedDayRule = (rule: DayRule): DayRule => shareDays(dayRuleKey(rule), rule)

/** All of a rule's content in a text; written out because this is half of what parsing costs. */
function dayRuleKey(rule: DayRule): string {
  const flags = (rule.openDayOfMonth ? 1 : 0) + (rule.openDayOfWeek ? 2 : 0) + (rule.bothDays ? 4 : 0)
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
