/** What there may be to note about a schedule. */
export const SCHEDULE_NOTES = ['never_fires', 'ends_at_set'] as const

/** A note as a code, and the values in it. */
export interface ScheduleNote {
  readonly code: (typeof SCHEDULE_NOTES)[number]
  readonly params: Readonly<Record<string, string | number>>
}
