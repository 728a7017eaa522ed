import { earlier, SECOND_MS } from '../core/instant.ts'
import { RAIL_BOUNDS } from '../core/rails/guard-rails.ts'
import { deleteOldConsoleSessions } from '../store/console-sessions.ts'
import { deleteOldRailActs } from '../store/rails.ts'
import { deleteOldCallbacks, deleteOldKeys, deleteOldNodes } from '../store/retention.ts'
import { deleteOldSignIns } from '../store/sign-ins.ts'
import { deleteOldWorkerAttempts } from '../store/worker-attempts.ts'
import { deleteOldWorkers } from '../store/workers.ts'
import { IDLE_MS } from './console-sessions.ts'
import { KEPT_MS, repeat, type PassContext, type Steps } from './retention-steps.ts'

/** No rail looks further back. */
const LONGEST_RAIL_MS = RAIL_BOUNDS.minIntervalSeconds.max * SECOND_MS

/** What is found by its age alone, whatever the number of orgs. */
export async function* pruneDeployment(pass: PassContext): Steps {
  const { connection, now, batch: limit, found } = pass
  const before = earlier(now, KEPT_MS)
  found.callbacks += yield* repeat(pass, () => deleteOldCallbacks(connection, { before, limit }))
  found.keys += yield* repeat(pass, () => deleteOldKeys(connection, { before, limit }))
  found.nodes += await deleteOldNodes(connection, before)
  found.workers += await deleteOldWorkers(connection, before)
  found.workers += yield* repeat(pass, () => deleteOldWorkerAttempts(connection, { before, limit }))
  found.signIns += yield* repeat(pass, () => deleteOldSignIns(connection, { now, limit }))
  const seenBefore = earlier(now, IDLE_MS)
  found.consoleSessions += yield* repeat(pass, () => deleteOldConsoleSessions(connection, { now, seenBefore, limit }))
  const longBefore = earlier(now, LONGEST_RAIL_MS)
  found.railActs += yield* repeat(pass, () => deleteOldRailActs(connection, { before, longBefore, limit }))
}
