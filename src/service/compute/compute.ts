import type { ForecastDay } from '../../core/forecast/days.ts'
import { scheduledRuns, type PlannedSchedule, type RunsPerDay } from '../../core/forecast/runs-per-day.ts'
import type { OrgId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import { previewTiming, type TimingPreview } from '../../core/time/preview.ts'
import { restoreTiming, storeTiming } from '../../core/time/stored-timing.ts'
import type { Timing } from '../../core/time/timing.ts'
import type { ComputeJob, ComputeOutcome, ComputePort } from './port.ts'

/** Works out a job, in the thread of the caller. */
export function computeJob(job: ComputeJob): ComputeOutcome {
  if (job.kind === 'preview') return { kind: 'preview', preview: previewTiming(restoreTiming(job.timing), job) }
  const runs = job.plans.map((plan) => scheduledRuns({ ...plan, timing: restoreTiming(plan.timing) }, job.days))
  return { kind: 'counts', runs }
}

/** Who asks, and where it is worked out; left out: here. */
export interface Computing {
  readonly orgId: OrgId
  readonly computations?: ComputePort | undefined
}

/** What a timing would do. Everything but a recurrence rule is told at once. */
export async function computePreview(
  { orgId, computations }: Computing,
  timing: Timing,
  view: { readonly now: Instant; readonly count: number },
): Promise<TimingPreview> {
  if (timing.kind !== 'rrule' || computations === undefined) return previewTiming(timing, view)
  const outcome = await computations.compute(orgId, { kind: 'preview', timing: storeTiming(timing), ...view })
  if (outcome.kind !== 'preview') throw new Error('a preview was asked for')
  return outcome.preview
}

/** How often schedules fire on some days. */
export async function computeCounts(
  { orgId, computations }: Computing,
  plans: readonly PlannedSchedule[],
  days: readonly ForecastDay[],
): Promise<readonly RunsPerDay[]> {
  if (computations === undefined || plans.length === 0) return plans.map((plan) => scheduledRuns(plan, days))
  const stored = plans.map((plan) => ({ ...plan, timing: storeTiming(plan.timing) }))
  const outcome = await computations.compute(orgId, { kind: 'counts', plans: stored, days })
  if (outcome.kind !== 'counts') throw new Error('counts were asked for')
  return outcome.runs
}
