import type { AgentId, OrgId, TargetId } from '../../domain/ids.ts'
import type { Instant } from '../../domain/instant.ts'
import {
  loadChangedOrgs,
  loadFirstTransactionSince,
  loadOrgsWithPending,
  loadPendingOrgs,
  loadTransactionsAfter,
  loadVersionsOf,
  notifyAll,
  type TransactionRow,
} from './history-store.ts'
import { type IdempotencyKey, type IdempotencyRow, loadIdempotencies } from './idempotency-store.ts'
import { loadOrg, type OrgRow } from '../../features/access/orgs-store.ts'
import { type AgentRow, loadAgents } from '../../features/agents/store.ts'
import {
  countSchedules,
  type DueOfOrg,
  type DueWindow,
  loadDueSchedules,
  loadNextDueTime,
} from '../../features/schedules/store.ts'
import { loadTargets, type TargetRow } from '../../features/targets/store.ts'
import type { Connection, Transaction } from '../../platform/db/database.ts'

/** Maximum number of due schedules per pass. */
const MAX_DUE_SCHEDULES = 1_000

interface DueSchedules {
  readonly byOrg: ReadonlyMap<OrgId, DueOfOrg>
  /** There may be more. */
  readonly more: boolean
}

/**
 * The schedules whose next occurrence is due, longest overdue first. None is due before `since`: without it each query
 * would walk over every entry that has passed since the last vacuum.
 */
export async function findDue(connection: Connection, window: DueWindow, now: Instant): Promise<DueSchedules> {
  const byOrg = await loadDueSchedules(connection, { ...window, now, limit: MAX_DUE_SCHEDULES })
  let found = 0
  for (const { ids } of byOrg.values()) found += ids.length
  return { byOrg, more: found >= MAX_DUE_SCHEDULES }
}

/** The earliest next occurrence of any schedule. */
export const findNextOccurrence = loadNextDueTime

/** The orgs that have transactions since a time, with their versions. */
export const findChanged = loadChangedOrgs

/** Queries of loops over many orgs. */
export const findFirstTransactionSince = loadFirstTransactionSince
export const findOrgsWithPending = loadOrgsWithPending
export const findPendingOrgs = loadPendingOrgs
export const findVersionsOf = loadVersionsOf

/** Notifies other nodes on a channel. */
export const notifyNodes = notifyAll

/** The history of an org after a transaction; at most a thousand rows. */
export const findTransactionsAfter = (
  connection: Connection,
  orgId: OrgId,
  after: number,
): Promise<readonly TransactionRow[]> => loadTransactionsAfter(connection, { orgId, after, limit: 1_000 })

/**
 * Rows that the commands of one transaction read beyond the org state. Each is read once for all of them: under the
 * org's lock it does not change, because a command that writes such rows has a transaction of its own.
 */
export interface TransactionReads {
  readonly org: () => Promise<OrgRow | undefined>
  readonly agent: (id: AgentId) => Promise<AgentRow | undefined>
  readonly target: (id: TargetId) => Promise<TargetRow | undefined>
  /** How many schedules the org has. */
  readonly schedules: () => Promise<number>
  /** The valid binding of a key, if any. Requests of the same tick share one query. */
  readonly binding: (key: BindingKey) => Promise<IdempotencyRow | undefined>
}

/** A key within the org. */
type BindingKey = Omit<IdempotencyKey, 'orgId'>

/** The name of a key within its org. No part of it can contain the separator. */
export const bindingName = ({ principal, route, key }: BindingKey): string => [principal, route, key].join('\u0000')

/** Reads for one transaction. `since`: older bindings have expired. */
export function createTransactionReads(tx: Transaction, orgId: OrgId, since: Instant): TransactionReads {
  let org: Promise<OrgRow | undefined> | null = null
  let schedules: Promise<number> | null = null
  return {
    org: () => (org ??= loadOrg(tx, orgId)),
    agent: cachedReads(async (id) => (await loadAgents(tx, { orgId, ids: [id] }))[0]),
    target: cachedReads(async (id) => (await loadTargets(tx, { orgId, ids: [id] }))[0]),
    schedules: () => (schedules ??= countSchedules(tx, { orgId })),
    binding: batchedReads((keys) => loadIdempotencies(tx, { orgId, keys, since })),
  }
}

function cachedReads<Id, Found>(load: (id: Id) => Promise<Found>): (id: Id) => Promise<Found> {
  const known = new Map<Id, Promise<Found>>()
  return (id) => {
    const found = known.get(id) ?? load(id)
    known.set(id, found)
    return found
  }
}

function batchedReads(
  load: (keys: readonly BindingKey[]) => Promise<readonly IdempotencyRow[]>,
): TransactionReads['binding'] {
  let requested: BindingKey[] = []
  let loading: Promise<ReadonlyMap<string, IdempotencyRow>> | null = null
  const loadRequested = async (): Promise<ReadonlyMap<string, IdempotencyRow>> => {
    // Requests of the same tick are added to the list first.
    await Promise.resolve()
    const keys = requested
    requested = []
    loading = null
    return new Map((await load(keys)).map((row) => [bindingName(row), row]))
  }
  return async (key) => {
    requested.push(key)
    loading ??= loadRequested()
    return (await loading).get(bindingName(key))
  }
}
