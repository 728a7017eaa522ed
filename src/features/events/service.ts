import { runId, type OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import { loadRunOwners } from '../runs/read-store.ts'
import { loadTransactionsAfter, loadVersion, loadVersions } from '../../engine/transaction/history-store.ts'
import type { RunOwners } from '../../engine/live-port.ts'
import type { Ports } from '../../engine/ports.ts'

type EventPorts = Pick<Ports, 'database'>

/** An event of a transaction: kind, subject, data. */
export type EventEntry = readonly [kind: string, subject: string, data: Readonly<Record<string, unknown>>]

/** A transaction of an org with its events. */
export interface TransactionEvents {
  /** Sequence number within the org, without gaps. */
  readonly no: number
  readonly at: Instant
  readonly events: readonly EventEntry[]
}

/** The stored transactions of an org after a number, oldest first. */
export const readHistory = (
  { database }: EventPorts,
  query: { readonly orgId: OrgId; readonly after: number; readonly limit: number },
): Promise<readonly TransactionEvents[]> => loadTransactionsAfter(database, query)

/** The number of an org's newest transaction; 0 before the first. */
export const readVersion = async ({ database }: EventPorts, orgId: OrgId): Promise<number> =>
  (await loadVersion(database, orgId)).version

/** The numbers of the newest transactions of all orgs. */
export const readVersions = ({ database }: EventPorts): Promise<ReadonlyMap<OrgId, number>> => loadVersions(database)

/** The owners of runs; runs that are not stored are left out. */
export const readOwners = (
  { database }: EventPorts,
  query: { readonly orgId: OrgId; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, RunOwners>> =>
  loadRunOwners(database, { orgId: query.orgId, ids: query.ids.map((id) => runId(id)) })
