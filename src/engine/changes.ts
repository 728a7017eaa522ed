import type { OrgId } from '../core/ids.ts'
import { earlier, instant } from '../core/instant.ts'
import { isAt } from '../service/turn/catch-up.ts'
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
  wakeDiffering(parts, changed)
  await takeUnloaded(parts, new Map([...changed].map(([orgId, { version }]) => [orgId, version])))
}

/** Compares every org that is loaded with what is on record, now and then, and after the database was away. */
export async function compareLoaded(parts: NodeParts): Promise<void> {
  const { looks } = parts.state
  const counter = parts.ctx.clock.counter()
  if (counter < looks.compareAt) return
  looks.compareAt = counter + COMPARE_EVERY_MS
  const loaded = [...parts.offices.keys()]
  for (let from = 0; from < loaded.length; from += PAGE)
    wakeDiffering(parts, await findVersionsOf(parts.control, loaded.slice(from, from + PAGE)))
}

/** Wakes the loaded orgs whose newest turn is not the remembered one, be it later, earlier or another of that number. */
function wakeDiffering(parts: NodeParts, versions: Awaited<ReturnType<typeof findVersionsOf>>): void {
  for (const [orgId, version] of versions) {
    const office = parts.offices.get(orgId)
    const memory = office?.memory() ?? null
    if (memory === null || !isAt(memory, version)) office?.wake()
  }
}

/** Takes in what other nodes say of orgs: those that are loaded catch up, others are loaded only if something is pending. */
export async function takeChanges(parts: NodeParts, changed: ReadonlyMap<OrgId, number>): Promise<void> {
  for (const [orgId, version] of changed) {
    const office = parts.offices.get(orgId)
    if ((office?.memory()?.version ?? -1) < version) office?.wake()
  }
  await takeUnloaded(parts, changed)
}

async function takeUnloaded(parts: NodeParts, changed: ReadonlyMap<OrgId, number>): Promise<void> {
  const unloaded: OrgId[] = []
  for (const [orgId, version] of changed)
    if (!parts.offices.has(orgId) && (parts.published.get(orgId) ?? -1) < version) unloaded.push(orgId)
  if (unloaded.length === 0) return
  const pending = await findOrgsWithPending(parts.control, unloaded)
  for (const orgId of unloaded)
    if (pending.has(orgId)) parts.wakes.add(orgId)
    else await publishMissed(parts, parts.control, { orgId, version: changed.get(orgId) ?? 0 })
}

/** Loads the orgs in which something is pending, when the node has come and after the database was away. */
export async function loadPendingOrgs(parts: NodeParts): Promise<void> {
  const { looks } = parts.state
  while (looks.pendingAfter !== null) {
    const after: string = looks.pendingAfter
    const found = await findPendingOrgs(parts.control, { after, limit: PAGE })
    for (const orgId of found) if (!parts.offices.has(orgId)) parts.wakes.add(orgId)
    // Unless it has to begin again meanwhile.
    if (looks.pendingAfter === after) looks.pendingAfter = found.length < PAGE ? null : (found.at(-1) ?? null)
    parts.health.answered()
  }
}
