import type { ScheduleState } from '../core/schedule/schedule-life.ts'

/** What a schedule is created from or changed with. Synonyms of the seeds are accepted beside these names. */
export interface ScheduleInput {
  readonly name?: string
  readonly description?: string
  readonly agent_id?: string
  readonly at?: string | number
  readonly every_seconds?: number
  readonly anchor?: string | number
  readonly cron?: string
  readonly rrule?: string
  readonly timezone?: string
  readonly dst?: string
  readonly day_match?: string
  readonly payload?: unknown
  /** `isolated` (default), `main`, or a session key. */
  readonly session?: string
  readonly lane?: string
  readonly enabled?: boolean
  readonly misfire_policy?: string
  readonly catchup_limit?: number
  readonly catchup_window_seconds?: number | null
  readonly overlap_action?: string
  readonly max_parallel?: number | null
  readonly failure_action?: string
  readonly failure_options?: {
    readonly ladder_seconds?: readonly number[]
    readonly threshold?: number
    readonly cooldown_seconds?: number
  }
  readonly concurrency_policy?: string
  readonly max_concurrency?: number
  readonly queue_depth?: number
  readonly retry_policy?: Readonly<Record<string, unknown>>
  readonly timeout_seconds?: number
  readonly starts_at?: string | number
  readonly ends_at?: string | number
  readonly max_fires?: number | null
  readonly jitter_ms?: number
  readonly exclude?: readonly unknown[]
  readonly delete_after_run?: boolean
  readonly [synonym: string]: unknown
}

/** A schedule as every surface shows it: what it was given, completed by its defaults, and where it stands. */
export interface ScheduleView {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly description: string
  readonly agent_id: string
  readonly kind: 'at' | 'every' | 'cron' | 'rrule'
  readonly sentence: string
  readonly state: ScheduleState
  readonly enabled: boolean
  readonly next_run_at: string | null
  readonly last_run_at: string | null
  readonly last_status: string | null
  readonly last_error: string | null
  readonly failure_streak: number
  readonly failure_count: number
  readonly payload: unknown
  readonly created_by: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly version: number
  /** Every other field as it was given or is by default, under the names of `ScheduleInput`. */
  readonly [field: string]: unknown
}

export interface ScheduleFilter {
  readonly state?: ScheduleState
  readonly agent_id?: string
  readonly kind?: string
  readonly q?: string
  readonly limit?: number
  readonly cursor?: string
}

export interface RunNowAnswer {
  readonly ran: boolean
  readonly run_id?: string
  readonly reason?: string
}

/** Why an occurrence did or did not become a run. */
export interface OccurrenceExplanation {
  readonly at: string
  readonly run_id: string | null
  readonly status: string | null
  readonly reason: string
  readonly rule: string
  readonly evidence: Readonly<Record<string, unknown>>
}
