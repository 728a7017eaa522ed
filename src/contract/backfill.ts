import type {
  BackfillChoice,
  BackfillCounts,
  BackfillOrder,
  BackfillPolicy,
  BackfillState,
} from '../core/backfill/backfill.ts'
import type { StandingCounts } from '../core/backfill/moments.ts'
import type { Why } from '../core/reasons.ts'
import type { Page } from './page.ts'

/** Which past moments of a schedule are to be run, and how fast. */
export interface BackfillInput {
  /** The first moment of the range. */
  readonly from: string | number
  /** The end of the range, which is not part of it; now unless given, and not in the future. */
  readonly to?: string | number | undefined
  /** `missing` unless given: what has had no run that succeeded. */
  readonly which?: BackfillChoice | undefined
  readonly order?: BackfillOrder | undefined
  /** How it gets along with the schedule's own runs; `wait` unless given. */
  readonly policy?: BackfillPolicy | undefined
  /** Runs at a time; 1 unless given. */
  readonly max_active?: number | undefined
  /** The least time between two that are made. */
  readonly spacing_ms?: number | undefined
  /** The lane of the schedule unless given. */
  readonly lane?: string | null | undefined
  /** Failures in a row that end it; 5 unless given, null: none do. */
  readonly stop_on_failures?: number | null | undefined
  /** Whether results go where those of the schedule go; true unless given. */
  readonly deliver?: boolean | undefined
  /** Says what would be done, and changes nothing. */
  readonly dry_run?: boolean | undefined
}

/** Past moments of a schedule that are made into runs, and how far that has come. */
export interface BackfillView {
  /** Null when it was only planned. */
  readonly id: string | null
  readonly org_id: string
  readonly schedule_id: string
  readonly state: BackfillState | 'planned'
  /** Why it has ended, or what it waits for; null while it goes on. */
  readonly why: Why | null
  readonly sentence: string | null
  readonly from: string
  readonly to: string
  readonly which: BackfillChoice
  readonly order: BackfillOrder
  readonly policy: BackfillPolicy
  readonly max_active: number
  readonly spacing_ms: number
  readonly lane: string | null
  readonly stop_on_failures: number | null
  readonly deliver: boolean
  /** How many moments it takes, and the first and the last of them by the clock. */
  readonly total: number
  readonly first: string | null
  readonly last: string | null
  /** Moments of the range it leaves out, by what has become of them. */
  readonly left_out: StandingCounts
  /** Of the moments: those whose run has ended, is under way, and is still to come. */
  readonly ended: number
  readonly in_flight: number
  readonly remaining: number
  /** How the runs ended. */
  readonly counts: BackfillCounts
  /** The runs that are under way. */
  readonly run_ids: readonly string[]
  readonly runs_per_minute: number | null
  readonly eta: string | null
  /** What was expected when it began; null where nobody could know. */
  readonly expected: {
    /** Runs at a time, as far as the schedule lets it. */
    readonly at_once: number
    readonly duration_ms: number | null
    readonly tokens: number | null
    readonly cost: number | null
  }
  /** What one should know about it. */
  readonly notes: readonly string[]
  readonly created_by: string
  readonly created_at: string
  readonly finished_at: string | null
}

/** How a backfill is cancelled. */
export interface BackfillCancel {
  /** What becomes of its runs: those that work `finish` unless given; what waits is cancelled in any case. */
  readonly running?: 'finish' | 'cancel' | undefined
}

/** Which backfills are wanted. */
export interface BackfillFilter {
  readonly schedule_id?: string | undefined
  readonly state?: BackfillState | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Backfills of a program that embeds the engine: `schedules.backfill` begins one. */
export interface Backfills {
  readonly list: (filter?: BackfillFilter) => Promise<Page<BackfillView>>
  readonly get: (id: string) => Promise<BackfillView>
  /** What waits is cancelled; what works goes on, unless `running` is `cancel`. */
  readonly cancel: (id: string, how?: BackfillCancel) => Promise<BackfillView>
}
