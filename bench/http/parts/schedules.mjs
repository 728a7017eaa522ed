// Schedules, acknowledged after the commit, and the same through the library.
import { comparing } from './messages.mjs'

export const { title, measure } = comparing('schedules', 'POST /api/v1/schedules')
