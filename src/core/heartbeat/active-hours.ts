import { isInside, parseDailyWindow, timeOfDay, windowStart, type DailyWindow } from '../../domain/time/daily-window.ts'
import type { Parsed } from '../../domain/input.ts'
import type { Instant } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { formatTimeOfDay } from '../../domain/time/calendar.ts'
import type { Zone } from '../time/zone.ts'

/** When a heartbeat may wake its agent. */
export type ActiveHours = DailyWindow

/** Reads active hours; a zone must be named unless the caller has one to fall back on. */
export const parseActiveHours = (field: string, value: unknown, fallback?: Zone): Parsed<ActiveHours> =>
  parseDailyWindow(field, value, fallback)

/** Why an agent is left alone now, or null if it may be woken. No active hours means always. */
export function outsideActiveHours(hours: ActiveHours | null, at: Instant): Why | null {
  if (hours === null || isInside(hours, at)) return null
  const minute = Math.floor(timeOfDay(hours.timezone, at) / 60) * 60
  return because('outside_active_hours', 'heartbeat.active_hours', {
    local_time: formatTimeOfDay(minute),
    timezone: hours.timezone.name,
    start: formatTimeOfDay(hours.start),
    end: formatTimeOfDay(hours.end),
  })
}

/** When the agent may be woken next. */
export const activeFrom = (hours: ActiveHours | null, at: Instant): Instant =>
  hours === null || isInside(hours, at) ? at : windowStart(hours, at)
