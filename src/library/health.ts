import type { Health } from '../features/nodes/schema.ts'
import { formatInstant } from '../domain/instant.ts'
import type { NodeParts } from '../engine/node-parts.ts'
import { isStalled } from '../engine/loops/stall.ts'

/** How a node is; null while there is none. */
export function healthOf(parts: NodeParts | null): Health {
  if (parts === null)
    return { ready: false, database: 'away', away_since: null, engine: 'up', draining: false, node_id: '' }
  const since = parts.health.awaySince()
  const stalled = isStalled(parts)
  return {
    ready: since === null && !parts.state.draining && !stalled,
    database: since === null ? 'up' : 'away',
    away_since: since === null ? null : formatInstant(since),
    engine: stalled ? 'stalled' : 'up',
    draining: parts.state.draining,
    node_id: parts.id(),
  }
}
