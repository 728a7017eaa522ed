import type { ScheduleNote } from './schedule-note.ts'
import type { OmittedPayload } from './page.ts'
import type { ScheduleAlertKind } from '../core/alerts.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { DstEffect } from '../core/time/dst-notes.ts'
import type { ScheduleBudgetInput, ScheduleBudgetView } from './budget.ts'
import type { ExecutorInput } from './executor.ts'
import type { ProbeCountsView, ProbeInput } from './probe.ts'
import type { CadenceInput, CadenceView, ComingMoment, PaceView } from './pace.ts'
import type { ScheduleDelivery } from './target.ts'

/** Everything that can be said about a schedule, in the names of this project. */
export interface ScheduleFields {
  readonly name: string
  readonly description: string
  readonly agent_id: string
  /** In place of an agent: how the work is performed. Such runs are not repeated unless `retry_policy` says so. */
  readonly executor: ExecutorInput
  readonly at: string | number
  readonly every_seconds: number
  readonly anchor: string | number
  readonly cron: string
  readonly rrule: string
  readonly timezone: string
  readonly dst: string
  readonly day_match: string
  readonly payload: unknown
  /** `isolated` (default), `main`, or a session key. */
  readonly session: string
  readonly lane: string
  readonly enabled: boolean
  readonly misfire_policy: string
  readonly catchup_limit: number
  readonly catchup_window_seconds: number
  readonly overlap_action: string
  readonly max_parallel: number
  readonly failure_action: string
  readonly failure_options: {
    readonly ladder_seconds?: readonly number[] | undefined
    readonly threshold?: number | undefined
    readonly cooldown_seconds?: number | undefined
  }
  readonly concurrency_policy: string
  readonly max_concurrency: number
  readonly queue_depth: number
  readonly retry_policy: Readonly<Record<string, unknown>>
  readonly timeout_seconds: number
  readonly starts_at: string | number
  readonly ends_at: string | number
  readonly max_fires: number
  readonly jitter_ms: number
  /** Failures in a row that raise an alert; the deployment's number unless given. */
  readonly alert_after: number
  /** A run that starts later than this raises an alert; however late unless given. */
  readonly max_lateness_seconds: number
  readonly exclude: readonly unknown[]
  /** How far the interval may move by itself; it stays as it is unless given. Only with `every_seconds`. */
  readonly cadence: CadenceInput
  readonly delete_after_run: boolean
  /** Where the results of its runs go; nowhere unless given. */
  readonly delivery: ScheduleDelivery
  /** What its runs may use; as much as they want unless given. */
  readonly budget: ScheduleBudgetInput
  /** What is asked before the agent is woken; nothing unless given. */
  readonly probe: ProbeInput
}

/** Other names under which the seeds know some of them. Two names of one field at once are refused. */
export interface ScheduleSynonyms {
  readonly kind: string
  readonly schedule_type: string
  readonly cron_expr: string
  readonly expr: string
  readonly interval_seconds: number
  readonly everyMs: number
  readonly run_at: string | number
  readonly atMs: number
  readonly tz: string
  /** `ENABLED` or `DISABLED`, in any case: `enabled` as true or false. */
  readonly status: string
}

type Given<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | null | undefined }

/** What a schedule is created from or changed with: what is left out stays, and null brings back the default. */
export type ScheduleInput = Given<ScheduleFields> & Given<ScheduleSynonyms>

/** When a schedule fires, in the names of the seeds. Which fields there are depends on the kind. */
export interface SeedTimingView {
  readonly schedule_type?: 'cron' | 'interval' | 'once' | 'rrule'
  readonly cron_expr?: string
  readonly interval_seconds?: number
  readonly run_at?: string
}

/** When a schedule fires, with everything that was filled in written out. Which fields there are depends on the kind. */
export interface ScheduleTimingView {
  readonly timezone: string
  readonly at?: string
  readonly every_seconds?: number
  /** Instead of `every_seconds`, when the interval is not a whole number of seconds. */
  readonly everyMs?: number
  readonly anchor?: string
  readonly cron?: string
  readonly dst?: string
  readonly day_match?: string
  readonly rrule?: string
  readonly starts_at?: string
  readonly ends_at?: string
  readonly exclude?: readonly (string | { readonly from: string; readonly to: string })[]
  readonly cadence?: CadenceView
}

export interface RetryPolicyView {
  readonly max_retries: number
  readonly strategy: string
  readonly base_ms: number
  readonly max_ms: number
  readonly jitter: number
  readonly ladder_seconds: readonly number[]
}

/** How the occurrences of a schedule become runs, or do not. */
export interface ScheduleRulesView {
  readonly misfire_policy: string
  readonly catchup_limit: number
  readonly catchup_window_seconds: number | null
  readonly overlap_action: string
  readonly max_parallel: number | null
  readonly failure_action: string
  readonly failure_options: {
    readonly ladder_seconds: readonly number[]
    readonly threshold: number
    readonly cooldown_seconds: number
  }
  readonly concurrency_policy: string
  readonly max_concurrency: number
  readonly queue_depth: number
  readonly max_fires: number | null
  readonly jitter_ms: number
  /** Null: the deployment's number. */
  readonly alert_after: number | null
  readonly max_lateness_seconds: number | null
}

/** A schedule as every surface shows it: what it was given, completed by its defaults, and where it stands. */
export interface ScheduleView extends ScheduleTimingView, SeedTimingView, ScheduleRulesView, OmittedPayload {
  readonly id: string
  readonly org_id: string
  readonly name: string
  readonly description: string
  /** Null: the schedule has an executor of its own. */
  readonly agent_id: string | null
  readonly executor: ExecutorInput | null
  readonly kind: 'at' | 'every' | 'cron' | 'rrule'
  readonly sentence: string
  readonly state: ScheduleState
  readonly enabled: boolean
  readonly next_run_at: string | null
  /** How often it comes now; null unless it has a cadence. */
  readonly pace: PaceView | null
  readonly last_run_at: string | null
  readonly last_status: string | null
  readonly last_error: string | null
  readonly failure_streak: number
  readonly failure_count: number
  /** Kinds of its open alerts. */
  readonly alerts: readonly ScheduleAlertKind[]
  /** Occurrences that became runs. */
  readonly fires: number
  readonly session: string
  readonly lane: string | null
  /** Null: what it wakes decides. */
  readonly retry_policy: RetryPolicyView | null
  readonly timeout_seconds: number | null
  readonly delete_after_run: boolean
  readonly payload: unknown
  readonly delivery: ScheduleDelivery | null
  /** Whether the target is switched off, so that results are held. */
  readonly delivery_disabled: boolean
  /** Its own budget. */
  readonly budget: ScheduleBudgetView | null
  /** What is asked before the agent is woken. */
  readonly probe: ProbeInput | null
  /** How often that was asked, and what it has saved; only of one schedule that is asked for, once it was. */
  readonly probe_counts?: ProbeCountsView | undefined
  readonly created_by: string | null
  /** The key or the agent (`agent:<id>`) that made it under guard rails. */
  readonly owner: string | null
  /** The run that made it, or that somebody made it of. */
  readonly created_by_run: string | null
  /** What somebody is asked to approve, or has rejected. */
  readonly approval: ApprovalView | null
  readonly created_at: string
  readonly updated_at: string
  readonly version: number
  /** What guard rails have filled in, in the answer to its creation; and that it can never fire, wherever one schedule is shown. */
  readonly notes?: readonly string[] | undefined
  /** The same notes as codes with values, for texts in other languages. */
  readonly note_codes?: readonly ScheduleNote[] | undefined
}

/** A new schedule, or a change of one, that waits for somebody who may approve it. */
export interface ApprovalView {
  readonly requested_by: string
  readonly run_id: string | null
  readonly requested_at: string
  /** What it was when it was last approved, and what it is to be; null: it is new. */
  readonly changes: Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>> | null
  readonly rejected: { readonly by: string; readonly at: string; readonly reason: string } | null
}

export const SCHEDULE_SORTS = [
  '-created_at',
  'created_at',
  'name',
  '-name',
  'next_run_at',
  '-next_run_at',
  '-failure_streak',
] as const
export type ScheduleSort = (typeof SCHEDULE_SORTS)[number]

export interface ScheduleFilter {
  readonly state?: string | undefined
  readonly agent_id?: string | undefined
  readonly kind?: string | undefined
  /** A part of name or description, in any case. */
  readonly q?: string | undefined
  /** Those whose last run failed, or that were given up; `false`: the others. */
  readonly failing?: boolean | undefined
  /** `-created_at`, newest first, unless given. */
  readonly sort?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Why somebody does not want what was proposed. */
export interface RejectInput {
  readonly reason: string
}

/** How one run of a schedule stands. */
export interface ScheduleOutcome {
  readonly id: string
  readonly status: RunState
  readonly created_at: string
}

/** How the last runs of some schedules went, newest first. */
export interface ScheduleOutcomes {
  readonly items: readonly { readonly schedule_id: string; readonly runs: readonly ScheduleOutcome[] }[]
}

/** Which schedules, with commas between them, and how many runs of each. */
export interface OutcomesFilter {
  readonly ids: string
  readonly limit?: number | undefined
}

export interface RunNowAnswer {
  readonly ran: boolean
  readonly run_id?: string
  readonly reason?: string
}

/** A change of the clock on the way, and what it does to the schedule. */
export interface DstNoteView {
  readonly at: string
  readonly zone: string
  readonly kind: 'gap' | 'repeat'
  readonly offset_before: string
  readonly offset_after: string
  readonly effect: DstEffect
  readonly sentence: string
}

/** What a schedule would do. */
export interface PreviewView {
  readonly sentence: string
  readonly next: readonly string[]
  readonly dst_notes: readonly DstNoteView[]
}

/** What a schedule would do, and how sure that is where its interval moves by itself. */
export interface SchedulePreview extends PreviewView {
  /** What its creator should know, such as that it can never fire. */
  readonly notes?: readonly string[] | undefined
  readonly note_codes?: readonly ScheduleNote[] | undefined
  /** The same moments with how sure they are; only with a cadence. */
  readonly coming?: readonly ComingMoment[] | undefined
}

/** The fields that say when, and how many occurrences are wanted (5 unless given). */
export interface PreviewInput extends ScheduleInput {
  readonly count?: number | null | undefined
  /** From when on; now unless given. */
  readonly from?: string | number | null | undefined
}
