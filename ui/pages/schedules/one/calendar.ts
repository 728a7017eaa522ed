import type { TimelineRow } from '../../../../src/features/stats/schema.ts'
import type { Outcome } from '../../../parts/outcome/outcome.ts'
import { outcomesOf, runsIn, type OutcomeCounts } from '../../../ribbon/items.ts'
import { wallTime } from '../../../time/wall.ts'

const DAY = 86_400_000
const WEEKS_BACK = 4
const WEEKS = 8

/** One day of the calendar. */
export interface CalendarDay {
  /** `2026-03-04`, on the clock of the schedule's zone. */
  readonly day: string
  readonly isToday: boolean
  readonly outcomes: OutcomeCounts
  readonly runs: number
  readonly coming: number
}

/** Counts by the hour, and how the days lie. */
export interface CalendarFacts {
  readonly buckets: readonly Pick<TimelineRow['buckets'][number], 'at' | 'by_status' | 'planned'>[]
  readonly zone: string
  readonly now: number
  readonly createdAt: number
}

const dayOf = (at: number, zone: string): string => wallTime(at, zone).slice(0, 10)

const mondayOf = (at: number, zone: string): number => {
  const day = Date.parse(dayOf(at, zone))
  return day - ((new Date(day).getUTCDay() + 6) % 7) * DAY
}

/** The first day of the grid, a Monday: four weeks back, but not before there was anything. */
export function firstDay({ now, zone, createdAt }: Pick<CalendarFacts, 'now' | 'zone' | 'createdAt'>): string {
  const first = Math.max(mondayOf(now, zone) - WEEKS_BACK * 7 * DAY, mondayOf(createdAt, zone))
  return new Date(first).toISOString().slice(0, 10)
}

/** The end of the last day of the grid, on the clock of its zone. */
export const lastDay = (facts: Pick<CalendarFacts, 'now' | 'zone' | 'createdAt'>): string =>
  new Date(Date.parse(firstDay(facts)) + WEEKS * 7 * DAY).toISOString().slice(0, 10)

/** Weeks from Monday to Sunday, each day with what happened and what will. */
export function calendarOf(facts: CalendarFacts): readonly (readonly CalendarDay[])[] {
  const { zone, now } = facts
  const days = new Map<string, { readonly outcomes: Partial<Record<Outcome, number>>; coming: number }>()
  for (const { at, by_status: counts, planned } of facts.buckets) {
    const name = dayOf(Date.parse(at), zone)
    const day = days.get(name) ?? { outcomes: {}, coming: 0 }
    days.set(name, day)
    day.coming += planned
    for (const [outcome, count] of Object.entries(outcomesOf(counts)) as [Outcome, number][])
      day.outcomes[outcome] = (day.outcomes[outcome] ?? 0) + count
  }
  const today = dayOf(now, zone)
  const first = Date.parse(firstDay(facts))
  return Array.from({ length: WEEKS }, (_, week) =>
    Array.from({ length: 7 }, (_day, index): CalendarDay => {
      const day = new Date(first + (week * 7 + index) * DAY).toISOString().slice(0, 10)
      const { outcomes, coming } = days.get(day) ?? { outcomes: {}, coming: 0 }
      return { day, isToday: day === today, outcomes, coming, runs: runsIn(outcomes) }
    }),
  )
}
