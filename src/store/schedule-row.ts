import type { AgentId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { RetryPolicy } from '../core/run/retry-policy.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { ScheduleRules } from '../core/schedule/schedule-rules.ts'
import type { Timing } from '../core/time/timing.ts'

/** A row of `schedule`, with its timing read and its rules complete. */
export interface ScheduleRow {
  readonly id: ScheduleId
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly timing: Timing
  readonly rules: ScheduleRules
  readonly retryPolicy: RetryPolicy | null
  readonly timeoutSeconds: number | null
  readonly lane: LaneName | null
  /** Null: every run has a session of its own. */
  readonly sessionKey: SessionKey | null
  readonly payload: unknown
  readonly deleteAfterRun: boolean
  state: ScheduleState
  /** Everything up to and including this moment has been decided. */
  watermark: Instant
  nextRunAt: Instant | null
  failureStreak: number
  failureCount: number
  skippedFor: RunId | null
  fires: number
  lastRunAt: Instant | null
  lastStatus: string | null
}
