import type { OpenAlerts } from '../core/alerts.ts'
import type { Pace } from '../core/cadence/pace.ts'
import type { AgentId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Lineage } from '../core/rails/railed.ts'
import type { RetryPolicy } from '../core/run/retry-policy.ts'
import type { LastEnding } from '../core/schedule/schedule-history.ts'
import type { ScheduleState } from '../core/schedule/schedule-life.ts'
import type { ScheduleRules } from '../core/schedule/schedule-rules.ts'
import type { Timing } from '../core/time/timing.ts'

/** A change of a schedule, or a new one, that somebody else has to approve. */
export interface Approval {
  readonly requestedBy: string
  readonly runId: RunId | null
  readonly requestedAt: Instant
  /** What was there before, by field as it is shown; null: nothing was. */
  readonly before: Readonly<Record<string, unknown>> | null
  /** Whether it was switched off, and stays so when it is approved. */
  readonly rests: boolean
  readonly rejected: { readonly by: string; readonly at: Instant; readonly reason: string } | null
}

/** A row of `schedule`, with its timing read and its rules complete. */
export interface ScheduleRow {
  readonly id: ScheduleId
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly createdBy: string | null
  /** The key or the agent that made it under guard rails; null for nearly every schedule. */
  readonly owner: string | null
  /** The run that made it, and where that comes from. */
  readonly createdByRun: RunId | null
  readonly lineage: Lineage | null
  /** What somebody is asked to approve, or has rejected. */
  readonly approval: Approval | null
  readonly name: string
  readonly description: string
  /** What a person gave, in the names of the wire without synonyms; `timing` and `rules` are what was understood. */
  readonly input: Readonly<Record<string, unknown>>
  readonly timing: Timing
  readonly rules: ScheduleRules
  readonly retryPolicy: RetryPolicy | null
  readonly timeoutSeconds: number | null
  readonly lane: LaneName | null
  /** Null: every run has a session of its own. */
  readonly sessionKey: SessionKey | null
  /** Null with `payloadBytes`: it is left out of a list because it is so large. */
  readonly payload: unknown
  readonly payloadBytes?: number | null
  readonly deleteAfterRun: boolean
  state: ScheduleState
  /** Everything up to and including this moment has been decided. */
  watermark: Instant
  nextRunAt: Instant | null
  /** Where its interval stands, if that moves by itself. Null for nearly every schedule. */
  pace: Pace | null
  failureStreak: number
  failureCount: number
  skippedFor: RunId | null
  fires: number
  /** The run decided last that was neither skipped, superseded nor held, whatever its trigger. */
  previousRunId: RunId | null
  /** How the newest to end went, of those whose ending says something. */
  lastEnding: LastEnding | null
  lastRunAt: Instant | null
  /** When a held occurrence of it was released last; null: never. */
  lastReleaseAt: Instant | null
  lastStatus: string | null
  lastError: string | null
  /** Its open alerts by kind, with their ids. Null: none. */
  alerts: OpenAlerts | null
  readonly version: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
}
