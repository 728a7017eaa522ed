import type { OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import type { Why } from '../domain/reasons.ts'
import type { Database } from '../store/database.ts'
import { exchangeScans, type ScanRow } from '../features/nodes/store.ts'
import { saveAlertAtOnce } from './alert-messages.ts'
import { tellAlert } from './desk/alerts.ts'
import type { Work } from './turn-port.ts'

export type { ScanRow } from '../features/nodes/store.ts'

/** The engine of a node stands still, or does no more. */
export interface Stall {
  readonly change: 'raised' | 'cleared'
  readonly id: string
  readonly nodeId: string
  readonly why: Why
}

const named = ({ change, id, nodeId, why }: Stall) =>
  ({ change, id, kind: 'engine_stalled', subjectKind: 'node', subjectId: nodeId, about: nodeId, why }) as const

/** Says when a node last looked at what is due, and reads when all did. */
export const watchScans = (
  database: Database,
  mine: { readonly nodeId: string; readonly scannedAt: Instant | null; readonly orgId: OrgId },
): Promise<{ readonly now: Instant | null; readonly rows: readonly ScanRow[] }> => exchangeScans(database, mine)

/** Puts it on record and on its way to the targets of alerts. False: somebody else was faster. */
export const saveStall = (
  database: Database,
  orgId: OrgId,
  { stall, now }: { readonly stall: Stall; readonly now: Instant },
): Promise<boolean> => saveAlertAtOnce(database, orgId, { change: named(stall), now })

/** Tells who watches of what is on record. */
export const tellStall = (orgId: OrgId, stall: Stall): Work<void> => ({
  orgId,
  apply: (desk) => {
    tellAlert(desk, named(stall))
  },
})
