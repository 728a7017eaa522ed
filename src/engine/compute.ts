import { Refusal } from '../api/refusals.ts'
import {
  type ForecastDay,
  type PlannedSchedule,
  type RunsPerDay,
  scheduledRuns,
} from '../domain/forecast/runs-per-day.ts'
import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { previewTiming, type TimingPreview } from '../domain/time/preview.ts'
import { restoreTiming, type StoredTiming, storeTiming } from '../domain/time/parse-timing.ts'
import type { Timing } from '../domain/time/timing.ts'

/** Computes a job in the calling thread. */
export function computeJob(job: ComputeJob): ComputeOutcome {
  if (job.kind === 'preview') return { kind: 'preview', preview: previewTiming(restoreTiming(job.timing), job) }
  const runs = job.plans.map((plan) => scheduledRuns({ ...plan, timing: restoreTiming(plan.timing) }, job.days))
  return { kind: 'counts', runs }
}

/** The org that asks, and the pool to compute in; without one the computation runs in the calling thread. */
export interface ComputeContext {
  readonly orgId: OrgId
  readonly computations?: ComputePort | undefined
}

/** The next occurrences of a timing. Only recurrence rules are slow enough to need the pool. */
export async function computePreview(
  { orgId, computations }: ComputeContext,
  timing: Timing,
  view: { readonly now: Instant; readonly count: number },
): Promise<TimingPreview> {
  if (timing.kind !== 'rrule' || computations === undefined) return previewTiming(timing, view)
  const outcome = await computations.compute(orgId, { kind: 'preview', timing: storeTiming(timing), ...view })
  if (outcome.kind !== 'preview') throw new Error(`expected a preview, got ${outcome.kind}`)
  return outcome.preview
}

/** How often schedules fire on each of some days. */
export async function computeCounts(
  { orgId, computations }: ComputeContext,
  plans: readonly PlannedSchedule[],
  days: readonly ForecastDay[],
): Promise<readonly RunsPerDay[]> {
  if (computations === undefined || plans.length === 0) return plans.map((plan) => scheduledRuns(plan, days))
  const stored = plans.map((plan) => ({ ...plan, timing: storeTiming(plan.timing) }))
  const outcome = await computations.compute(orgId, { kind: 'counts', plans: stored, days })
  if (outcome.kind !== 'counts') throw new Error(`expected counts, got ${outcome.kind}`)
  return outcome.runs
}

/** A schedule whose occurrences are counted, as plain data. */
interface CountedPlan {
  readonly timing: StoredTiming
  readonly maxFires: number | null
  readonly fires: number
  readonly watermark: Instant
}

/** Computations over recurrence rules that can take long: a schedule's preview, or how often schedules fire. */
export type ComputeJob =
  | { readonly kind: 'preview'; readonly timing: StoredTiming; readonly now: Instant; readonly count: number }
  | { readonly kind: 'counts'; readonly plans: readonly CountedPlan[]; readonly days: readonly ForecastDay[] }

export type ComputeOutcome =
  | { readonly kind: 'preview'; readonly preview: TimingPreview }
  | { readonly kind: 'counts'; readonly runs: readonly RunsPerDay[] }

/** Computes recurrence rules in a separate thread, so that they block nothing else. */
export interface ComputePort {
  /** Rejects with a refusal when too many requests of the org wait already, or when the computation takes too long. */
  readonly compute: (orgId: OrgId, job: ComputeJob) => Promise<ComputeOutcome>
}

/** The org has too many requests waiting. */
export const computeBusy = (waiting: number): Refusal =>
  new Refusal('COMPUTE_BUSY', `${waiting} previews and forecasts of this org are already waiting; try again in 1 s`, {
    retryAfterMs: 1_000,
    details: { waiting },
  })

const DENSE_RULE_HINT = 'request fewer days or occurrences, or simplify the rule'

/** The computation exceeds the time limit of a thread. */
export const computeTooLong = (limitMs: number): Refusal =>
  new Refusal('RULE_TOO_DENSE', `This takes longer than ${limitMs / 1_000} s to compute; ${DENSE_RULE_HINT}`, {
    details: { limit_ms: limitMs },
  })

/** The computation exceeds the memory limit of a thread. */
export const computeTooLarge = (): Refusal =>
  new Refusal('RULE_TOO_DENSE', `Computing this rule would exceed the memory limit; ${DENSE_RULE_HINT}`)
