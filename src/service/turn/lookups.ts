import type { OrgId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import type { Connection } from '../../store/database.ts'
import { type DueOfOrg, type DueWindow, loadDueSchedules, loadNextMoment } from '../../store/schedules.ts'
import {
  loadChangedOrgs,
  loadFirstTurnSince,
  loadOrgsWithPending,
  loadPendingOrgs,
  loadTurnsAfter,
  loadVersionsOf,
  notifyAll,
  type TurnRow,
} from '../../engine/transaction/history-store.ts'

/** Due schedules are decided in batches of this many. */
const BATCH = 1_000

export interface DueSchedules {
  readonly byOrg: ReadonlyMap<OrgId, DueOfOrg>
  /** There are more than these. */
  readonly more: boolean
}

/**
 * The schedules whose next moment has come, longest overdue first. Nothing is left before `since`: without it each look
 * would walk over every moment that has passed since the last vacuum.
 */
export async function findDue(connection: Connection, window: DueWindow, now: Instant): Promise<DueSchedules> {
  const byOrg = await loadDueSchedules(connection, { ...window, now, limit: BATCH })
  let found = 0
  for (const { ids } of byOrg.values()) found += ids.length
  return { byOrg, more: found >= BATCH }
}

/** The earliest next moment of any schedule. */
export const findNextMoment = loadNextMoment

/** The orgs that have turns from this time on, with their versions. */
export const findChanged = loadChangedOrgs

/** What loops ask about many orgs at once. */
export const findFirstTurnSince = loadFirstTurnSince
export const findOrgsWithPending = loadOrgsWithPending
export const findPendingOrgs = loadPendingOrgs
export const findVersionsOf = loadVersionsOf

/** Tells other nodes something on a channel. */
export const notifyNodes = notifyAll

/** The history of an org after a turn; at most a thousand turns at a time. */
export const findTurnsAfter = (connection: Connection, orgId: OrgId, after: number): Promise<readonly TurnRow[]> =>
  loadTurnsAfter(connection, { orgId, after, limit: 1_000 })
