import type { ScheduleView } from '../contract/schedule.ts'
import type { ScheduleNote } from '../contract/schedule-note.ts'
import type { Instant } from '../domain/instant.ts'
import { tooDense } from '../domain/schedule/lifecycle.ts'
import { nextOccurrence, type Timing } from '../domain/time/timing.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'

const SENTENCES: Readonly<Record<ScheduleNote['code'], (params: ScheduleNote['params']) => string>> = {
  never_fires: () => 'It never fires: its rule, starts_at, ends_at and exclude leave no occurrence from now on',
  ends_at_set: ({ ends_at: at, seconds }) =>
    `ends_at was filled in as ${String(at)}: what this key makes lives for ${String(seconds)} seconds at most`,
}

/** What its creator should know about when it fires. */
export const notesOnTiming = (timing: Timing, now: Instant): readonly ScheduleNote[] =>
  tooDense(timing) === null && nextOccurrence(timing, now) === null ? [{ code: 'never_fires', params: {} }] : []

/** The same for a schedule that is stored: one that has fired before has only come to its end. */
export function notesOn(row: ScheduleRow, now: Instant): readonly ScheduleNote[] {
  const isUnused = row.fires === 0 && row.lastRunAt === null && row.nextRunAt === null
  return isUnused && row.timing.kind !== 'at' ? notesOnTiming(row.timing, now) : []
}

/** The answer with its notes, as sentences and as codes, where there are any. */
export const noted = <T extends object>(
  view: T,
  notes: readonly ScheduleNote[],
): T & Pick<ScheduleView, 'notes' | 'note_codes'> =>
  notes.length === 0
    ? view
    : { ...view, notes: notes.map(({ code, params }) => SENTENCES[code](params)), note_codes: notes }
