import type { Flaw } from '../input.ts'
import { DAY_SECONDS } from './calendar.ts'
import type { Frequency, RuleParts } from './rrule-text.ts'

/**
 * The times of day of a rule, in seconds. FREQ divides a day into units: the whole day, hours, minutes or seconds. A
 * rule selects some units and the same times within each of them. If INTERVAL skips units and continues across
 * midnight, the units of a day depend on the phase of the day: the number of its first selected unit, modulo INTERVAL.
 */
export interface RuleTimes {
  /** The length of one unit in seconds. */
  readonly unit: number
  /** The number of times before a second, in a day of this phase. */
  readonly rank: (phase: number, second: number) => number
  readonly count: (phase: number) => number
  /** The time at an index below `count`. */
  readonly at: (phase: number, place: number) => number
}

const UNIT_SECONDS: Readonly<Partial<Record<Frequency, number>>> = { HOURLY: 3_600, MINUTELY: 60, SECONDLY: 1 }

/** The length of the unit of FREQ in seconds; a day for all coarser frequencies. */
export const unitOf = ({ frequency }: RuleParts): number => UNIT_SECONDS[frequency] ?? DAY_SECONDS

/** Rules with the same lists share a table, because one takes up to 350 kB and about 1 ms to build. */
const timesCache = new Map<string, RuleTimes | null>()
const MAX_TABLES = 64

const BY_LISTS = ['BYHOUR', 'BYMINUTE', 'BYSECOND', 'BYSETPOS']

/** The times of a rule; null if it has none because BYSETPOS exceeds the number of times in a unit. */
export function timesOf(parts: RuleParts, startSecond: number): RuleTimes | null {
  const unit = unitOf(parts)
  const lists = BY_LISTS.map((name) => parts.other.get(name) ?? '')
  const key = [unit, parts.interval, parts.frequency, startSecond % unit, ...lists].join(' ')
  const cached = timesCache.get(key)
  const found = cached === undefined ? createTimes(parts, startSecond) : cached
  timesCache.delete(key)
  timesCache.set(key, found)
  for (const oldest of timesCache.size > MAX_TABLES ? [...timesCache.keys()].slice(0, 1) : []) timesCache.delete(oldest)
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

/** The units sorted by phase, and the start index of each phase. */
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

const parseNumbers = (text: string): readonly number[] =>
  [...new Set(text.split(',').map(Number))].sort((a, b) => a - b)
const indexesUpTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

/** The hours, minutes or seconds of a day that the BY lists allow. */
function unitsOfDay(parts: RuleParts): Int32Array {
  const unit = unitOf(parts)
  const list = (name: string, all: number, size: number): readonly number[] => {
    if (unit > size) return [0]
    const text = parts.other.get(name)
    return text === undefined ? indexesUpTo(all) : parseNumbers(text)
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

/** The times within a unit. A value without a list is taken from the start of the rule. */
function timesInUnit(parts: RuleParts, startSecond: number): readonly number[] {
  const unit = unitOf(parts)
  const list = (name: string, size: number, own: number): readonly number[] => {
    if (unit <= size) return [0]
    const text = parts.other.get(name)
    return text === undefined ? [own] : parseNumbers(text)
  }
  const hours = list('BYHOUR', 3_600, Math.floor(startSecond / 3_600))
  const minutes = list('BYMINUTE', 60, Math.floor(startSecond / 60) % 60)
  const seconds = list('BYSECOND', 1, startSecond % 60)
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => hour * 3_600 + minute * 60 + second)),
  )
  const positions = parts.other.get('BYSETPOS')
  // For daily and coarser rules, BYSETPOS is applied later, where the clock changes of the period are known.
  if (positions === undefined || unit === DAY_SECONDS) return times
  return selectPositions(positions.split(',').map(Number), times.length).map((place) => times[place] ?? 0)
}

/** The indexes that BYSETPOS selects from `count` items, sorted and counted from 0. */
export function selectPositions(positions: readonly number[], count: number): readonly number[] {
  const places = positions.map((position) => (position > 0 ? position - 1 : count + position))
  return [...new Set(places)].filter((place) => place >= 0 && place < count).sort((a, b) => a - b)
}

interface IndexRange {
  readonly from: number
  readonly to: number
}

/** Binary search: the first index whose value is at least `wanted`. */
export function lowerBound(sorted: ArrayLike<number>, wanted: number, { from, to }: IndexRange): number {
  let [low, high] = [from, to]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? Infinity) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * The maximum number of times in one period, which is the number of minutes in a day. It bounds the cost of one lookup:
 * the lists become tables, and BYSETPOS visits all times of a period in which the clock changes.
 */
const MAX_TIMES_PER_PERIOD = 1_440

const partItems = ({ other }: RuleParts, name: string): readonly string[] => [
  ...new Set(other.get(name)?.split(',') ?? []),
]
const hasPart = ({ other }: RuleParts, ...names: readonly string[]): boolean => names.some((name) => other.has(name))

/** The number of items of a part. At least 1, because a missing part takes its value from the start of the rule. */
const partSize = (parts: RuleParts, name: string): number => Math.max(1, partItems(parts, name).length)

/** An upper bound for the number of times in one period. */
export const timesInPeriod = (parts: RuleParts): number => Math.max(1, daysInPeriod(parts)) * timesInDay(parts)

/** The maximum number of times in one day or unit. Parts that only filter the units of FREQ are ignored. */
function timesInDay(parts: RuleParts): number {
  switch (parts.frequency) {
    case 'SECONDLY':
      return 1
    case 'MINUTELY':
      return partSize(parts, 'BYSECOND')
    case 'HOURLY':
      return partSize(parts, 'BYMINUTE') * partSize(parts, 'BYSECOND')
    case 'DAILY':
    case 'WEEKLY':
    case 'MONTHLY':
    case 'YEARLY':
      return partSize(parts, 'BYHOUR') * partSize(parts, 'BYMINUTE') * partSize(parts, 'BYSECOND')
  }
}

const DAYS_IN_PERIOD: Readonly<Partial<Record<Frequency, number>>> = { YEARLY: 366, MONTHLY: 31, WEEKLY: 7 }

function daysInPeriod(parts: RuleParts): number {
  const { frequency } = parts
  const maxDays = DAYS_IN_PERIOD[frequency] ?? 1
  if (maxDays === 1) return 1
  if (frequency === 'WEEKLY') return partSize(parts, 'BYDAY')
  const months = frequency === 'MONTHLY' ? 1 : hasPart(parts, 'BYMONTH') ? partSize(parts, 'BYMONTH') : 12
  const byDay = partItems(parts, 'BYDAY')
  const numbered = byDay.filter((item) => item.length > 2).length
  const weekdays = byDay.length - numbered
  const places = frequency === 'YEARLY' && !hasPart(parts, 'BYMONTH') ? 1 : months
  const byWeekday = Math.min(weekdays * 5 * months, weekdays * 53) + numbered * places
  const byDate = partSize(parts, 'BYMONTHDAY') * months
  // An upper bound: days that several parts select are counted more than once.
  const sets = [
    hasPart(parts, 'BYYEARDAY') ? partSize(parts, 'BYYEARDAY') : 0,
    hasPart(parts, 'BYWEEKNO') ? partSize(parts, 'BYWEEKNO') * partSize(parts, 'BYDAY') : 0,
    ...(hasPart(parts, 'BYMONTHDAY') ? [byDay.length > 0 ? Math.max(byDate, byWeekday) : byDate] : [byWeekday]),
  ]
  const selectedDays = sets.reduce((sum, days) => sum + days, 0)
  // Without day parts, the rule uses the day of its start in each selected month.
  return Math.min(maxDays, selectedDays > 0 ? selectedDays : frequency === 'YEARLY' ? partSize(parts, 'BYMONTH') : 1)
}

const UNIT_NAMES: Readonly<Record<Frequency, string>> = {
  ...{ YEARLY: 'year', MONTHLY: 'month', WEEKLY: 'week', DAILY: 'day' },
  ...{ HOURLY: 'hour', MINUTELY: 'minute', SECONDLY: 'second' },
}

/** The flaw of a rule that has too many times per period to be evaluated; null if the rule is accepted. */
export function densityFlaw(parts: RuleParts): Pick<Flaw, 'message' | 'allowed'> | null {
  const times = timesInPeriod(parts)
  const unit = UNIT_NAMES[parts.frequency]
  if (times <= MAX_TIMES_PER_PERIOD) return null
  return {
    message: `is too dense: it has up to ${times} times per ${unit}, more than the limit of ${MAX_TIMES_PER_PERIOD}`,
    allowed: `at most ${MAX_TIMES_PER_PERIOD} times per ${unit}; for more, use a finer FREQ such as MINUTELY, or cron`,
  }
}
