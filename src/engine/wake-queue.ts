import type { OrgId } from '../core/ids.ts'
import type { Office } from './office-context.ts'

/** Wakes orgs a few at a time: thousands that have to be loaded at once would only wait for each other. */
export interface WakeQueue {
  readonly add: (orgId: OrgId) => void
}

const AT_ONCE = 8

/** An org that takes longer than this keeps its place from nobody. */
const LONGEST_MS = 1_000

export function createWakeQueue(ctx: {
  readonly officeOf: (orgId: OrgId) => Office
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly stopping: AbortSignal
}): WakeQueue {
  const queue = new Set<OrgId>()
  let underWay = 0
  const wakeNext = async (): Promise<void> => {
    underWay += 1
    for (let [orgId] = queue; orgId !== undefined && !ctx.stopping.aborted; [orgId] = queue) {
      queue.delete(orgId)
      const office = ctx.officeOf(orgId)
      office.wake()
      const over = new AbortController()
      await Promise.race([office.idle(), ctx.sleep(LONGEST_MS, over.signal)])
      over.abort()
    }
    underWay -= 1
  }
  return {
    add: (orgId) => {
      queue.add(orgId)
      if (underWay < AT_ONCE) void wakeNext()
    },
  }
}
