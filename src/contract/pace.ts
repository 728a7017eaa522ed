import type { Reason } from '../core/reasons.ts'

/** How far the interval of a schedule may move by itself. */
export interface CadenceInput {
  readonly min_seconds: number
  readonly max_seconds: number
  /** By how much one step makes the interval longer or shorter; 2 unless given, 1: only what agents propose moves it. */
  readonly stretch?: number | undefined
  /** So many quiet runs in a row before the first step; 1 unless given. */
  readonly quiet_after?: number | undefined
}

/** A cadence with everything that was filled in written out. */
export interface CadenceView {
  readonly min_seconds: number
  readonly max_seconds: number
  readonly stretch: number
  readonly quiet_after: number
}

export const CERTAINTIES = ['firm', 'likely'] as const
/** A moment is firm while nothing but an edit moves it; what a run finds may move the ones behind it. */
export type Certainty = (typeof CERTAINTIES)[number]

/** A moment that comes, and how sure that is. */
export interface ComingMoment {
  readonly at: string
  readonly certainty: Certainty
}

/** Why a pace is what it is. */
export interface PaceReason {
  readonly reason: Reason
  readonly rule: string
  readonly evidence: Readonly<Record<string, string | number | boolean | null>>
  readonly sentence: string
}

/** One run that had a say in the pace. */
export interface PaceStepView {
  readonly at: string
  readonly run_id: string
  readonly interval_seconds: number
  readonly reason: Reason
  readonly next: string
}

/** How often a schedule with a cadence comes now. */
export interface PaceView {
  readonly interval_seconds: number
  /** Runs in a row that found nothing new, and those that found something. */
  readonly quiet_streak: number
  readonly change_streak: number
  /** "Between 5 minutes and 6 hours, now every 40 minutes after 3 quiet runs". */
  readonly sentence: string
  readonly because: PaceReason
  /** What the agent asked for, if that is what decided the next moment. */
  readonly proposed: {
    readonly asked: string
    readonly asked_seconds: number
    readonly got_seconds: number
    readonly clamped: boolean
  } | null
  /** Empty while it is switched off or has no moment left. */
  readonly next: readonly ComingMoment[]
  /** The last runs that had a say, newest first. */
  readonly recent: readonly PaceStepView[]
}
