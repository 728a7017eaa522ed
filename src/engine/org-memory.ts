import type { OrgId } from '../core/ids.ts'
import { findFirstTurnSince, findTurnsAfter } from '../service/turn/lookups.ts'
import { loadMemory } from '../service/turn/recall.ts'
import { publish } from './node.ts'
import type { NodeParts } from './node-parts.ts'

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
export async function publishMissed(
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
