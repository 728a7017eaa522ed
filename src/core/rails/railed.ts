import type { AgentId, AttemptId, RunId, ScheduleId, SessionKey } from '../../domain/ids.ts'
import type { GuardRails } from './guard-rails.ts'

/** From which run something comes: what woke it, what woke that, and so on. */
export interface Lineage {
  /** The first of them. */
  readonly root: RunId
  /** How many runs are above; what a run makes that nothing of ours woke has 1. */
  readonly depth: number
  /** The schedules of the runs above. */
  readonly schedules: readonly ScheduleId[]
}

/** The attempt that a short-lived key belongs to, and the run it is an attempt of. */
export interface RailedAttempt {
  readonly id: AttemptId
  readonly runId: RunId
  readonly agentId: AgentId
  readonly sessionKey: SessionKey | null
  readonly scheduleId: ScheduleId | null
  /** Where the run comes from; null: nothing of ours woke it. */
  readonly lineage: Lineage | null
}

/** Somebody whose key has guard rails. */
export interface Railed {
  readonly rails: GuardRails
  /** Whose everything is that it makes: the key's, or the agent's, so that what it made yesterday is its own today. */
  readonly owner: string
  /** Null: an ordinary key. */
  readonly attempt: RailedAttempt | null
}

/** The owner of what an agent makes by itself. */
export const ownerOfAgent = (id: AgentId): string => `agent:${id}`

/** The owner that somebody's lists and looks are confined to; null: the whole org is open to them. */
export const confinedTo = (railed: Railed | undefined): string | null =>
  railed?.rails.ownSchedulesOnly === true ? railed.owner : null

/** Whether a conversation is somebody's own: the one the attempt is part of, or one below a name that nobody else has. */
export function isOwnSession({ owner, attempt }: Railed, key: SessionKey): boolean {
  if (attempt === null) return isBelow(key, /^agent:[^:]+:key:/, owner)
  return key === attempt.sessionKey || isBelow(key, /^agent:/, `${attempt.agentId}:self`)
}

/** Where own conversations of somebody are, for whoever is told that another is not. */
export const ownSessionsOf = ({ owner, attempt }: Railed): string =>
  attempt === null ? `agent:<agent>:key:${owner}` : `agent:${attempt.agentId}:self`

function isBelow(key: SessionKey, start: RegExp, name: string): boolean {
  const [head] = start.exec(key) ?? []
  if (head === undefined) return false
  const rest = key.slice(head.length)
  return rest === name || rest.startsWith(`${name}:`)
}

/** The schedules that a run of the attempt comes from, its own among them. */
export const schedulesAbove = ({ scheduleId, lineage }: RailedAttempt): readonly ScheduleId[] =>
  scheduleId === null ? (lineage?.schedules ?? []) : [...(lineage?.schedules ?? []), scheduleId]

/** The lineage of what an attempt makes. */
export const lineageBelow = (attempt: RailedAttempt): Lineage => ({
  root: attempt.lineage?.root ?? attempt.runId,
  depth: (attempt.lineage?.depth ?? 0) + 1,
  schedules: [...new Set(schedulesAbove(attempt))],
})
