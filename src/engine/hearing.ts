import type { OrgId } from '../domain/ids.ts'
import { compareLoaded, lookForChanges, takeChanges } from './changes.ts'
import { distrustRecord } from './database-back.ts'
import type { NodeParts } from './node-parts.ts'
import { readChanges } from './loops/notifier.ts'

/** What the connection that listens hands on. */
export type Heard = Parameters<Parameters<NodeParts['ctx']['database']['listen']>[1]>[0]

/** What other nodes have said and nobody has taken in yet. */
export interface Hearing {
  /** Whether there is something to take in. */
  readonly hear: (heard: Heard) => boolean
  readonly takeIn: () => Promise<void>
}

export function createHearing(parts: NodeParts): Hearing {
  let changed = new Map<OrgId, number>()
  // Who said something did not say which orgs, or nobody could be heard for a while.
  let isVague = false
  return {
    hear: (heard) => {
      if (heard.kind === 'was_away') {
        distrustRecord(parts)
        isVague = true
        return true
      }
      const said = readChanges(heard.payload)
      if (said === null) isVague = true
      else if (said.nodeId === parts.id()) return false
      else for (const [orgId, no] of said.changed) changed.set(orgId, Math.max(no, changed.get(orgId) ?? 0))
      return true
    },
    takeIn: async () => {
      const [orgs, look] = [changed, isVague]
      changed = new Map()
      isVague = false
      if (orgs.size > 0) await takeChanges(parts, orgs)
      if (!look) return
      await lookForChanges(parts)
      await compareLoaded(parts)
    },
  }
}
