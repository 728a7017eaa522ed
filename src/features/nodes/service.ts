import type { OrgId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Why } from '../../domain/reasons.ts'
import type { Command } from '../../engine/commands-port.ts'
import { publishAlert } from '../../engine/commands/alerts.ts'
import type { Ports } from '../../engine/ports.ts'
import { saveAlertImmediately } from '../alerts/service.ts'
import type { NodeView } from './schema.ts'
import { exchangeScans, loadNodes, type NodeRow, type ScanRow } from './store.ts'
import { formatInstantOrNull } from '../schedules/view.ts'
import type { Database } from '../../platform/db/database.ts'

export type { ScanRow } from './store.ts'

/** A change of the alert about a stalled engine. */
export interface EngineStall {
  readonly change: 'raised' | 'cleared'
  readonly id: string
  readonly nodeId: string
  readonly why: Why
}

const stallAlert = ({ change, id, nodeId, why }: EngineStall) =>
  ({ change, id, kind: 'engine_stalled', subjectKind: 'node', subjectId: nodeId, about: nodeId, why }) as const

/** Stores when this node last scanned for due work, and reads the times of all nodes. */
export const watchScans = (
  database: Database,
  own: { readonly nodeId: string; readonly scannedAt: Instant | null; readonly orgId: OrgId },
): Promise<{ readonly now: Instant | null; readonly rows: readonly ScanRow[] }> => exchangeScans(database, own)

/** Stores the alert and queues it for the alert targets. False: another node has done it already. */
export const saveStallAlert = (
  database: Database,
  orgId: OrgId,
  { stall, now }: { readonly stall: EngineStall; readonly now: Instant },
): Promise<boolean> => saveAlertImmediately(database, orgId, { change: stallAlert(stall), now })

/** Creates the command that publishes the stored alert as an event. */
export const stallEventCommand = (orgId: OrgId, stall: EngineStall): Command<void> => ({
  orgId,
  apply: (state) => {
    publishAlert(state, stallAlert(stall))
  },
})

/** The API view of a node. */
const viewNode = (node: NodeRow, now: Instant): NodeView => ({
  id: node.id,
  started_at: formatInstant(node.startedAt),
  lease_until: formatInstant(node.leaseUntil),
  alive: !node.lost && node.leaseUntil > now,
  draining: node.draining,
  executors: node.executors,
  scanned_at: formatInstantOrNull(node.scannedAt ?? null),
})

/** Lists all nodes, oldest first. */
export async function findNodes({ database, clock }: Pick<Ports, 'database' | 'clock'>): Promise<readonly NodeView[]> {
  const nodes = await loadNodes(database)
  const now = clock.now()
  return nodes.map((node) => viewNode(node, now))
}
