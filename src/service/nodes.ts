import type { NodeView } from '../features/nodes/schema.ts'
import { formatInstant, type Instant } from '../domain/instant.ts'
import { loadNodes, type NodeRow } from '../features/nodes/store.ts'
import type { Ports } from './ports.ts'
import { momentOrNull } from './schedule-view.ts'

/** A node as the others see it. */
const viewNode = (node: NodeRow, now: Instant): NodeView => ({
  id: node.id,
  started_at: formatInstant(node.startedAt),
  lease_until: formatInstant(node.leaseUntil),
  alive: !node.lost && node.leaseUntil > now,
  draining: node.draining,
  executors: node.executors,
  scanned_at: momentOrNull(node.scannedAt ?? null),
})

/** All nodes on record, oldest first. */
export async function findNodes({ database, clock }: Pick<Ports, 'database' | 'clock'>): Promise<readonly NodeView[]> {
  const nodes = await loadNodes(database)
  const now = clock.now()
  return nodes.map((node) => viewNode(node, now))
}
