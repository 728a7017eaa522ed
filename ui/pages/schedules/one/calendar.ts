import type { RunView } from '../../../../src/features/runs/schema.ts'
import { outcomeOf, type Outcome } from '../../../parts/outcome/outcome.ts'
import { wallTime } from '../../../time/wall.ts'

const DAY = 86_400_000
const WEEKS_BACK = 4
const WEEKS = 8

/** One day of the calendar. */
export interface CalendarDay {
  /** `2026-03-04`, on the clock of the schedule's zone. */
  readonly day: string
  readonly isToday: boolean
  readonly outcomes: Readonly<Partial<Record<Outcome, number>>>
  readonly runs: number
  readonly coming: number
  /** Older, or further ahead, than what was read. */
  readonly isUnknown: boolean
  /** What was read ends on this day, so that there may be more. */
  readonly isPart: boolean
}

/** What has been read, and how far it goes. */
export interface CalendarFacts {
  readonly runs: readonly Pick<RunView, 'status' | 'nominal_time' | 'created_at'>[]
  readonly coming: readonly number[]
  readonly zone: string
  readonly now: number
  readonly createdAt: number
  /** Runs before this have not been read; null when all have. */
  readonly readFrom: number | null
  /** Occurrences after this have not been read; null when all have. */
  readonly readTo: number | null
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

/** Weeks from Monday to Sunday, each day with what happened and what will. */
export function calendarOf(facts: CalendarFacts): readonly (readonly CalendarDay[])[] {
  const { zone, now } = facts
  const outcomes = new Map<string, Partial<Record<Outcome, number>>>()
  for (const run of facts.runs) {
    const day = dayOf(Date.parse(run.nominal_time ?? run.created_at), zone)
    const counts = outcomes.get(day) ?? {}
    const outcome = outcomeOf(run.status)
    outcomes.set(day, { ...counts, [outcome]: (counts[outcome] ?? 0) + 1 })
  }
  const coming = new Map<string, number>()
  for (const at of facts.coming) coming.set(dayOf(at, zone), (coming.get(dayOf(at, zone)) ?? 0) + 1)
  const today = dayOf(now, zone)
  const known = [facts.readFrom, facts.readTo].map((at) => (at === null ? null : dayOf(at, zone)))
  const first = Date.parse(firstDay(facts))
  return Array.from({ length: WEEKS }, (_, week) =>
    Array.from({ length: 7 }, (_day, index): CalendarDay => {
      const day = new Date(first + (week * 7 + index) * DAY).toISOString().slice(0, 10)
      const counts = outcomes.get(day) ?? {}
      return {
        ...{ day, isToday: day === today, outcomes: counts, coming: coming.get(day) ?? 0 },
        runs: Object.values(counts).reduce((sum, n) => sum + n, 0),
        isPart: known.includes(day),
        isUnknown: (known[0] != null && day < known[0]) || (known[1] != null && day > known[1]),
      }
    }),
  )
}
