import type { Instant } from '../core/instant.ts'
import { tooDense } from '../core/schedule/schedule-life.ts'
import { nextOccurrence, type Timing } from '../core/time/timing.ts'
import type { ScheduleRow } from '../store/schedule-row.ts'

const NEVER = 'It never fires: its rule, starts_at, ends_at and exclude leave no occurrence from now on'

/** What its creator should know about when it fires. */
export const notesOnTiming = (timing: Timing, now: Instant): readonly string[] =>
  tooDense(timing) === null && nextOccurrence(timing, now) === null ? [NEVER] : []

/** The same for a schedule that is stored: one that has fired before has only come to its end. */
export function notesOn(row: ScheduleRow, now: Instant): readonly string[] {
  const isUnused = row.fires === 0 && row.lastRunAt === null && row.nextRunAt === null
  return isUnused && row.timing.kind !== 'at' ? notesOnTiming(row.timing, now) : []
}

/** The answer with its notes, where there are any. */
export const noted = <T extends object>(
  view: T,
  notes: readonly string[],
): T & { readonly notes?: readonly string[] } => (notes.length === 0 ? view : { ...view, notes })
