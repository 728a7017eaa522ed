import { isLate } from '../core/alerts.ts'
import { isBackfilled } from '../core/backfill/backfill.ts'
import type { RunId } from '../core/ids.ts'
import type { Instant } from '../core/instant.ts'
import type { Desk } from '../service/desk/desk.ts'
import { lateWork } from '../service/turn/works.ts'
import type { NodeParts } from './node-parts.ts'
import { createStallPass, type StallContext } from './stall.ts'

/** Looks whether engines stand still and runs are late. */
export function createAlertPass(ctx: StallContext): () => Promise<void> {
  const [stallPass, latePass] = [createStallPass(ctx), createLatePass(ctx.parts)]
  return async () => {
    await stallPass()
    latePass()
  }
}

/** Looking takes at most this share of the time, however much is pending. */
const SHARE = 50

/**
 * Looks for runs that still wait although their schedule does not let them be so late. Everything it looks at is in
 * memory; only when there is something to tell does it hand in work, which nobody waits for.
 */
function createLatePass(parts: NodeParts): () => void {
  const { clock } = parts.ctx
  const handed = parts.handedIn('late runs')
  let notBefore = -Infinity
  return () => {
    const began = clock.counter()
    if (began < notBefore) return
    for (const office of parts.offices.values()) {
      const desk = handed.isBusy(office.orgId) ? undefined : office.memory()?.desk
      const late = desk === undefined ? [] : lateRuns(desk, clock.now())
      if (late.length > 0) handed.hand(lateWork(office.orgId, late))
    }
    notBefore = began + (clock.counter() - began) * SHARE
  }
}

function lateRuns(desk: Desk, now: Instant): readonly RunId[] {
  const found: RunId[] = []
  for (const [id, runs] of desk.bySchedule) {
    const row = desk.schedules.get(id)
    const limit = row?.rules.maxLatenessSeconds ?? null
    if (limit === null || row?.alerts?.late !== undefined) continue
    for (const run of runs) {
      const { nominal, startedAt } = run
      // What a backfill makes up for is late on purpose.
      if (nominal === null || startedAt !== null || isBackfilled(run)) continue
      if (isLate(nominal, now, limit)) found.push(run.id)
    }
  }
  return found
}
