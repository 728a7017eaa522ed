import { Refusal } from '../api/refusals.ts'
import {
  type ForecastDay,
  type PlannedSchedule,
  type RunsPerDay,
  scheduledRuns,
} from '../domain/forecast/runs-per-day.ts'
import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { previewTiming, type TimingPreview } from '../core/time/preview.ts'
import { restoreTiming, type StoredTiming, storeTiming } from '../core/time/stored-timing.ts'
import type { Timing } from '../domain/time/timing.ts'

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

/** A schedule whose occurrences are counted, as plain data. */
interface CountedPlan {
  readonly timing: StoredTiming
  readonly maxFires: number | null
  readonly fires: number
  readonly watermark: Instant
}

/** What recurrence rules are asked that can take long: what a schedule would do, or how often some of them fire. */
export type ComputeJob =
  | { readonly kind: 'preview'; readonly timing: StoredTiming; readonly now: Instant; readonly count: number }
  | { readonly kind: 'counts'; readonly plans: readonly CountedPlan[]; readonly days: readonly ForecastDay[] }

export type ComputeOutcome =
  | { readonly kind: 'preview'; readonly preview: TimingPreview }
  | { readonly kind: 'counts'; readonly runs: readonly RunsPerDay[] }

/** Where rules are worked out beside everything else, so that nothing waits for them. */
export interface ComputePort {
  /** Rejects with a refusal when the org waits for enough already, and when it takes too long. */
  readonly compute: (orgId: OrgId, job: ComputeJob) => Promise<ComputeOutcome>
}

/** Enough requests of the org wait already. */
export const computeBusy = (waiting: number): Refusal =>
  new Refusal('COMPUTE_BUSY', `${waiting} previews and forecasts of this org wait already; try again in a moment`, {
    retryAfterMs: 1_000,
    details: { waiting },
  })

const LESS = 'ask for fewer days or occurrences, or make the rule simpler'

/** It takes longer than a thread is given. */
export const computeTooLong = (limitMs: number): Refusal =>
  new Refusal('RULE_TOO_DENSE', `This takes longer than ${limitMs / 1_000} seconds to work out; ${LESS}`, {
    details: { limit_ms: limitMs },
  })

/** It takes more memory than a thread has. */
export const computeTooLarge = (): Refusal =>
  new Refusal('RULE_TOO_DENSE', `This takes more memory to work out than it may; ${LESS}`)
