import type { OrgId } from '../domain/ids.ts'
import { earlier, instant } from '../domain/instant.ts'
import { isAt } from '../service/turn/catch-up.ts'
import {
  findChanged,
  findFirstTurnSince,
  findOrgsWithPending,
  findPendingOrgs,
  findTurnsAfter,
  findVersionsOf,
} from '../service/turn/lookups.ts'
import { loadMemory } from '../service/turn/recall.ts'
import { publish } from './node.ts'
import type { NodeParts } from './node-parts.ts'

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

type Reading = NodeParts['ctx']['database']

/** Loads an org, and hands on what happened in it since it was last heard of. */
export async function loadOrgMemory(
  parts: NodeParts,
  reads: Reading,
  orgId: OrgId,
): Promise<Awaited<ReturnType<typeof loadMemory>>> {
  const memory = await loadMemory(reads, parts.facts, orgId)
  await publishMissed(parts, reads, { orgId, version: memory.version })
  return memory
}

/**
 * Hands on the turns of an org that nobody here has heard of, up to a version, page by page. Where turns are missing,
 * those who wait for one of them are told to look at the record.
 */
async function publishMissed(
  parts: NodeParts,
  reads: Reading,
  { orgId, version }: { readonly orgId: OrgId; readonly version: number },
): Promise<void> {
  const heard = parts.published.get(orgId) ?? (await firstHeard(parts, reads, { orgId, version }))
  if (heard > version) {
    // The record was put back, as by a restored backup: its numbers are given out again.
    parts.published.set(orgId, version)
    tellGap(parts)
    return
  }
  let after = heard
  while (after < version) {
    const turns = await findTurnsAfter(reads, orgId, after)
    if (turns[0]?.no !== after + 1) tellGap(parts)
    for (const turn of turns) if (turn.no <= version) publish(parts, orgId, turn)
    after = turns.at(-1)?.no ?? version
  }
  if ((parts.published.get(orgId) ?? -1) < version) parts.published.set(orgId, version)
}

/** Of an org that was not heard of before, what happened before this node came is nobody's business here. */
async function firstHeard(
  { state }: NodeParts,
  reads: Reading,
  { orgId, version }: { readonly orgId: OrgId; readonly version: number },
): Promise<number> {
  if (state.joinedAt === null) return version
  const first = await findFirstTurnSince(reads, { orgId, since: state.joinedAt })
  return first === null ? version : Math.min(version, first - 1)
}

function tellGap(parts: NodeParts): void {
  for (const look of [...parts.gapHearers]) look()
}
