import { addAll } from '../long-lists.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../input.ts'
import { parseInstant, type Instant } from '../instant.ts'
import { dayFromText } from './calendar.ts'
import { endOfLocalDay, localDayAt, spansOfLocalDay, startOfLocalDay } from './wall-clock.ts'
import type { Zone } from './zone.ts'

/** From (inclusive) to (exclusive), so that adjacent windows neither overlap nor leave a hole. */
export interface TimeWindow {
  readonly from: Instant
  readonly to: Instant
}

/** Times without occurrences. Dates are days since 1970 in the schedule's time zone; both lists are sorted. */
export interface Exclusion {
  readonly dates: readonly number[]
  readonly windows: readonly TimeWindow[]
}

/**
 * Enough for the holidays of 50 years. The limit bounds the search, which visits each exclusion a few times at most.
 */
export const MAX_EXCLUSIONS = 1000

/** Parses a list of dates `YYYY-MM-DD` and windows `{from, to}` in any order. */
export function parseExclusion(field: string, value: unknown): Parsed<Exclusion> {
  const allowed = `a list of up to ${MAX_EXCLUSIONS} dates YYYY-MM-DD and windows {"from", "to"}`
  if (!Array.isArray(value) || value.length > MAX_EXCLUSIONS)
    return flawed({ field, value, message: 'must be a list of dates and windows', allowed })
  const flaws: Flaw[] = []
  const dates: number[] = []
  const windows: TimeWindow[] = []
  value.forEach((item: unknown, index) => {
    const found = parseExclusionItem(`${field}.${index}`, item)
    if (!found.ok) addAll(flaws, found.flaws)
    else if (typeof found.value === 'number') dates.push(found.value)
    else windows.push(found.value)
  })
  if (flaws.length > 0) return flawed(flaws)
  return parsed({ dates: [...new Set(dates)].sort((a, b) => a - b), windows: mergeWindows(windows) })
}

function parseExclusionItem(field: string, value: unknown): Parsed<number | TimeWindow> {
  const allowed = 'a date YYYY-MM-DD or a window {"from", "to"}'
  if (typeof value === 'string') {
    const day = dayFromText(value)
    return day === null ? flawed({ field, value, message: 'is not a date', allowed }) : parsed(day)
  }
  if (typeof value !== 'object' || value === null || !('from' in value) || !('to' in value))
    return flawed({ field, value, message: 'must be a date or a window', allowed })
  const from = parseInstant(`${field}.from`, value.from)
  const to = parseInstant(`${field}.to`, value.to)
  if (!from.ok || !to.ok) return flawed([...(from.ok ? [] : from.flaws), ...(to.ok ? [] : to.flaws)])
  if (from.value < to.value) return parsed({ from: from.value, to: to.value })
  return flawed({ field: `${field}.to`, value: value.to, message: 'must be after from', allowed: 'a later time' })
}

/** Sorts windows and merges adjacent or overlapping ones, so that the end of one is never inside another. */
function mergeWindows(windows: readonly TimeWindow[]): readonly TimeWindow[] {
  const merged: TimeWindow[] = []
  for (const window of [...windows].sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last === undefined || window.from > last.to) merged.push(window)
    else if (window.to > last.to) merged[merged.length - 1] = { from: last.from, to: window.to }
  }
  return merged
}

/** The excluded period that contains a time, or null if the time is not excluded. */
export function exclusionAt(exclusion: Exclusion, zone: Zone, at: Instant): TimeWindow | null {
  const window =
    exclusion.windows[lastIndex(exclusion.windows.length, (index) => exclusionStart(exclusion, index) <= at)]
  if (window !== undefined && at < window.to) return window
  if (exclusion.dates.length === 0) return null
  const day = localDayAt(zone, at)
  const index = lastIndex(exclusion.dates.length, (candidate) => (exclusion.dates[candidate] ?? Infinity) <= day)
  if (exclusion.dates[index] !== day) return null
  return { from: startOfLocalDay(zone, at), to: endOfLocalDay(zone, at) }
}

const exclusionStart = (exclusion: Exclusion, index: number): number => exclusion.windows[index]?.from ?? Infinity

/** Binary search: the last index for which `holds` is true, or -1. `holds` must not become true again after false. */
function lastIndex(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [-1, length]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (holds(middle)) low = middle
    else high = middle
  }
  return low
}

/** All exclusions that overlap a window, as disjoint windows. */
export function excludedWithin(exclusion: Exclusion, zone: Zone, window: TimeWindow): readonly TimeWindow[] {
  const [firstDay, lastDay] = [localDayAt(zone, window.from) - 1, localDayAt(zone, window.to) + 1]
  const days = exclusion.dates
    .filter((day) => day >= firstDay && day <= lastDay)
    .flatMap((day) => spansOfLocalDay(zone, day))
  return mergeWindows([...exclusion.windows, ...days].filter((span) => span.from < window.to && span.to > window.from))
}
