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
