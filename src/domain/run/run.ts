import type { AgentId, LaneName, OrgId, RunId, ScheduleId, SessionKey } from '../ids.ts'
import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import { isPending, type RunState } from './run-machine.ts'

/** What triggered a run. */
export const TRIGGERS = ['message', 'task', 'schedule', 'catchup', 'heartbeat', 'manual', 'retry', 'webhook'] as const
export type Trigger = (typeof TRIGGERS)[number]

/** The facts about a pending run that decisions need; exactly these are loaded from the database. */
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
  /**
   * Position in the session's order; null while a message debounces, the run is delayed or it waits for a schedule
   * slot.
   */
  readonly seq: number | null
  readonly notBefore: Instant | null
  readonly deadline: Instant | null
  readonly firstAttempt: number
  readonly attempt: number
}

/**
 * Whether a run is in retry back-off or queued again after it; it keeps its position. `attempt` is the number of the
 * current or next attempt.
 */
export const isRetrying = (run: Pick<RunFacts, 'state' | 'attempt' | 'firstAttempt'>): boolean =>
  (run.state === 'waiting' || run.state === 'queued') && run.attempt > run.firstAttempt

/** When the first attempt of a run started. `firstStartedAt` is set only for retried runs. */
export const firstStart = (run: {
  readonly startedAt: Instant | null
  readonly firstStartedAt: Instant | null
}): Instant | null => run.firstStartedAt ?? run.startedAt

/** The duration of a run, including waits between attempts; null when it has not ended or never started. */
export function durationOf(
  run: Parameters<typeof firstStart>[0] & { readonly finishedAt: Instant | null },
): number | null {
  const startedAt = firstStart(run)
  return startedAt === null || run.finishedAt === null ? null : Math.max(0, run.finishedAt - startedAt)
}

/** Whether an attempt is being executed or its report is awaited. */
export const isInFlight = (state: RunState): boolean =>
  state === 'assigned' || state === 'running' || state === 'awaiting_callback' || state === 'stopping'

/** In flight, or between two attempts. Active runs hold their session slot. */
export const isActive = (run: Pick<RunFacts, 'state' | 'attempt' | 'firstAttempt'>): boolean =>
  isInFlight(run.state) || isRetrying(run)

/** Pending but not active: queued, debouncing or delayed. The session cap counts these, and /stopall drains them. */
export const isWaitingRun = (run: Pick<RunFacts, 'state' | 'attempt' | 'firstAttempt'>): boolean =>
  isPending(run.state) && !isActive(run)

/** The reasons of most runs. One object each, so that stores recognize them by identity. */
export const ACCEPTED: Why = because('accepted', 'admission')
export const PICKED: Why = because('picked', 'picking_order')
export const COMPLETED: Why = because('completed', 'outcome')

/** The parts of a run that a retry may change. */
export const EDITED_PARTS = ['payload', 'prompt', 'model'] as const
export type EditedPart = (typeof EDITED_PARTS)[number]

/**
 * The payload with another prompt: the text of a message, the prompt of a schedule, or the payload itself if it is text.
 * Undefined: it has no prompt.
 */
export function withPrompt(payload: unknown, prompt: string): unknown {
  if (payload === null || payload === undefined || typeof payload === 'string') return prompt
  if (typeof payload !== 'object' || Array.isArray(payload)) return undefined
  const field = ['text', 'prompt'].find(
    (name) => typeof (payload as Readonly<Record<string, unknown>>)[name] === 'string',
  )
  return field === undefined ? undefined : { ...payload, [field]: prompt }
}
