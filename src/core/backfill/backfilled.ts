import type { Instant } from '../instant.ts'
import type { Trigger } from '../run/run.ts'

/**
 * Whether a run was made by a backfill: somebody asked for it, and it is for a moment of the plan. A run now is for no
 * moment. What such a run does is no news about the plan of its schedule, so nothing is counted by it there.
 */
export const isBackfilled = (run: { readonly trigger: Trigger; readonly nominal: Instant | null }): boolean =>
  run.trigger === 'manual' && run.nominal !== null

const MARK = '/backfill:'

/** The backfill that made a run, as its `job_run_id` says; null when none did. */
export function backfillOf(jobRunId: string): string | null {
  const at = jobRunId.lastIndexOf(MARK)
  return at < 0 ? null : jobRunId.slice(at + MARK.length)
}
