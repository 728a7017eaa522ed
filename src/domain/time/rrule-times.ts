import type { Flaw } from '../input.ts'
import { DAY_SECONDS } from './calendar.ts'
import type { Frequency, RuleParts } from './rrule-text.ts'

/**
 * The times of day of a rule, in seconds. A day is made of units: the day itself, its hours, minutes or seconds,
 * whichever FREQ repeats. A rule names some of the units and the same times within each. Where INTERVAL leaves out units
 * and goes on over midnight, the units of a day depend on its phase: the first unit, modulo INTERVAL, that the rule has.
 */
export interface RuleTimes {
  /** Seconds of one unit. */
  readonly unit: number
  /** How many times of a day of this phase come before a second. */
  readonly rank: (phase: number, second: number) => number
  readonly count: (phase: number) => number
  /** The time at a place below `count`. */
  readonly at: (phase: number, place: number) => number
}

const UNIT_SECONDS: Readonly<Partial<Record<Frequency, number>>> = { HOURLY: 3_600, MINUTELY: 60, SECONDLY: 1 }

/** Seconds of what FREQ repeats; whole days for everything coarser. */
export const unitOf = ({ frequency }: RuleParts): number => UNIT_SECONDS[frequency] ?? DAY_SECONDS

/** Rules with the same lists share a table. It takes up to a third of a megabyte and a millisecond to build. */
const tables = new Map<string, RuleTimes | null>()
const MAX_TABLES = 64

const LISTS = ['BYHOUR', 'BYMINUTE', 'BYSECOND', 'BYSETPOS']

/** Null for a rule without any time: its BYSETPOS asks for more than a unit holds. */
export function timesOf(parts: RuleParts, startSecond: number): RuleTimes | null {
  const unit = unitOf(parts)
  const lists = LISTS.map((name) => parts.other.get(name) ?? '')
  const key = [unit, parts.interval, parts.frequency, startSecond % unit, ...lists].join(' ')
  const known = tables.get(key)
  const found = known === undefined ? createTimes(parts, startSecond) : known
  tables.delete(key)
  tables.set(key, found)
  for (const oldest of tables.size > MAX_TABLES ? [...tables.keys()].slice(0, 1) : []) tables.delete(oldest)
  return found
}

function createTimes(parts: RuleParts, startSecond: number): RuleTimes | null {
  const unit = unitOf(parts)
  const inner = timesInUnit(parts, startSecond)
  if (inner.length === 0) return null
  const units = unitsOfDay(parts)
  const phases = unit === DAY_SECONDS ? 1 : Math.min(parts.interval, DAY_SECONDS / unit)
  const { sorted, starts } = byPhase(units, phases)
  const first = (phase: number): number => starts[Math.min(phase, phases)] ?? units.length
  const end = (phase: number): number => starts[Math.min(phase + 1, phases)] ?? units.length
  return {
    unit,
    rank: (phase, second) => {
      const index = Math.floor(second / unit)
      const place = lowerBound(sorted, index, { from: first(phase), to: end(phase) })
      const isInside = place < end(phase) && sorted[place] === index
      const within = isInside ? lowerBound(inner, second - index * unit, { from: 0, to: inner.length }) : 0
      return (place - first(phase)) * inner.length + within
    },
    count: (phase) => (end(phase) - first(phase)) * inner.length,
    at: (phase, place) =>
      (sorted[first(phase) + Math.floor(place / inner.length)] ?? 0) * unit + (inner[place % inner.length] ?? 0),
  }
}

/** Units sorted by phase, and where each phase begins. */
function byPhase(units: Int32Array, phases: number): { readonly sorted: Int32Array; readonly starts: Int32Array } {
  const starts = new Int32Array(phases + 1)
  for (const unit of units) starts[(unit % phases) + 1] = (starts[(unit % phases) + 1] ?? 0) + 1
  for (let phase = 0; phase < phases; phase += 1) starts[phase + 1] = (starts[phase + 1] ?? 0) + (starts[phase] ?? 0)
  if (phases === 1) return { sorted: units, starts }
  const [sorted, filled] = [new Int32Array(units.length), starts.slice()]
  for (const unit of units) {
    const place = filled[unit % phases] ?? 0
    sorted[place] = unit
    filled[unit % phases] = place + 1
  }
  return { sorted, starts }
}

const numbers = (text: string): readonly number[] => [...new Set(text.split(',').map(Number))].sort((a, b) => a - b)
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

/** The hours, minutes or seconds of a day that the lists let through. */
function unitsOfDay(parts: RuleParts): Int32Array {
  const unit = unitOf(parts)
  const list = (name: string, all: number, size: number): readonly number[] => {
    if (unit > size) return [0]
    const text = parts.other.get(name)
    return text === undefined ? upTo(all) : numbers(text)
  }
  const [hours, minutes, seconds] = [list('BYHOUR', 24, 3_600), list('BYMINUTE', 60, 60), list('BYSECOND', 60, 1)]
  const units = new Int32Array(hours.length * minutes.length * seconds.length)
  let place = 0
  for (const hour of hours)
    for (const minute of minutes)
      for (const second of seconds) {
        units[place] = (hour * 3_600 + minute * 60 + second) / unit
        place += 1
      }
  return units
}

/** What no list names is the start's. */
function timesInUnit(parts: RuleParts, startSecond: number): readonly number[] {
  const unit = unitOf(parts)
  const list = (name: string, size: number, own: number): readonly number[] => {
    if (unit <= size) return [0]
    const text = parts.other.get(name)
    return text === undefined ? [own] : numbers(text)
  }
  const hours = list('BYHOUR', 3_600, Math.floor(startSecond / 3_600))
  const minutes = list('BYMINUTE', 60, Math.floor(startSecond / 60) % 60)
  const seconds = list('BYSECOND', 1, startSecond % 60)
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => hour * 3_600 + minute * 60 + second)),
  )
  const positions = parts.other.get('BYSETPOS')
  // Of days, weeks, months and years the positions are looked up where it is known which times the clock shows.
  if (positions === undefined || unit === DAY_SECONDS) return times
  return placesAmong(positions.split(',').map(Number), times.length).map((place) => times[place] ?? 0)
}

/** The places that BYSETPOS names among so many, in order and from 0. */
export function placesAmong(positions: readonly number[], count: number): readonly number[] {
  const places = positions.map((position) => (position > 0 ? position - 1 : count + position))
  return [...new Set(places)].filter((place) => place >= 0 && place < count).sort((a, b) => a - b)
}

interface Places {
  readonly from: number
  readonly to: number
}

/** The first place whose number is at least this one. */
export function lowerBound(sorted: ArrayLike<number>, wanted: number, { from, to }: Places): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? Infinity) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * How many times a rule names in one period, told from its text alone. Its lists are kept as tables, and BYSETPOS goes
 * through all times of a period in which the clock changes; so this bounds what one answer can cost.
 */

/** As many as a day has minutes. */
const MAX_TIMES_PER_PERIOD = 1_440

const itemsOf = ({ other }: RuleParts, name: string): readonly string[] => [
  ...new Set(other.get(name)?.split(',') ?? []),
]
const has = ({ other }: RuleParts, ...names: readonly string[]): boolean => names.some((name) => other.has(name))

/** At least one: a part that is not given takes its value from the start. */
const size = (parts: RuleParts, name: string): number => Math.max(1, itemsOf(parts, name).length)

/** The most times that one period can hold. */
export const timesInPeriod = (parts: RuleParts): number => Math.max(1, daysInPeriod(parts)) * timesInDay(parts)

/** Parts that only filter what a finer FREQ has anyway add nothing to a period. */
function timesInDay(parts: RuleParts): number {
  switch (parts.frequency) {
    case 'SECONDLY':
      return 1
    case 'MINUTELY':
      return size(parts, 'BYSECOND')
    case 'HOURLY':
      return size(parts, 'BYMINUTE') * size(parts, 'BYSECOND')
    case 'DAILY':
    case 'WEEKLY':
    case 'MONTHLY':
    case 'YEARLY':
      return size(parts, 'BYHOUR') * size(parts, 'BYMINUTE') * size(parts, 'BYSECOND')
  }
}

const DAYS: Readonly<Partial<Record<Frequency, number>>> = { YEARLY: 366, MONTHLY: 31, WEEKLY: 7 }

function daysInPeriod(parts: RuleParts): number {
  const { frequency } = parts
  const most = DAYS[frequency] ?? 1
  if (most === 1) return 1
  if (frequency === 'WEEKLY') return size(parts, 'BYDAY')
  const months = frequency === 'MONTHLY' ? 1 : has(parts, 'BYMONTH') ? size(parts, 'BYMONTH') : 12
  const byDay = itemsOf(parts, 'BYDAY')
  const numbered = byDay.filter((item) => item.length > 2).length
  const weekdays = byDay.length - numbered
  const places = frequency === 'YEARLY' && !has(parts, 'BYMONTH') ? 1 : months
  const byWeekday = Math.min(weekdays * 5 * months, weekdays * 53) + numbered * places
  const byDate = size(parts, 'BYMONTHDAY') * months
  // A bound, not a count: days that several parts name are added up.
  const sets = [
    has(parts, 'BYYEARDAY') ? size(parts, 'BYYEARDAY') : 0,
    has(parts, 'BYWEEKNO') ? size(parts, 'BYWEEKNO') * size(parts, 'BYDAY') : 0,
    ...(has(parts, 'BYMONTHDAY') ? [byDay.length > 0 ? Math.max(byDate, byWeekday) : byDate] : [byWeekday]),
  ]
  const named = sets.reduce((sum, days) => sum + days, 0)
  // Without any of them the day is the start's, in each month that is named.
  return Math.min(most, named > 0 ? named : frequency === 'YEARLY' ? size(parts, 'BYMONTH') : 1)
}

const UNITS: Readonly<Record<Frequency, string>> = {
  ...{ YEARLY: 'year', MONTHLY: 'month', WEEKLY: 'week', DAILY: 'day' },
  ...{ HOURLY: 'hour', MINUTELY: 'minute', SECONDLY: 'second' },
}

/** Why a rule is not evaluated, or null for one that is. */
export function tooMuchWork(parts: RuleParts): Pick<Flaw, 'message' | 'allowed'> | null {
  const times = timesInPeriod(parts)
  const unit = UNITS[parts.frequency]
  if (times <= MAX_TIMES_PER_PERIOD) return null
  return {
    message: `is too dense: it names up to ${times} times in one ${unit}, and ${MAX_TIMES_PER_PERIOD} can be evaluated`,
    allowed: `at most ${MAX_TIMES_PER_PERIOD} times per ${unit}; say the rest with a finer FREQ such as MINUTELY, or with cron`,
  }
}
