import { DAY_SECONDS, formatTimeOfDay } from '../time/calendar.ts'
import type { ClockTime, Note } from './parts.ts'

/** Times of day as the fields of cron have them. */
export interface ClockFields {
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
}

const unique = (values: readonly number[]): readonly number[] => [...new Set(values)].sort((a, b) => a - b)

/** Times that are every one of some minutes in every one of some hours; null if they are not. */
export function productOf(seconds: readonly number[]): ClockFields | null {
  if (seconds.some((second) => second % 60 !== 0)) return null
  const hours = unique(seconds.map((second) => Math.floor(second / 3600) % 24))
  const minutes = unique(seconds.map((second) => Math.floor(second / 60) % 60))
  return hours.length * minutes.length === new Set(seconds.map((second) => second % DAY_SECONDS)).size
    ? { hours, minutes }
    : null
}

/** The two ends of a stretch of the day. The end is later than the beginning, if need be on the next day. */
export function endsOf(from: ClockTime, to: ClockTime): { readonly from: number; readonly to: number } | null {
  const isTwelve = (time: ClockTime): boolean => time.isBare && time.second <= 12 * 3600
  if (to.second <= from.second && isTwelve(to) && isTwelve(from)) return null
  // "From 1 to 5pm" begins in the afternoon; "from 9 to 5pm" does not.
  const isAfternoon =
    isTwelve(from) && !to.isBare && to.second > 12 * 3600 && from.second < 12 * 3600 && /p\.?m/i.test(to.text)
  const start = isAfternoon && from.second + 12 * 3600 < to.second ? from.second + 12 * 3600 : from.second
  return { from: start, to: to.second <= start ? to.second + DAY_SECONDS : to.second }
}

/** The beats of an interval in a stretch of the day, with the end if it fits what cron can say, else without. */
export function beatsIn(
  span: { readonly from: number; readonly to: number },
  stepSeconds: number,
): { readonly fields: ClockFields; readonly note: Note } | null {
  const beats: number[] = []
  for (let at = span.from; at <= span.to; at += stepSeconds) beats.push(at)
  const withEnd = productOf(beats)
  const kept = withEnd === null && beats.at(-1) === span.to ? beats.slice(0, -1) : beats
  const fields = withEnd ?? productOf(kept)
  const [first = 0] = kept
  const [begin, end] = [first, kept.at(-1) ?? 0].map((second) => formatTimeOfDay(second % DAY_SECONDS))
  if (fields === null || begin === undefined || end === undefined) return null
  return {
    fields,
    note: { en: `the first is at ${begin} and the last at ${end}`, zh: `第一次在 ${begin}，最后一次在 ${end}` },
  }
}

/** Values of a field of cron, written as short as they can be. */
export function cronList(values: readonly number[], size: number): string {
  if (values.length === size) return '*'
  const step = size / values.length
  if (values.length > 2 && Number.isInteger(step) && values.every((value, index) => value === index * step))
    return `*/${step}`
  const first = values[0] ?? 0
  const isRun = values.length > 2 && values.every((value, index) => value === first + index)
  return isRun ? `${first}-${values.at(-1) ?? first}` : values.join(',')
}
