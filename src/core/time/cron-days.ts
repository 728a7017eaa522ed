import { addAll } from '../../domain/long-lists.ts'
import { bitMask, LAST_OF_MONTH, LAST_WEEKDAY, type DayRule } from '../../domain/time/cron-expression.ts'
import {
  complain,
  cut,
  DAY_OF_MONTH,
  DAY_OF_WEEK,
  isComplaint,
  parseItem,
  parseValue,
  type Complaint,
  type Piece,
} from './cron-field.ts'

type MonthDays = Pick<DayRule, 'daysOfMonth' | 'daysBeforeLast' | 'nearestWeekday' | 'openDayOfMonth'>
type WeekDays = Pick<DayRule, 'weekdays' | 'nthWeekdays' | 'openDayOfWeek'>

/** The two day fields, which share the `+` and its meaning. */
export function parseDays(dayOfMonth: Piece, dayOfWeek: Piece): readonly Complaint[] | (MonthDays & WeekDays) {
  const monthDays = parseMonthDays(withoutPlus(dayOfMonth))
  const weekDays = parseWeekDays(withoutPlus(dayOfWeek))
  if (!isComplaint(monthDays) && !isComplaint(weekDays)) return { ...monthDays, ...weekDays }
  return [monthDays, weekDays].filter(isComplaint)
}

export const hasPlus = (piece: Piece): boolean => piece.text.startsWith('+')

const withoutPlus = (piece: Piece): Piece =>
  hasPlus(piece) ? { text: piece.text.slice(1), position: piece.position + 1 } : piece

/** By the text: `1-31` names every day and is a restriction all the same. */
const isOpen = (piece: Piece): boolean => /^[*?](\/0*1)?$/.test(piece.text)

function parseMonthDays(field: Piece): MonthDays | Complaint {
  const nearestWeekday = parseNearestWeekday(field)
  if (nearestWeekday === null) return parseMonthDayList(field)
  if (typeof nearestWeekday === 'object') return nearestWeekday
  return { daysOfMonth: 0, daysBeforeLast: 0, nearestWeekday, openDayOfMonth: false }
}

/** `LW` and `nW`, which must be the whole field; null for everything else. */
function parseNearestWeekday(field: Piece): number | Complaint | null {
  if (/^LW$/i.test(field.text)) return LAST_WEEKDAY
  if (!/^\d+W$/i.test(field.text)) return null
  return parseValue(DAY_OF_MONTH, { text: field.text.slice(0, -1), position: field.position })
}

function parseMonthDayList(field: Piece): MonthDays | Complaint {
  const days: number[] = []
  const beforeLast: number[] = []
  for (const item of cut(field, ',')) {
    const distance = parseBeforeLast(item)
    if (typeof distance === 'number') beforeLast.push(distance)
    else {
      const found = distance ?? parsePlainDay(item)
      if (isComplaint(found)) return found
      addAll(
        days,
        found.map((day) => day - 1),
      )
    }
  }
  return {
    daysOfMonth: bitMask(days),
    daysBeforeLast: bitMask(beforeLast),
    nearestWeekday: 0,
    openDayOfMonth: isOpen(field),
  }
}

function parsePlainDay(item: Piece): readonly number[] | Complaint {
  if (/^(L|\d+)W$/i.test(item.text))
    return complain(DAY_OF_MONTH, item, { text: 'must stand alone', allowed: 'LW or nW as the whole field' })
  return parseItem(DAY_OF_MONTH, item)
}

/** `L` is 0 and `L-n` is n days before the last one; null for everything else. */
function parseBeforeLast(item: Piece): number | Complaint | null {
  const match = /^L(?:-(\d+))?$/i.exec(item.text)
  if (match === null) return null
  const distance = Number(match[1] ?? '0')
  return distance > 30
    ? complain(DAY_OF_MONTH, item, { text: 'is before the month', allowed: 'L-0 to L-30' })
    : distance
}

function parseWeekDays(field: Piece): WeekDays | Complaint {
  const days: number[] = []
  const nth: [number, number, number, number, number, number] = [0, 0, 0, 0, 0, 0]
  for (const item of cut(field, ',')) {
    const place = parseNthWeekday(item)
    if (place === null) {
      const found = parseItem(DAY_OF_WEEK, item)
      if (isComplaint(found)) return found
      addAll(
        days,
        found.map((day) => day % 7),
      )
    } else if (isComplaint(place)) return place
    else nth[place.index] = (nth[place.index] ?? 0) | (1 << place.weekday)
  }
  const nthWeekdays = nth.some((mask) => mask !== 0) ? nth : null
  return { weekdays: bitMask(days), nthWeekdays, openDayOfWeek: isOpen(field) }
}

interface NthWeekday {
  readonly index: number
  readonly weekday: number
}

/** `n#k` and `nL`; null for everything else. */
function parseNthWeekday(item: Piece): NthWeekday | Complaint | null {
  if (/^L$/i.test(item.text)) return complain(DAY_OF_WEEK, item, 'needs a day in front, such as 5L')
  const last = /^(\d+|[a-z]{3})L$/i.exec(item.text)
  const match = last ?? /^([^#/,-]*)#(.*)$/.exec(item.text)
  if (match === null) return null
  const weekday = parseValue(DAY_OF_WEEK, { text: match[1] ?? '', position: item.position })
  if (isComplaint(weekday)) return weekday
  if (last !== null) return { index: LAST_OF_MONTH, weekday: weekday % 7 }
  const place = { text: match[2] ?? '', position: item.position + (match[1] ?? '').length + 1 }
  if (/^0*[1-5]$/.test(place.text)) return { index: Number(place.text) - 1, weekday: weekday % 7 }
  return complain(DAY_OF_WEEK, place, { text: 'is not a place in the month', allowed: 'n#1 to n#5' })
}
