import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../instant.ts'

/** Which of the two languages somebody speaks. */
export type Language = 'en' | 'zh'

export type StepUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

/** A time of day. */
export interface ClockTime {
  /** Seconds since midnight. */
  readonly second: number
  /** Whether only the hour was said, so that morning or evening is open. */
  readonly isBare: boolean
  readonly text: string
}

export type DayPart = 'morning' | 'noon' | 'afternoon' | 'evening' | 'night'

/** A day that somebody points at. */
export type DayRef =
  | { readonly kind: 'relative'; readonly days: number }
  /** `week`: 0 the next one to come, 1 in the week after this one. */
  | { readonly kind: 'weekday'; readonly weekday: number; readonly week: 0 | 1 }
  | { readonly kind: 'date'; readonly year: number | null; readonly month: number; readonly day: number }

/** One thing that a sentence says. Weekdays count from Sunday as 0; -1 is the last of a month. */
export type Saying =
  | { readonly kind: 'step'; readonly count: number; readonly unit: StepUnit; readonly note?: Note | undefined }
  | { readonly kind: 'weekdays'; readonly days: readonly number[]; readonly isEvery: boolean }
  | { readonly kind: 'places'; readonly places: readonly number[]; readonly days: readonly number[] }
  | { readonly kind: 'dates'; readonly dates: readonly number[] }
  | { readonly kind: 'nearest'; readonly which: 'LW' | '1W' }
  | { readonly kind: 'months'; readonly months: readonly number[] }
  | { readonly kind: 'yearday'; readonly month: number; readonly day: number }
  | { readonly kind: 'times'; readonly times: readonly ClockTime[] }
  | { readonly kind: 'minutes'; readonly minutes: readonly number[] }
  | { readonly kind: 'span'; readonly from: ClockTime; readonly to: ClockTime }
  | { readonly kind: 'part'; readonly part: DayPart; readonly isEvery: boolean }
  | { readonly kind: 'zone'; readonly zone: string }
  | { readonly kind: 'day'; readonly day: DayRef }
  | { readonly kind: 'after'; readonly ms: number }
  | { readonly kind: 'starts'; readonly day: DayRef; readonly time: ClockTime | null }
  | { readonly kind: 'ends'; readonly day: DayRef; readonly time: ClockTime | null }
  | {
      readonly kind: 'except'
      readonly weekdays: readonly number[]
      readonly months: readonly number[]
      readonly days: readonly DayRef[]
    }
  | { readonly kind: 'fires'; readonly count: number }
  /** Words that only say "once", or nothing at all. */
  | { readonly kind: 'once' }

/** Something said, and where. */
export type Part = Saying & { readonly at: number; readonly text: string }

/** A remark in both languages; the one that was spoken is answered. */
export interface Note {
  readonly en: string
  readonly zh: string
}

/** Why a sentence is not understood, and at which character. */
export interface Complaint {
  readonly at: number
  readonly note: Note
}

export const isComplaint = (found: object): found is Complaint => 'note' in found && !('kind' in found)

/** One way of saying something. Null: this is not what stands here. */
export interface Clause {
  readonly match: (
    text: string,
    at: number,
  ) => { readonly length: number; readonly says: readonly Saying[] | Note } | null
}

type Groups = Readonly<Record<string, string | undefined>>

/** A clause of a pattern. `read` answers with a note when the words are known and their sense is not clear. */
export function clause(
  pattern: string,
  read: (groups: Groups, text: string) => readonly Saying[] | Saying | Note | null,
): Clause {
  const sticky = new RegExp(pattern, 'iuy')
  return {
    match: (text, at) => {
      sticky.lastIndex = at
      const found = sticky.exec(text)
      if (found === null || found[0] === '') return null
      const says = read(found.groups ?? {}, found[0])
      if (says === null) return null
      return { length: found[0].length, says: 'kind' in says ? [says] : says }
    },
  }
}

/** How long the units are that have a length. */
export const MS = { second: SECOND_MS, minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const
