import { periodBounds } from '../budget/budget-period.ts'
import type { Instant } from '../instant.ts'
import { formatDay } from '../time/calendar.ts'
import { localDayOf } from '../time/wall-clock.ts'
import type { Zone } from '../time/zone.ts'

/** A day of a forecast: from its first moment (exclusive in what is counted) to the last (inclusive). */
export interface ForecastDay {
  readonly date: string
  readonly from: Instant
  readonly to: Instant
}

/** The days of a window as the zone's calendar has them; the first and the last may be parts of a day. */
export function daysBetween(
  zone: Zone,
  window: { readonly from: Instant; readonly to: Instant },
): readonly ForecastDay[] {
  const days: ForecastDay[] = []
  let from = window.from
  while (from < window.to) {
    const { end } = periodBounds('day', zone, from)
    const to = end < window.to ? end : window.to
    days.push({ date: formatDay(localDayOf(zone, from)), from, to })
    from = to
  }
  return days
}

/** The same days, cut also where a day begins in one of the other zones. */
export function stretchesBetween(
  zone: Zone,
  others: readonly Zone[],
  window: { readonly from: Instant; readonly to: Instant },
): readonly ForecastDay[] {
  const zones = new Map(others.map((other) => [other.name, other]))
  zones.delete(zone.name)
  const cuts = new Set([...zones.values()].flatMap((other) => daysBetween(other, window).map(({ to }) => to)))
  const sorted = [...cuts].toSorted((a, b) => a - b)
  return daysBetween(zone, window).flatMap(({ date, from, to }) => {
    const inside = sorted.filter((cut) => cut > from && cut < to)
    return [from, ...inside].map((start, place) => ({ date, from: start, to: inside[place] ?? to }))
  })
}
