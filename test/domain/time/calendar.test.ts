import { describe, expect, it } from 'vitest'
import {
  civilFromDay,
  DAY_COUNT,
  dayFromCivil,
  dayFromText,
  formatDay,
  formatLocal,
  formatTimeOfDay,
  monthLength,
  monthOfDay,
  monthStart,
  weekdayOf,
} from '../../../src/domain/time/calendar.ts'

describe('the calendar', () => {
  it('agrees with Date on every day from 1970 to 2199', () => {
    const wrong: string[] = []
    for (let day = 0; day < DAY_COUNT; day += 1) {
      const date = new Date(day * 86_400_000)
      const [year, month, dayOfMonth] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
      const civil = civilFromDay(day)
      const agrees =
        civil.year === year &&
        civil.month === month &&
        civil.day === dayOfMonth &&
        dayFromCivil(civil) === day &&
        weekdayOf(day) === date.getUTCDay() &&
        monthOfDay(day) === (year - 1970) * 12 + month - 1 &&
        monthStart(monthOfDay(day)) === day - dayOfMonth + 1
      if (!agrees) wrong.push(date.toISOString())
    }
    expect(DAY_COUNT).toBe(Date.UTC(2200, 0, 1) / 86_400_000)
    expect(wrong).toEqual([])
  })

  it('goes back before 1970', () => {
    expect(civilFromDay(-1)).toEqual({ year: 1969, month: 12, day: 31 })
    expect(weekdayOf(-1)).toBe(3)
    expect(dayFromCivil({ year: 1900, month: 3, day: 1 })).toBe(Date.UTC(1900, 2, 1) / 86_400_000)
  })

  it('knows leap years', () => {
    expect([1900, 2000, 2024, 2026, 2100].map((year) => monthLength(year, 2))).toEqual([28, 29, 29, 28, 28])
  })

  it('prints wall-clock times', () => {
    expect(formatDay(0)).toBe('1970-01-01')
    expect(formatTimeOfDay(2 * 3600 + 30 * 60)).toBe('02:30')
    expect(formatLocal(86_400 + 15)).toBe('1970-01-02 00:00:15')
  })

  it.each(['2026-02-29', '2026-13-01', '2026-00-01', '2026-01-00', '26-01-01', '2026-1-1', 'today'])(
    'does not take %s for a date',
    (text) => {
      expect(dayFromText(text)).toBeNull()
    },
  )
})
