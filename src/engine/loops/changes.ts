import type { OrgId } from '../../domain/ids.ts'
import { earlier, instant } from '../../domain/instant.ts'
import type { NodeParts } from '../node-parts.ts'
import { publish } from '../node.ts'
import type { OrgActor } from '../org-actor.ts'
import { loadOrgState } from '../org-state/load.ts'
import { isAtVersion } from '../transaction/catch-up.ts'
import {
  findChanged,
  findFirstTransactionSince,
  findOrgsWithPending,
  findPendingOrgs,
  findTransactionsAfter,
  findVersionsOf,
} from '../transaction/reads.ts'

/** An org that is idle at two checks in a row, this far apart, is unloaded. */
const IDLE_CHECK_MS = 120_000

/** Unloads orgs without pending runs in which nothing has happened for minutes. They are loaded again on demand. */
export function dropIdleOrgs(parts: NodeParts): void {
  const { looks: queryProgress } = parts.state
  const counter = parts.ctx.clock.counter()
  if (counter < queryProgress.idleAt) return
  queryProgress.idleAt = counter + IDLE_CHECK_MS
  const idle = new Map<OrgActor['orgId'], number>()
  for (const actor of parts.actors.values()) {
    if (!isEmpty(actor)) continue
    const version = actor.loaded()?.version ?? 0
    if (queryProgress.idle.get(actor.orgId) === version) drop(parts, actor)
    else idle.set(actor.orgId, version)
  }
  queryProgress.idle = idle
}

/** The node's lanes, executors or settings have changed: orgs with pending runs are updated, the others unloaded. */
export function refreshOrgs(parts: NodeParts): void {
  for (const actor of parts.actors.values())
    if (isEmpty(actor)) drop(parts, actor)
    else actor.refresh()
}

/** No run is pending, and no transaction is requested or scheduled. */
function isEmpty(actor: OrgActor): boolean {
  const { runs, backlog } = actor.loaded()?.state ?? {}
  return actor.isIdle() && (runs?.size ?? 0) + (backlog?.count ?? 0) === 0
}

function drop(parts: NodeParts, { orgId }: OrgActor): void {
  parts.actors.delete(orgId)
  parts.ready.delete(orgId)
  parts.lanes.forget(orgId)
}

/** A transaction becomes visible when it commits, at most this long after its time. */
const LATE_COMMIT_MS = 30_000

/** How often loaded orgs are compared with the database, independent of notifications. */
const COMPARE_MS = 30_000

/** Orgs per query. */
const ORGS_PER_PAGE = 1_000

/**
 * Finds the orgs that have changed since the last pass, by the times of their transactions, and applies the changes.
 */
export async function applyChangedOrgs(parts: NodeParts): Promise<void> {
  const { clock } = parts.ctx
  const { looks: queryProgress } = parts.state
  const now = clock.now()
  // After a clock was set back, transactions are written with earlier times again.
  const from = instant(Math.min(now, queryProgress.changesAt ?? now))
  const changed = await findChanged(parts.control, earlier(from, LATE_COMMIT_MS))
  parts.health.answered()
  queryProgress.changesAt = now
  wakeDiffering(parts, changed)
  await applyToUnloaded(parts, new Map([...changed].map(([orgId, { version }]) => [orgId, version])))
}

/** Compares every loaded org with the database, periodically and after an outage. */
export async function compareLoaded(parts: NodeParts): Promise<void> {
  const { looks: queryProgress } = parts.state
  const counter = parts.ctx.clock.counter()
  if (counter < queryProgress.compareAt) return
  queryProgress.compareAt = counter + COMPARE_MS
  const loaded = [...parts.actors.keys()]
  for (let from = 0; from < loaded.length; from += ORGS_PER_PAGE)
    wakeDiffering(parts, await findVersionsOf(parts.control, loaded.slice(from, from + ORGS_PER_PAGE)))
}

/**
 * Wakes the loaded orgs whose newest transaction differs from the known one: later, earlier, or another with its
 * number.
 */
function wakeDiffering(parts: NodeParts, versions: Awaited<ReturnType<typeof findVersionsOf>>): void {
  for (const [orgId, version] of versions) {
    const actor = parts.actors.get(orgId)
    const org = actor?.loaded() ?? null
    if (org === null || !isAtVersion(org, version)) actor?.wake()
  }
}

/**
 * Applies changes that other nodes announce: loaded orgs catch up, others are loaded only if they have pending runs.
 */
export async function applyAnnounced(parts: NodeParts, changed: ReadonlyMap<OrgId, number>): Promise<void> {
  for (const [orgId, version] of changed) {
    const actor = parts.actors.get(orgId)
    if ((actor?.loaded()?.version ?? -1) < version) actor?.wake()
  }
  await applyToUnloaded(parts, changed)
}

async function applyToUnloaded(parts: NodeParts, changed: ReadonlyMap<OrgId, number>): Promise<void> {
  const unloaded: OrgId[] = []
  for (const [orgId, version] of changed)
    if (!parts.actors.has(orgId) && (parts.published.get(orgId) ?? -1) < version) unloaded.push(orgId)
  if (unloaded.length === 0) return
  const pending = await findOrgsWithPending(parts.control, unloaded)
  for (const orgId of unloaded)
    if (pending.has(orgId)) parts.wakes.add(orgId)
    else await publishMissed(parts, parts.control, { orgId, version: changed.get(orgId) ?? 0 })
}

/** Loads the orgs that have pending runs, when the node starts and after an outage. */
export async function wakePendingOrgs(parts: NodeParts): Promise<void> {
  const { looks: queryProgress } = parts.state
  while (queryProgress.pendingAfter !== null) {
    const after: string = queryProgress.pendingAfter
    const found = await findPendingOrgs(parts.control, { after, limit: ORGS_PER_PAGE })
    for (const orgId of found) if (!parts.actors.has(orgId)) parts.wakes.add(orgId)
    // An outage in the meantime restarts the search.
    if (queryProgress.pendingAfter === after)
      queryProgress.pendingAfter = found.length < ORGS_PER_PAGE ? null : (found.at(-1) ?? null)
    parts.health.answered()
  }
}

type ReadConnection = NodeParts['ctx']['database']

/** Loads an org and publishes its transactions since the last published one. */
export async function loadAndPublish(
  parts: NodeParts,
  reads: ReadConnection,
  orgId: OrgId,
): Promise<Awaited<ReturnType<typeof loadOrgState>>> {
  const org = await loadOrgState(reads, parts.capabilities, orgId)
  await publishMissed(parts, reads, { orgId, version: org.version })
  return org
}

/**
 * Publishes the transactions of an org up to a version, page by page, starting after the last published one. Where
 * transactions are missing, the listeners are told to query the database.
 */
async function publishMissed(
  parts: NodeParts,
  reads: ReadConnection,
  { orgId, version }: { readonly orgId: OrgId; readonly version: number },
): Promise<void> {
  const lastPublished = parts.published.get(orgId) ?? (await firstToPublish(parts, reads, { orgId, version }))
  if (lastPublished > version) {
    // The database was restored, as from a backup: transaction numbers are used again.
    parts.published.set(orgId, version)
    announceGap(parts)
    return
  }
  let after = lastPublished
  while (after < version) {
    const turns = await findTransactionsAfter(reads, orgId, after)
    if (turns[0]?.no !== after + 1) announceGap(parts)
    for (const transaction of turns) if (transaction.no <= version) publish(parts, orgId, transaction)
    after = turns.at(-1)?.no ?? version
  }
  if ((parts.published.get(orgId) ?? -1) < version) parts.published.set(orgId, version)
}

/** For an org without published transactions, nothing before this node joined is published. */
async function firstToPublish(
  { state }: NodeParts,
  reads: ReadConnection,
  { orgId, version }: { readonly orgId: OrgId; readonly version: number },
): Promise<number> {
  if (state.joinedAt === null) return version
  const first = await findFirstTransactionSince(reads, { orgId, since: state.joinedAt })
  return first === null ? version : Math.min(version, first - 1)
}

function announceGap(parts: NodeParts): void {
  for (const look of [...parts.gapListeners]) look()
}
