import type { OrgId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import { loadUnlostHolders } from '../../store/nodes.ts'
import type { Work } from '../turn-port.ts'
import type { Memory } from './memory.ts'
import { recoverWork } from './works.ts'

/**
 * Settles what lost nodes or workers held. Which of them are lost is asked again under the org's lock: whoever held
 * something was on record before, so one that joined after the look is found here.
 */
export const recoverLostWork = (
  orgId: OrgId,
  lost: ReadonlyMap<string, Instant>,
  memory: () => Memory | null,
): Work<number> => ({
  orgId,
  prepare: (tx) => loadUnlostHolders(tx, [...lost.keys()]),
  apply: (desk, prepared) => {
    const unlost = prepared as ReadonlySet<string>
    const gone = new Map([...lost].filter(([id]) => !unlost.has(id)))
    return recoverWork(orgId, gone, memory).apply(desk, undefined)
  },
})
