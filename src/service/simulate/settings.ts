import { loadNodes } from '../../store/nodes.ts'
import { readLaneSizes } from '../lanes.ts'
import type { Ports } from '../ports.ts'

/**
 * The settings under which the deployment works, in the names of the configuration. Lanes are those of all nodes that
 * live together: whoever simulates has one.
 */
export async function settingsFor(
  ports: Pick<Ports, 'database' | 'settings' | 'clock'>,
): Promise<Readonly<Record<string, unknown>>> {
  const { schedules, node, sessions } = ports.settings()
  const now = ports.clock.now()
  const alive = (await loadNodes(ports.database)).filter(
    ({ leaseUntil, lost, draining }) => leaseUntil > now && !lost && !draining,
  ).length
  const nodes = Math.max(1, alive)
  const lanes = await readLaneSizes(ports)
  return {
    lanes: Object.fromEntries([...lanes].map(([name, size]) => [name, size * nodes])),
    schedules: {
      misfire_grace_seconds: schedules.misfireGraceSeconds,
      catchup_window_seconds: schedules.catchupWindowSeconds,
      catchup_spacing_ms: schedules.catchupSpacingMs,
      catchup_max_active: schedules.catchupMaxActive * nodes,
    },
    node: { stop_grace_ms: node.stopGraceMs },
    sessions: { max_concurrent: sessions.maxConcurrent },
  }
}
