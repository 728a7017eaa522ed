import { DELIVERY_TRIES } from '../../domain/delivery/delivery-retry.ts'
import type { OrgId, TargetId } from '../../domain/ids.ts'
import { type Instant, later } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { collectDigest, holdForTarget, loadDueDigests } from '../../store/digests.ts'
import {
  claimDeliveries,
  type ClaimedDelivery,
  loadTried,
  releaseDeliveries,
  saveTried,
  type TriedFacts,
} from './outbox-store.ts'
import { loadTargets } from '../../store/targets.ts'
import type { Ports } from '../../service/ports.ts'
import type { Work } from '../../service/turn-port.ts'

export type { ClaimedDelivery } from './outbox-store.ts'

/** A claim outlives its try by enough for the result to be put on record. */
export const CLAIM_MS = DELIVERY_TRIES.timeoutMs + 20_000

/** Of what goes to one receiver, so many are sent at a time, over all nodes. */
const PER_LINE = 4

/** Claims what is due, longest first. */
export const claimDue = (
  { database }: Pick<Ports, 'database'>,
  wish: { readonly now: Instant; readonly claim: string; readonly limit: number },
): Promise<readonly ClaimedDelivery[]> =>
  claimDeliveries(database, { ...wish, until: later(wish.now, CLAIM_MS), perLine: PER_LINE })

/** Gives a claim back under which nothing arrived for certain. */
export const releaseClaim = ({ database }: Pick<Ports, 'database'>, claim: string, id: string): Promise<void> =>
  releaseDeliveries(database, claim, [id])

/** A claimed delivery that is not tried: it waits for the end of quiet hours, or is not told at all. */
export type Aside = { readonly orgId: OrgId; readonly id: string; readonly claim: string; readonly why: Why } & (
  { readonly kind: 'hold'; readonly until: Instant } | { readonly kind: 'keep' }
)

/** Puts a delivery aside, unless its claim has passed to somebody else. It counts as no try. */
export function asideWork(aside: Aside): Work<void> {
  const { orgId, id, claim, why } = aside
  const state = aside.kind === 'hold' ? 'held' : 'kept'
  return {
    orgId,
    prepare: async (tx, now): Promise<readonly TriedFacts[]> => {
      const facts = await loadTried(tx, { orgId, ids: [id], claims: [claim] })
      saveTried(
        tx,
        orgId,
        facts.map(({ tries, triesInAll }) => ({
          ...{ id, state, tries, triesInAll, why, body: null },
          nextTryAt: aside.kind === 'hold' ? aside.until : null,
          finishedAt: aside.kind === 'hold' ? null : now,
        })),
      )
      return facts
    },
    apply: (desk, prepared) => {
      for (const { runId, targetId } of prepared as readonly TriedFacts[])
        desk.changes.events.push({
          ...{ kind: 'delivery.changed', subject: id },
          data: { run_id: runId, target_id: targetId, status: state },
        })
    },
  }
}

/** A target whose quiet hours are over, with something collected for it. */
interface DueDigest {
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
