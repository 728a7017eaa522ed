import { DEFAULT_LADDER_SECONDS } from '../run/retry-policy.ts'

export const MISFIRE_POLICIES = ['FIRE_NOW', 'SKIP', 'CATCH_UP_LIMITED'] as const
export type MisfirePolicy = (typeof MISFIRE_POLICIES)[number]

export const OVERLAP_ACTIONS = ['ALLOW', 'SKIP', 'CANCEL_PREV', 'PARALLEL', 'BUFFER_ONE'] as const
export type OverlapAction = (typeof OVERLAP_ACTIONS)[number]

export const FAILURE_ACTIONS = ['RUN_NEW', 'RETRY', 'SKIP', 'BACKOFF', 'HALF_OPEN'] as const
export type FailureAction = (typeof FAILURE_ACTIONS)[number]

export const CONCURRENCY_POLICIES = ['QUEUE', 'SKIP', 'PARALLEL'] as const
export type ConcurrencyPolicy = (typeof CONCURRENCY_POLICIES)[number]

/** The policies that decide which occurrences of a schedule become runs. */
export interface ScheduleRules {
  readonly misfirePolicy: MisfirePolicy
  /** How many of the newest occurrences CATCH_UP_LIMITED runs, including the current one. */
  readonly catchupLimit: number
  /** Null: the deployment's window; `at` schedules have none then and fire however late. */
  readonly catchupWindowSeconds: number | null
  readonly overlapAction: OverlapAction
  /** The maximum number of pending runs under PARALLEL; null: no limit. */
  readonly maxParallel: number | null
  readonly failureAction: FailureAction
  readonly failureOptions: FailureOptions
  readonly concurrencyPolicy: ConcurrencyPolicy
  readonly maxConcurrency: number
  /** The maximum number of runs that wait for a slot under QUEUE. */
  readonly queueDepth: number
  /** Set by the schedule's own retry policy; only this limits failure action RETRY. */
  readonly ownMaxRetries: number | null
  readonly maxFires: number | null
  readonly jitterMs: number
  /** Consecutive failures that raise an alert; null, or omitted by an earlier release: the deployment's number. */
  readonly alertAfter?: number | null
  /** A run that starts later than this raises an alert; null or omitted: no limit. */
  readonly maxLatenessSeconds?: number | null
}

export interface FailureOptions {
  readonly ladderSeconds: readonly number[]
  /** HALF_OPEN: the number of consecutive failures that opens it. */
  readonly threshold: number
  readonly cooldownSeconds: number
}

export const DEFAULT_SCHEDULE_RULES: ScheduleRules = {
  misfirePolicy: 'CATCH_UP_LIMITED',
  catchupLimit: 1,
  catchupWindowSeconds: null,
  overlapAction: 'ALLOW',
  maxParallel: null,
  failureAction: 'RUN_NEW',
  failureOptions: { ladderSeconds: DEFAULT_LADDER_SECONDS, threshold: 3, cooldownSeconds: 300 },
  concurrencyPolicy: 'QUEUE',
  maxConcurrency: 1,
  queueDepth: 10,
  ownMaxRetries: null,
  maxFires: null,
  jitterMs: 0,
  alertAfter: null,
  maxLatenessSeconds: null,
}

/** The settings for all schedules of a deployment. */
export interface FiringSettings {
  readonly misfireGraceSeconds: number
  readonly catchupWindowSeconds: number
  readonly catchupSpacingMs: number
}

export const DEFAULT_FIRING_SETTINGS: FiringSettings = {
  misfireGraceSeconds: 60,
  catchupWindowSeconds: 900,
  catchupSpacingMs: 1_000,
}

/** The maximum number of held occurrences of a schedule; older ones are skipped. */
export const MAX_HELD = 1_000
