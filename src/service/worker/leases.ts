import type { AgentId, OrgId } from '../../core/ids.ts'
import { later, type Instant } from '../../core/instant.ts'
import { readClock } from '../../store/clock.ts'
import type { Connection } from '../../store/database.ts'
import { declareWorkersLost, loadWorkers, renewWorkers, type WorkerRow } from '../../store/workers.ts'

/** A worker, as far as nodes have to know it. */
export interface SeenWorker {
  readonly orgId: OrgId
  readonly id: string
  readonly agents: readonly (AgentId | string)[]
  readonly capacity: number
  readonly draining: boolean
}

/** Every worker on record, and the present by the same clock. */
export async function lookAtWorkers(
  connection: Connection,
): Promise<{ readonly now: Instant; readonly workers: readonly WorkerRow[] }> {
  const now = await readClock(connection)
  return { now, workers: await loadWorkers(connection) }
}

/** Declares workers lost whose lease nobody renews. Only those it answers with may be taken for dead. */
export const loseWorkers = (
  connection: Connection,
  seen: readonly Pick<WorkerRow, 'id' | 'leaseUntil'>[],
): Promise<readonly string[]> => declareWorkersLost(connection, seen)

/** Renews the leases of workers that are known to be there: they wait at this node. */
export async function renewWaiting(connection: Connection, ids: readonly string[], leaseMs: number): Promise<void> {
  if (ids.length === 0) return
  const now = await readClock(connection)
  await renewWorkers(connection, { ids, leaseUntil: later(now, leaseMs) })
}
