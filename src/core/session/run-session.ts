import { inlineKindOf } from '../executor/inline-agent.ts'
import type { RunState } from '../../domain/run/run-machine.ts'
import {
  runId,
  scheduleId,
  sessionKey,
  type AgentId,
  type RunId,
  type ScheduleId,
  type SessionKey,
} from '../../domain/ids.ts'

/** The run of a schedule that a session belongs to. */
export interface RunOfSession {
  readonly runId: RunId
  readonly scheduleId: ScheduleId
}

/** How keys of such sessions look; JavaScript and PostgreSQL read this expression alike. */
export const RUN_SESSION_PATTERN = '^(?:agent:[^:]+:cron|schedule):([^:]+):run:(run_[^:]+)$'

const RUN_SESSION = new RegExp(RUN_SESSION_PATTERN)

/** The session of a run: the one it was created in, or, for a schedule with isolated runs, one of its own. */
export function sessionOfRun(run: {
  readonly id: RunId
  readonly agentId: AgentId
  readonly scheduleId: ScheduleId | null
  readonly sessionKey: SessionKey | null
}): SessionKey | null {
  const { id, agentId, scheduleId: schedule } = run
  if (run.sessionKey !== null || schedule === null) return run.sessionKey
  return sessionKey(
    inlineKindOf(agentId) === null ? `agent:${agentId}:cron:${schedule}:run:${id}` : `schedule:${schedule}:run:${id}`,
  )
}

/** The same as far as events and answers show it: a skipped occurrence has no conversation. */
export const shownSessionOf = (
  run: Parameters<typeof sessionOfRun>[0] & { readonly state: RunState },
): SessionKey | null => (run.state === 'skipped' ? run.sessionKey : sessionOfRun(run))

/** Whose session it is by its key; null: it is not the session of a run. */
export function runOfSession(key: string): RunOfSession | null {
  const [, schedule, run] = RUN_SESSION.exec(key) ?? []
  return schedule === undefined || run === undefined ? null : { scheduleId: scheduleId(schedule), runId: runId(run) }
}
