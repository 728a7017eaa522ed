import type { OrgId, TargetId } from '../../core/ids.ts'
import type { Instant } from '../../core/instant.ts'
import { because } from '../../core/reasons.ts'
import { collectDigest, holdForTarget, loadDueDigests } from '../../store/digests.ts'
import { loadTargets } from '../../store/targets.ts'
import type { Ports } from '../ports.ts'
import type { Work } from '../turn-port.ts'

/** A target whose quiet hours are over, with something collected for it. */
export interface DueDigest {
  readonly orgId: OrgId
  readonly targetId: TargetId
}

/** What is looked at for digests in one pass; the rest is found in the next. */
const MOST_LOOKED_AT = 1_000
/** What does not fit into one digest goes into another. */
const MOST_IN_DIGEST = 500

/** Where quiet hours are over and something was collected. */
export const findDueDigests = ({ database }: Pick<Ports, 'database'>, now: Instant): Promise<readonly DueDigest[]> =>
  loadDueDigests(database, { now, limit: MOST_LOOKED_AT })

/** Makes one message of everything that quiet hours have collected for a target. */
export function digestWork({ newId }: Pick<Ports, 'newId'>, { orgId, targetId }: DueDigest): Work<void> {
  return {
    orgId,
    prepare: async (tx, now): Promise<string | null> => {
      const [target] = await loadTargets(tx, { orgId, ids: [targetId] })
      if (target === undefined) return null
      if (target.disabledAt !== null) {
        const off = because('target_off', 'target.enabled', { target: target.name })
        holdForTarget(tx, { orgId, targetId, why: target.disabledWhy ?? off })
        return null
      }
      const id = newId('delivery', now)
      const why = because('deliver', 'target.quiet_hours', { target: target.name })
      const memberWhy = because('in_digest', 'target.quiet_hours', { digest: id })
      const joined = await collectDigest(tx, { orgId, targetId, id, now, limit: MOST_IN_DIGEST, why, memberWhy })
      return joined === 0 ? null : id
    },
    apply: (desk, prepared) => {
      const id = prepared as string | null
      if (id === null) return
      const data = { run_id: null, target_id: targetId, status: 'created', digest: true }
      desk.changes.events.push({ kind: 'delivery.changed', subject: id, data })
    },
  }
}
