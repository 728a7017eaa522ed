import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../instant.ts'

/** The supported languages. */
export type SentenceLanguage = 'en' | 'zh'

export type StepUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'year'

/** A time of day. */
export interface ClockTime {
  /** Seconds since midnight. */
  readonly second: number
  /** Whether only an hour was given, which can be in the morning or evening. */
  readonly isHourOnly: boolean
  readonly text: string
}

export type DayPart = 'morning' | 'noon' | 'afternoon' | 'evening' | 'night'

/** A reference to a day. */
export type DayRef =
  | { readonly kind: 'relative'; readonly days: number }
  /** `week`: 0 is the next such weekday, 1 is the one in the week after this one. */
  | { readonly kind: 'weekday'; readonly weekday: number; readonly week: 0 | 1 }
  | { readonly kind: 'date'; readonly year: number | null; readonly month: number; readonly day: number }

/** The meaning of a part of a sentence. Weekdays count from Sunday as 0; -1 is the last of a month. */
export type PartMeaning =
  | {
      readonly kind: 'step'
      readonly count: number
      readonly unit: StepUnit
      readonly note?: BilingualNote | undefined
    }
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
  /** "once", which adds no information. */
  | { readonly kind: 'once' }

/** A part of a sentence with its position and text. */
export type SentencePart = PartMeaning & { readonly at: number; readonly text: string }

/** A note in both languages; the language of the sentence is shown. */
export interface BilingualNote {
  readonly en: string
  readonly zh: string
}

/** Why a sentence is not understood, and at which offset. */
export interface SentenceError {
  readonly at: number
  readonly note: BilingualNote
}

export const isSentenceError = (found: object): found is SentenceError => 'note' in found && !('kind' in found)

/** A rule of the grammar. `match` returns null if the text at the position does not match. */
export interface GrammarRule {
  readonly match: (
    text: string,
    at: number,
  ) => { readonly length: number; readonly says: readonly PartMeaning[] | BilingualNote } | null
}

type PatternGroups = Readonly<Record<string, string | undefined>>

/** Creates a clause from a pattern. `read` returns a note if the words match but are ambiguous or invalid. */
export function grammarRule(
  pattern: string,
  read: (groups: PatternGroups, text: string) => readonly PartMeaning[] | PartMeaning | BilingualNote | null,
): GrammarRule {
  const sticky = new RegExp(pattern, 'iuy')
  return {
    match: (text, at) => {
      sticky.lastIndex = at
      const found = sticky.exec(text)
      if (found === null || found[0] === '') return null
      const meaning = read(found.groups ?? {}, found[0])
      if (meaning === null) return null
      return { length: found[0].length, says: 'kind' in meaning ? [meaning] : meaning }
    },
  }
}

/** The units with a fixed length, in milliseconds. */
export const UNIT_MS = { second: SECOND_MS, minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const
