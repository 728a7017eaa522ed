import type { Instant } from '../domain/instant.ts'
import { later } from '../domain/instant.ts'
import { readClock } from '../platform/db/clock.ts'
import type { Connection } from '../store/database.ts'
import {
  declareLost,
  deleteNode,
  insertNode,
  lapseNodes,
  loadNodes,
  renewNode,
  type NodeRow,
  type SeenNode,
} from '../features/nodes/store.ts'

/** What a node says of itself. */
export interface NodeCard {
  readonly id: string
  readonly executors: readonly string[]
  readonly lanes: Readonly<Record<string, number>>
  readonly draining: boolean
  readonly program: string
  /** The keys it opens sealed texts with; left out: none. */
  readonly keyIds?: readonly string[] | undefined
}

/** Joins the deployment with a first lease. Answers with the present. */
export async function joinNodes(connection: Connection, card: NodeCard, leaseMs: number): Promise<Instant> {
  const now = await readClock(connection)
  await insertNode(connection, { ...card, startedAt: now, leaseUntil: later(now, leaseMs), lost: false })
  return now
}

/** Renews the lease. False: others have declared this node lost, and it holds nothing any more. */
export async function renewLease(connection: Connection, card: NodeCard, leaseMs: number): Promise<boolean> {
  const now = await readClock(connection)
  return renewNode(connection, { ...card, leaseUntil: later(now, leaseMs) })
}

/** Every node on record, and the present by the same clock. */
export async function lookAtNodes(
  connection: Connection,
): Promise<{ readonly now: Instant; readonly nodes: readonly NodeRow[] }> {
  const now = await readClock(connection)
  return { now, nodes: await loadNodes(connection) }
}

/** Declares nodes lost whose lease nobody renews. Only those it answers with may be taken for dead. */
export const declareNodesLost = (connection: Connection, seen: readonly SeenNode[]): Promise<readonly string[]> =>
  declareLost(connection, seen)

/** Leaves the deployment. What it still holds is settled by whoever finds no such node. */
export const leaveNodes = (connection: Connection, id: string): Promise<void> => deleteNode(connection, id)

/** Nobody else can be alive, so no lease has to be waited for: the nodes of an earlier process are lost at once. */
export async function loseEarlierNodes(connection: Connection): Promise<readonly string[]> {
  const now = await readClock(connection)
  await lapseNodes(connection, { now, except: [] })
  return declareLost(connection, await loadNodes(connection))
}
