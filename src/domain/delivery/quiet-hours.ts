import { isInsideWindow, parseDailyWindow, windowEnd, type DailyWindow } from '../time/daily-window.ts'
import type { Parsed } from '../input.ts'
import type { Instant } from '../instant.ts'
import type { Zone } from '../time/zone.ts'

/** When messages to a target are collected into one digest instead of sent; 00:00-24:00 is one digest a day. */
export type QuietHours = DailyWindow

/** Reads quiet hours; the time zone is required unless the caller has a fallback. */
export const parseQuietHours = (field: string, value: unknown, fallback?: Zone): Parsed<QuietHours> =>
  parseDailyWindow(field, value, fallback)

/** When the digest is sent; null outside quiet hours. */
export const quietUntil = (hours: QuietHours | null, at: Instant): Instant | null =>
  hours === null || !isInsideWindow(hours, at) ? null : windowEnd(hours, at)

/** Quiet hours as they are stored. */
export interface StoredQuietHours {
  readonly start: string
  readonly end: string
  readonly timezone: string
}

/** The end of stored quiet hours; null outside them. */
export function storedQuietUntil(stored: StoredQuietHours | null, at: Instant): Instant | null {
  if (stored === null) return null
  const hours = parseQuietHours('quiet_hours', stored)
  // A stored zone that is no longer known must not silence a target forever.
  return hours.ok ? quietUntil(hours.value, at) : null
}
