import { type Instant, later } from '../../domain/instant.ts'
import { readClock } from '../../platform/db/clock.ts'
import type { Connection } from '../../platform/db/database.ts'
import {
  declareLost,
  deleteNode,
  insertNode,
  lapseNodes,
  loadNodes,
  renewNode,
  type NodeRow,
  type ObservedNode,
} from './store.ts'

/** The properties a node publishes about itself. */
export interface NodeInfo {
  readonly id: string
  readonly executors: readonly string[]
  readonly lanes: Readonly<Record<string, number>>
  readonly draining: boolean
  readonly program: string
  /** Ids of the keys it can decrypt secrets with. Omitted: none. */
  readonly keyIds?: readonly string[] | undefined
}

/** Adds a node to the deployment with a first lease. Returns the current time. */
export async function joinDeployment(connection: Connection, info: NodeInfo, leaseMs: number): Promise<Instant> {
  const now = await readClock(connection)
  await insertNode(connection, { ...info, startedAt: now, leaseUntil: later(now, leaseMs), lost: false })
  return now
}

/** Renews the lease. False: another node has declared this one lost, and it holds no attempts any more. */
export async function renewLease(connection: Connection, info: NodeInfo, leaseMs: number): Promise<boolean> {
  const now = await readClock(connection)
  return renewNode(connection, { ...info, leaseUntil: later(now, leaseMs) })
}

/** Loads all nodes, and the current time by the same clock. */
export async function lookAtNodes(
  connection: Connection,
): Promise<{ readonly now: Instant; readonly nodes: readonly NodeRow[] }> {
  const now = await readClock(connection)
  return { now, nodes: await loadNodes(connection) }
}

/** Declares nodes lost whose leases have lapsed. Only the returned ones are lost; others may have renewed meanwhile. */
export const declareLapsedLost = (connection: Connection, nodes: readonly ObservedNode[]): Promise<readonly string[]> =>
  declareLost(connection, nodes)

/** Removes a node from the deployment. Other nodes settle the attempts it still holds. */
export const leaveDeployment = (connection: Connection, id: string): Promise<void> => deleteNode(connection, id)

/** Declares all nodes lost at once, without waiting for leases, when no other process can be running. */
export async function declareAllLost(connection: Connection): Promise<readonly string[]> {
  const now = await readClock(connection)
  await lapseNodes(connection, { now, except: [] })
  return declareLost(connection, await loadNodes(connection))
}
