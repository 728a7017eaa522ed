import type { AgentId, AttemptId, OrgId, RunId, ScheduleId, SessionKey } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import type { FiringSettings } from '../../core/schedule/schedule-rules.ts'
import type { LastEnding, ScheduleHistory } from '../../core/schedule/schedule-history.ts'
import type { SessionRules } from '../../core/session/session-rules.ts'
import type { RunRow } from '../../store/run-row.ts'
import type { ScheduleRow } from '../../store/schedule-row.ts'
import type { SessionRow } from '../../store/session-row.ts'

/**
 * The rows of one org on the table, under the org's lock: loaded, changed by decisions, saved together. What a decision
 * looks at must be on the desk before it is asked, so each operation says first what it needs.
 *
 * Promises of whoever fills it: for every session on the desk all its pending runs are on it, and for every schedule all
 * its pending runs and its history.
 */
export interface Desk {
  readonly now: Instant
  readonly orgId: OrgId
  readonly settings: DeskSettings
  readonly chance: Chance
  readonly runs: Map<RunId, RunRow>
  readonly sessions: Map<SessionKey, SessionRow>
  readonly schedules: Map<ScheduleId, ScheduleOnDesk>
  readonly agents: Map<AgentId, AgentOnDesk>
  /** Queued tasks of the org that are not on the desk themselves, by agent. */
  readonly queuedTasks: Map<AgentId, number>
  readonly changes: Changes
  /** The last place given in the org. */
  lastSeq: number
}

export interface ScheduleOnDesk {
  readonly row: ScheduleRow
  /** As it was loaded; a run on the desk says itself what has become of it since. */
  readonly previous: ScheduleHistory['previous']
  lastEnding: LastEnding | null
}

export interface AgentOnDesk {
  readonly id: AgentId
  readonly executorKey: string
  readonly executorKind: string
}

/** What has to be written back. */
export interface Changes {
  readonly made: Set<RunRow>
  readonly changed: Set<RunRow>
  readonly sessions: Set<SessionRow>
  readonly schedules: Set<ScheduleRow>
  readonly deletedSchedules: Set<ScheduleId>
  /** Misfire ranges: decisions that made no run. */
  readonly ranges: RangeDecision[]
  /** What happened, in order, for everybody who watches. */
  readonly events: DeskEvent[]
}

export interface RangeDecision {
  readonly scheduleId: ScheduleId
  readonly first: Instant
  readonly last: Instant
  readonly count: number
  readonly reason: string
}

export interface DeskEvent {
  readonly kind: 'run.changed' | 'message.merged' | 'message.dropped' | 'schedule.changed' | 'outbound'
  readonly subject: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface DeskSettings {
  readonly session: SessionRules
  readonly firing: FiringSettings
  readonly stopGraceMs: number
  readonly tasks: {
    readonly maxQueue: number
    readonly maxPerAgent: number
    readonly maxInflight: number
    readonly maxPerAgentInflight: number
  }
  readonly catchupMaxActive: number
}

/** Ids and random numbers come from outside, so that a test can repeat them. */
export interface Chance {
  readonly random: () => number
  readonly newRunId: (kind: 'run' | 'task') => RunId
  readonly newAttemptId: () => AttemptId
}

export const noChanges = (): Changes => ({
  made: new Set(),
  changed: new Set(),
  sessions: new Set(),
  schedules: new Set(),
  deletedSchedules: new Set(),
  ranges: [],
  events: [],
})

/** Pending runs of the session's present generation: what came before a reset has no more part in it. */
export function pendingInSession(desk: Desk, session: SessionRow): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of desk.runs.values())
    if (run.sessionKey === session.key && run.generation === session.generation && run.finishedAt === null)
      found.push(run)
  return found
}

/** Oldest first, without those that were superseded. */
export function pendingOfSchedule(desk: Desk, id: ScheduleId): readonly RunRow[] {
  const found: RunRow[] = []
  for (const run of desk.runs.values())
    if (run.scheduleId === id && !run.superseded && run.finishedAt === null) found.push(run)
  return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}
