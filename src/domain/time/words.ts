import { addAll } from '../long-lists.ts'

/** English words and phrases for sentences about timings. */
export const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const
export const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
export const ORDINAL_WORDS = ['first', 'second', 'third', 'fourth', 'fifth'] as const

/** `a`, `a and b`, `a, b and c` */
export function joinWords(words: readonly string[], last = 'and'): string {
  const head = words.slice(0, -1).join(', ')
  return head === '' ? (words[0] ?? '') : `${head} ${last} ${words.at(-1) ?? ''}`
}

/** Joins sorted values as a list, with three or more consecutive values as `a through b`. */
export function joinRuns(values: readonly number[], name: (value: number) => string): string {
  const words: string[] = []
  let start = 0
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index] ?? 0
    if (values[index + 1] === value + 1) continue
    const run = values.slice(start, index + 1)
    addAll(words, run.length < 3 ? run.map(name) : [`${name(run[0] ?? 0)} through ${name(value)}`])
    start = index + 1
  }
  return joinWords(words)
}

/** Whether the values are consecutive. */
export const isConsecutive = (values: readonly number[]): boolean =>
  (values.at(-1) ?? 0) - (values[0] ?? 0) === values.length - 1

/** Joins weekdays starting with Monday, so that Friday to Sunday is one range. 0 is Sunday. */
export function joinWeekdays(weekdays: readonly number[]): string {
  const fromMonday = weekdays.map((weekday) => (weekday + 6) % 7).sort((a, b) => a - b)
  return joinRuns(fromMonday, (index) => WEEKDAYS[(index + 1) % 7] ?? '')
}

/** `every minute`, `every 5 minutes` */
export const everyUnit = (count: number, unit: string): string =>
  count === 1 ? `every ${unit}` : `every ${count} ${unit}s`

/** `minute 5`, `minutes 5 and 6` */
export const numberedUnits = (unit: string, values: readonly number[]): string =>
  `${unit}${values.length === 1 ? '' : 's'} ${joinRuns(values, String)}`

/** The values of the set bits of a mask. */
export const setBits = (mask: number, size: number): readonly number[] =>
  Array.from({ length: size }, (_, index) => index).filter((index) => ((mask >>> index) & 1) !== 0)
