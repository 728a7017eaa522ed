import type { ForecastDay } from '../../core/forecast/days.ts'
import type { RunsPerDay } from '../../core/forecast/runs-per-day.ts'
import type { OrgId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import type { TimingPreview } from '../../core/time/preview.ts'
import type { StoredTiming } from '../../core/time/stored-timing.ts'

/** A schedule whose occurrences are counted, as plain data. */
export interface CountedPlan {
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
