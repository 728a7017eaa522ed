import type { OrgId } from '../core/ids.ts'
import { earlier, instant } from '../core/instant.ts'
import { findChanged, findOrgsWithPending, findPendingOrgs, findVersionsOf } from '../service/turn/lookups.ts'
import type { NodeParts } from './node-parts.ts'
import { publishMissed } from './org-memory.ts'

/** A turn becomes visible when it commits, so long after its time at most. */
const LATE_COMMIT_MS = 30_000

/** How often the orgs that are loaded are compared with what is on record, whatever was heard of them. */
const COMPARE_EVERY_MS = 30_000

/** Orgs are looked for in pages of this many. */
const PAGE = 1_000

/** Finds the orgs that have changed since the last look, by the time of their turns, and takes the changes in. */
export async function lookForChanges(parts: NodeParts): Promise<void> {
  const { clock } = parts.ctx
  const { looks } = parts.state
  const now = clock.now()
  // After a clock was set back, turns are written with earlier times again.
  const from = instant(Math.min(now, looks.changesAt ?? now))
  const changed = await findChanged(parts.control, earlier(from, LATE_COMMIT_MS))
  parts.health.answered()
  looks.changesAt = now
  await takeChanges(parts, changed)
}

/** Compares every org that is loaded with what is on record, now and then. */
export async function compareLoaded(parts: NodeParts): Promise<void> {
  const { looks } = parts.state
  const counter = parts.ctx.clock.counter()
  if (counter < looks.compareAt) return
  looks.compareAt = counter + COMPARE_EVERY_MS
  const versions = await findVersionsOf(parts.control, [...parts.offices.keys()])
  for (const [orgId, version] of versions) {
    const office = parts.offices.get(orgId)
    if (office !== undefined && office.memory()?.version !== version) office.wake()
  }
}

/** Takes in that orgs have changed: those that are loaded catch up, others are loaded only if something is pending. */
export async function takeChanges(parts: NodeParts, changed: ReadonlyMap<OrgId, number>): Promise<void> {
  const unloaded: OrgId[] = []
  for (const [orgId, version] of changed) {
    const office = parts.offices.get(orgId)
    if (office !== undefined) {
      if ((office.memory()?.version ?? -1) < version) office.wake()
    } else if ((parts.published.get(orgId) ?? -1) < version) unloaded.push(orgId)
  }
  if (unloaded.length === 0) return
  const pending = await findOrgsWithPending(parts.control, unloaded)
  for (const orgId of unloaded)
    if (pending.has(orgId)) parts.wakes.add(orgId)
    else await publishMissed(parts, parts.control, { orgId, version: changed.get(orgId) ?? 0 })
}

/** Loads the orgs in which something is pending, once, when the node has come. */
export async function loadPendingOrgs(parts: NodeParts): Promise<void> {
  const { looks } = parts.state
  while (looks.pendingAfter !== null) {
    const found = await findPendingOrgs(parts.control, { after: looks.pendingAfter, limit: PAGE })
    parts.health.answered()
    for (const orgId of found) parts.wakes.add(orgId)
    looks.pendingAfter = found.length < PAGE ? null : (found.at(-1) ?? null)
  }
}
