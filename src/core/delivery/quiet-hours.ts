import { isInside, parseDailyWindow, windowEnd, type DailyWindow } from '../time/daily-window.ts'
import type { Parsed } from '../input.ts'
import type { Instant } from '../instant.ts'
import type { Zone } from '../time/zone.ts'

/** When a target is not disturbed: what comes meanwhile is collected into one digest. 00:00-24:00 is one digest a day. */
export type QuietHours = DailyWindow

/** Reads quiet hours; a zone must be named unless the caller has one to fall back on. */
export const parseQuietHours = (field: string, value: unknown, fallback?: Zone): Parsed<QuietHours> =>
  parseDailyWindow(field, value, fallback)

/** When the digest goes out, or null if it is not quiet now. */
export const quietUntil = (hours: QuietHours | null, at: Instant): Instant | null =>
  hours === null || !isInside(hours, at) ? null : windowEnd(hours, at)
