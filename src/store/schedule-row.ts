import type { OpenAlerts } from '../domain/alerts.ts'
import type { Pace } from '../domain/schedule/pace/pace.ts'
import type { AgentId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Lineage } from '../core/rails/railed.ts'
import type { RetryPolicy } from '../domain/run/retry-policy.ts'
import type { LastEnding } from '../domain/schedule/history.ts'
import type { ScheduleState } from '../domain/schedule/lifecycle.ts'
import type { ScheduleRules } from '../domain/schedule/rules.ts'
import type { StoredTiming } from '../core/time/stored-timing.ts'
import type { Timing } from '../domain/time/timing.ts'
import { column, table, type RowOf } from '../platform/db/table.ts'

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

export const schedules = table('schedule', {
  orgId: column.text<OrgId>(),
  id: column.text<ScheduleId>(),
  agentId: column.text<AgentId>(),
  createdBy: column.text<string | null>(),
  /** The key or the agent that made it under guard rails; null for nearly every schedule. */
  owner: column.text<string | null>(),
  /** The run that made it, and where that comes from. */
  createdByRun: column.text<RunId | null>(),
  lineage: column.json<Lineage | null>(),
  /** What somebody is asked to approve, or has rejected. */
  approval: column.json<Approval | null>(),
  name: column.text(),
  description: column.text(),
  /** What a person gave, in the names of the wire without synonyms; `timing` and `rules` are what was understood. */
  input: column.json<Readonly<Record<string, unknown>>>(),
  timing: column.json<StoredTiming>(),
  rules: column.json<ScheduleRules>(),
  retryPolicy: column.json<RetryPolicy | null>(),
  timeoutSeconds: column.int<number | null>(),
  lane: column.text<LaneName | null>(),
  /** Null: every run has a session of its own. */
  sessionKey: column.text<SessionKey | null>(),
  /** Null with `payloadBytes`: it is left out of a list because it is so large. */
  payload: column.json(),
  deleteAfterRun: column.boolean(),
  state: column.text<ScheduleState>(),
  /** Everything up to and including this moment has been decided. */
  watermark: column.instant(),
  nextRunAt: column.instant<Instant | null>(),
  /** Where its interval stands, if that moves by itself. Null for nearly every schedule. */
  pace: column.json<Pace | null>(),
  failureStreak: column.int(),
  failureCount: column.int(),
  skippedFor: column.text<RunId | null>(),
  fires: column.int(),
  /** The run decided last that was neither skipped, superseded nor held, whatever its trigger. */
  previousRunId: column.text<RunId | null>(),
  /** How the newest to end went, of those whose ending says something. */
  lastEnding: column.json<LastEnding | null>(),
  lastRunAt: column.instant<Instant | null>(),
  /** When a held occurrence of it was released last; null: never. */
  lastReleaseAt: column.instant<Instant | null>(),
  lastStatus: column.text<string | null>(),
  lastError: column.text<string | null>(),
  /** Its open alerts by kind, with their ids. Null: none. */
  alerts: column.json<OpenAlerts | null>(),
  version: column.int(),
  createdAt: column.instant(),
  updatedAt: column.instant(),
})

/** What a new schedule has none of yet. */
export const HISTORY = [
  'failureStreak',
  'failureCount',
  'skippedFor',
  'fires',
  'previousRunId',
  'lastEnding',
  'lastRunAt',
  'lastReleaseAt',
  'lastStatus',
  'lastError',
  'alerts',
] as const

/** What firing and endings change. */
export const LIFE = schedules.pick('state', 'watermark', 'nextRunAt', 'pace', ...HISTORY)

type Life = RowOf<typeof LIFE>

/** A row of `schedule`, with its timing read and its rules complete. Firing and endings change it in memory. */
export type ScheduleRow = Omit<RowOf<typeof schedules>, 'timing' | keyof Life> & {
  -readonly [Name in keyof Life]: Life[Name]
} & { readonly timing: Timing; readonly payloadBytes?: number | null }
