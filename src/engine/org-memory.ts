import type { OrgId } from '../core/ids.ts'
import { findTurnsAfter } from '../service/turn/lookups.ts'
import { loadMemory } from '../service/turn/recall.ts'
import { publish } from './node.ts'
import type { NodeParts } from './node-parts.ts'

/** Loads an org, and hands on what happened in it since it was last heard of. */
export async function loadOrgMemory(
  parts: NodeParts,
  reads: NodeParts['ctx']['database'],
  orgId: OrgId,
): Promise<Awaited<ReturnType<typeof loadMemory>>> {
  const memory = await loadMemory(reads, parts.facts, orgId)
  const heard = parts.published.get(orgId)
  if (heard !== undefined && heard < memory.version)
    for (const turn of await findTurnsAfter(reads, orgId, heard))
      if (turn.no <= memory.version) publish(parts, orgId, turn)
  return memory
}
