import type { Reason } from '../core/reasons.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import type { RunState } from '../core/run/run-machine.ts'
import type { Trigger } from '../core/run/run.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { DstNoteView, ScheduleInput } from './schedule.ts'

/** How an attempt may be assumed to go. `timeout`: it never answers, and its time limit ends it. */
export const ASSUMED_OUTCOMES = ['success', 'failed', 'timeout'] as const
export type AssumedOutcome = (typeof ASSUMED_OUTCOMES)[number]

/** How long something takes: always as long, anything between two bounds, or one of what was observed. */
export type AssumedDuration = number | { readonly min: number; readonly max: number } | readonly number[]

/** What is assumed of attempts that nobody performs. */
export interface AssumptionInput {
  /** How long an attempt takes, in milliseconds; 1,000 unless given. A list is a list of observations. */
  readonly duration_ms?: AssumedDuration | undefined
  /** The share of attempts that fail, 0 to 1; none unless given. */
  readonly failure_rate?: number | undefined
  /** The share of attempts that never answer, 0 to 1; none unless given. */
  readonly timeout_rate?: number | undefined
  /** How the attempts of each schedule go, one after the other, from the beginning again after the last. */
  readonly outcomes?: readonly AssumedOutcome[] | undefined
  /** What those that fail say; `agent_error` unless given. */
  readonly error_code?: ErrorCode | undefined
  /** How long an attempt goes on after it was told to stop; 0 unless given, null: it does not listen. */
  readonly stops_in_ms?: number | null | undefined
  /** What an attempt uses. */
  readonly tokens?: number | undefined
  /** What an attempt costs, in whole money. */
  readonly cost?: number | undefined
  /**
   * The share of runs that find nothing new, 0 to 1; none unless given, so that a schedule with a cadence is never
   * simulated as rarer than it may be.
   */
  readonly quiet_rate?: number | undefined
  /** In how many seconds every agent asks to be woken next; none asks unless given. */
  readonly next_check_seconds?: number | undefined
}

/** How an attempt that is on record went. */
export interface RecordedAttempt {
  /** The moment its run was planned for. */
  readonly nominal: string
  readonly attempt: number
  readonly duration_ms: number
  readonly outcome: AssumedOutcome
  readonly error_code?: ErrorCode | undefined
  readonly tokens?: number | undefined
  readonly cost?: number | undefined
  /** Its probe said no: no agent was started. */
  readonly probe?: 'no' | undefined
}

/**
 * `engine`: no node works, and what runs is lost. `stall`: nothing fires, and what runs goes on. `agent`: attempts fail,
 * or nobody takes them.
 */
export const OUTAGE_KINDS = ['engine', 'stall', 'agent'] as const
export type OutageKind = (typeof OUTAGE_KINDS)[number]

/** What attempts meet while their agent is out. `offline`: they wait instead. */
export const OUTAGE_EFFECTS = ['network', 'executor_http_5xx', 'offline'] as const
export type OutageEffect = (typeof OUTAGE_EFFECTS)[number]

/** Something is out from a moment (inclusive) to another (exclusive). */
export interface OutageInput {
  readonly kind: OutageKind
  readonly from: string
  readonly to: string
  /** Only with `agent`: which one; all of them unless given. */
  readonly agent_id?: string | undefined
  /** Only with `agent`; `network` unless given. */
  readonly effect?: OutageEffect | undefined
}

/** Other policies than the schedules have: what is set goes over what they say, and null brings back the default. */
export interface PolicyChange {
  /** Ids or names; all schedules unless given. */
  readonly schedules?: readonly string[] | undefined
  readonly set: ScheduleInput
}

/** What somebody does to a schedule on the way. */
export const INTERVENTIONS = ['run_now', 'disable', 'enable'] as const
export interface Intervention {
  readonly at: string
  readonly schedule_id: string
  readonly action: (typeof INTERVENTIONS)[number]
}

/** One attempt of a run in a simulation. */
export interface SimulatedAttemptView {
  readonly number: number
  readonly started_at: string
  /** Null: it was still under way at the end of the window. */
  readonly finished_at: string | null
  readonly status: RunState
  readonly error_code: string | null
}

/** What became of one occurrence, or of one run that somebody asked for. */
export interface SimulatedRunView {
  readonly id: string
  readonly schedule_id: string
  /** Null: somebody asked for it. */
  readonly nominal_time: string | null
  readonly trigger: Trigger
  /** Where it stands at the end of the window, if it has not ended in it. */
  readonly status: RunState
  /** Why it is there. */
  readonly reason: Reason
  readonly rule: string
  readonly sentence: string
  /** Why it was made, or was not to run. */
  readonly decision: { readonly reason: Reason; readonly rule: string; readonly sentence: string }
  /** Why it was held before that was decided; null for runs that never were. */
  readonly held_decision: { readonly reason: Reason; readonly rule: string; readonly sentence: string } | null
  readonly first_attempt: number
  readonly attempt: number
  readonly created_at: string
  readonly not_before: string | null
  /** When its last attempt began. */
  readonly started_at: string | null
  readonly finished_at: string | null
  /** From the planned moment to the first start; null: it has not started, or nothing was planned. */
  readonly lateness_ms: number | null
  readonly error_code: string | null
  readonly tokens: number
  readonly cost: number
  readonly superseded: boolean
  /** The occurrence that took its place. */
  readonly superseded_by: string | null
  readonly attempts: readonly SimulatedAttemptView[]
}

/** Occurrences that were skipped together and are not told one by one. */
export interface SimulatedRangeView {
  readonly schedule_id: string
  readonly first: string
  readonly last: string
  readonly count: number
  readonly decided_at: string
  readonly reason: Reason
  readonly rule: string
  readonly sentence: string
}

/** What a window came to. Ranges are counted by every occurrence in them. */
export interface SimulationTotals {
  /** Occurrences that were decided. */
  readonly occurrences: number
  /** Runs that were made, those included that somebody asked for. */
  readonly runs: number
  readonly by_status: Readonly<Partial<Record<RunState, number>>>
  readonly skipped_by_reason: Readonly<Partial<Record<Reason, number>>>
  readonly attempts: number
  readonly superseded: number
  /** The most that waited to start at a time, and that were at work at a time. */
  readonly max_waiting: number
  readonly max_running: number
  /** How long attempts were at work, all together. */
  readonly busy_ms: number
  readonly tokens: number
  readonly cost: number
  readonly lateness_p50_ms: number | null
  readonly lateness_p99_ms: number | null
  readonly lateness_max_ms: number | null
}

/** A schedule in a simulation, and where it stands at the end. */
export interface SimulatedScheduleView {
  readonly id: string
  readonly name: string
  readonly sentence: string
  readonly kind: 'at' | 'every' | 'cron' | 'rrule'
  readonly timezone: string
  readonly agent_id: string
  /** Null: it deleted itself. */
  readonly state: ScheduleState | null
  readonly next_run_at: string | null
  readonly fires: number
  readonly failure_streak: number
  readonly totals: SimulationTotals
  readonly dst_notes: readonly DstNoteView[]
}

/** How full it was in a stretch of the window. */
export interface SimulatedDepth {
  readonly at: string
  /** The most that waited to start, and that were at work, in the stretch that begins here. */
  readonly waiting: number
  readonly running: number
  readonly tokens: number
  readonly cost: number
}

/** What would happen. */
export interface SimulationView {
  readonly from: string
  readonly to: string
  readonly seed: number
  readonly schedules: readonly SimulatedScheduleView[]
  /** In the order in which they were decided. */
  readonly rows: readonly SimulatedRunView[]
  readonly ranges: readonly SimulatedRangeView[]
  /** More rows or ranges were counted than are told. The totals are of all of them. */
  readonly truncated: boolean
  /** Stretches of equal length, oldest first. */
  readonly depth: readonly SimulatedDepth[]
  readonly totals: SimulationTotals
  readonly outages: readonly OutageInput[]
}

/** An occurrence that goes otherwise with other policies. */
export interface SimulationChange {
  readonly schedule_id: string
  readonly nominal_time: string
  /** `status`: it ends otherwise. `timing`: it ends the same, at other moments or with other attempts. */
  readonly kind: 'status' | 'timing' | 'only_before' | 'only_after'
  readonly before: SimulatedRunView | null
  readonly after: SimulatedRunView | null
}

/** What two sets of policies make of the same window. */
export interface SimulationDiff {
  readonly changes: readonly SimulationChange[]
  readonly changed: number
  readonly unchanged: number
  /** Not every occurrence could be compared: at least one side tells only its first rows. */
  readonly truncated: boolean
  readonly before: SimulationTotals
  readonly after: SimulationTotals
}
