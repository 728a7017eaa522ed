import type { AgentId } from '../../domain/ids.ts'

/**
 * What workers perform. The runs of each such agent wait in a line of their own instead of a lane: no node ever offers
 * slots of it, and a worker offers what it has declared.
 */
const WORKER_KEY = 'worker:'

/** What has to be connected for runs of the agent to start. */
export const workerKeyOf = (id: AgentId): string => `${WORKER_KEY}${id}`

/** Whether what can execute it is a worker. */
export const isWorkerKey = (executorKey: string): boolean => executorKey.startsWith(WORKER_KEY)

/** What ids of workers begin with; those of nodes begin otherwise, and a run is held by one or the other. */
const WORKER_ID_PREFIX = 'wrk_'

/** Whether who holds a run is a worker and no node. */
export const isWorkerId = (holder: string): boolean => holder.startsWith(WORKER_ID_PREFIX)
