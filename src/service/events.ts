import { runId, type OrgId } from '../domain/ids.ts'
import type { Instant } from '../domain/instant.ts'
import { loadRunOwners } from '../store/run-reads.ts'
import { loadTurnsAfter, loadVersion, loadVersions } from '../engine/transaction/history-store.ts'
import type { RunOwners } from './live-port.ts'
import type { Ports } from './ports.ts'

type Reading = Pick<Ports, 'database'>

/** What a turn says happened: kind, subject, data. */
export type Happened = readonly [kind: string, subject: string, data: Readonly<Record<string, unknown>>]

/** A turn of an org, as it is told. */
export interface ToldTurn {
  /** Counted per org, without gaps. */
  readonly no: number
  readonly at: Instant
  readonly events: readonly Happened[]
}

/** The turns of an org after a number that are still on record, oldest first. */
export const readHistory = (
  { database }: Reading,
  asked: { readonly orgId: OrgId; readonly after: number; readonly limit: number },
): Promise<readonly ToldTurn[]> => loadTurnsAfter(database, asked)

/** The newest turn of an org; 0 before the first. */
export const readVersion = async ({ database }: Reading, orgId: OrgId): Promise<number> =>
  (await loadVersion(database, orgId)).version

/** The newest turn of every org. */
export const readVersions = ({ database }: Reading): Promise<ReadonlyMap<OrgId, number>> => loadVersions(database)

/** Whose runs these are; those that are gone are left out. */
export const readOwners = (
  { database }: Reading,
  asked: { readonly orgId: OrgId; readonly ids: readonly string[] },
): Promise<ReadonlyMap<string, RunOwners>> =>
  loadRunOwners(database, { orgId: asked.orgId, ids: asked.ids.map((id) => runId(id)) })
