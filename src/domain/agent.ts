import { agentId, type AgentId, type ScheduleId } from './ids.ts'
import { INLINE_EXECUTOR_KINDS } from '../executors/kinds.ts'

/** The id of the implicit agent of a schedule with an inline executor. Ids chosen by users never have this form. */
export const inlineAgentId = (kind: string, scheduleId: ScheduleId): AgentId => agentId(`inline:${kind}:${scheduleId}`)

/** The executor kind of an implicit agent; null for any other agent. */
export function inlineKindOf(id: string): string | null {
  const [word, kind, schedule] = id.split(':')
  if (word !== 'inline' || schedule === undefined) return null
  return INLINE_EXECUTOR_KINDS.find((known) => known === kind) ?? null
}

/**
 * Prefix of the executor keys of agents that workers execute. Each of these agents has its own queue instead of a lane:
 * nodes have no slots for it, and each worker offers its declared capacity.
 */
const WORKER_KEY = 'worker:'

/** The executor key of an agent that workers execute. */
export const workerKeyOf = (id: AgentId): string => `${WORKER_KEY}${id}`

/** Whether the executor key is of an agent that workers execute. */
export const isWorkerKey = (executorKey: string): boolean => executorKey.startsWith(WORKER_KEY)

/** Prefix of worker ids, which distinguishes them from node ids: a run is leased by a worker or a node. */
const WORKER_ID_PREFIX = 'wrk_'

/** Whether the lease holder of a run is a worker, not a node. */
export const isWorkerId = (holder: string): boolean => holder.startsWith(WORKER_ID_PREFIX)
