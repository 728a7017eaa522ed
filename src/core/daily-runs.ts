import { because, type Why } from './reasons.ts'

/** How many runs an org has made today, and how many it may make. */
export interface DailyRuns {
  readonly made: number
  readonly limit: number
}

/** Why no further run may be made today; null while one may. */
export const overDailyRuns = ({ made, limit }: DailyRuns): Why | null =>
  made < limit ? null : because('runs_per_day', 'org.runs_per_day', { runs_today: made, runs_per_day: limit })
