import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../instant.ts'

/** How long the units are that have a length. */
export const MS = { second: SECOND_MS, minute: MINUTE_MS, hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS } as const
