import type { AgentId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../ids.ts'
import type { Instant } from '../instant.ts'
import { isPending, type RunState } from './run-machine.ts'

/** What woke a run. */
export const TRIGGERS = ['message', 'task', 'schedule', 'catchup', 'heartbeat', 'manual', 'retry', 'webhook'] as const
export type Trigger = (typeof TRIGGERS)[number]

/** The facts about a pending run that decisions look at. The store loads exactly these. */
export interface RunFacts {
  readonly id: RunId
  readonly orgId: OrgId
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  readonly trigger: Trigger
  readonly lane: LaneName
  readonly state: RunState
  readonly priority: number
  readonly createdAt: Instant
  /** Place in the session's order. Null while a message debounces, work is delayed or a run waits for a schedule slot. */
  readonly seq: number | null
  readonly notBefore: Instant | null
  readonly deadline: Instant | null
  readonly firstAttempt: number
  readonly attempt: number
}

/**
 * In retry back-off, or back in the queue after it: the run has executed before and keeps its place. `attempt` is the
 * number of the attempt that runs or comes next.
 */
export const isRetrying = (run: Pick<RunFacts, 'state' | 'attempt' | 'firstAttempt'>): boolean =>
  (run.state === 'waiting' || run.state === 'queued') && run.attempt > run.firstAttempt

/** When the first attempt of a run started. `firstStartedAt` is known of those that were tried again. */
export const firstStart = (run: {
  readonly startedAt: Instant | null
  readonly firstStartedAt: Instant | null
}): Instant | null => run.firstStartedAt ?? run.startedAt

/** How long a run took, its waits between attempts included; null: it has not ended, or never started. */
export function durationOf(
  run: Parameters<typeof firstStart>[0] & { readonly finishedAt: Instant | null },
): number | null {
  const startedAt = firstStart(run)
  return startedAt === null || run.finishedAt === null ? null : Math.max(0, run.finishedAt - startedAt)
}

/** An attempt exists that somebody works on or will report about. */
export const isInFlight = (state: RunState): boolean =>
  state === 'assigned' || state === 'running' || state === 'awaiting_callback' || state === 'stopping'

/** In flight, or between two attempts. Active runs hold their session slot. */
export const isActive = (run: Pick<RunFacts, 'state' | 'attempt' | 'firstAttempt'>): boolean =>
  isInFlight(run.state) || isRetrying(run)

/** Pending but not active: queued, debouncing or delayed. This is what the session cap counts and /stopall drains. */
export const isWaitingWork = (run: Pick<RunFacts, 'state' | 'attempt' | 'firstAttempt'>): boolean =>
  isPending(run.state) && !isActive(run)
