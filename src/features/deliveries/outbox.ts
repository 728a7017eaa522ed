import { DELIVERY_TRIES } from '../../domain/delivery/delivery-retry.ts'
import type { OrgId, TargetId } from '../../domain/ids.ts'
import { type Instant, later } from '../../domain/instant.ts'
import { because, type Why } from '../../domain/reasons.ts'
import { collectDigest, holdForTarget, loadDueDigests } from './store.ts'
import {
  claimDeliveries,
  type ClaimedDelivery,
  loadTried,
  releaseDeliveries,
  saveTried,
  type TriedDelivery,
} from './outbox-store.ts'
import { loadTargets } from '../targets/store.ts'
import type { Ports } from '../../engine/ports.ts'
import type { Command } from '../../engine/commands-port.ts'

export type { ClaimedDelivery } from './outbox-store.ts'

/** The duration of a claim. It exceeds the timeout of a try, so that the result can still be recorded. */
export const CLAIM_MS = DELIVERY_TRIES.timeoutMs + 20_000

/** The maximum number of concurrent deliveries to one recipient, over all nodes. */
const PER_LINE = 4

/** Claims due deliveries, those due longest first. */
export const claimDue = (
  { database }: Pick<Ports, 'database'>,
  query: { readonly now: Instant; readonly claim: string; readonly limit: number },
): Promise<readonly ClaimedDelivery[]> =>
  claimDeliveries(database, { ...query, until: later(query.now, CLAIM_MS), perLine: PER_LINE })

/** Releases a claim under which nothing was sent. */
export const releaseClaim = ({ database }: Pick<Ports, 'database'>, claim: string, id: string): Promise<void> =>
  releaseDeliveries(database, claim, [id])

/** A claimed delivery that is not sent: held until quiet hours end, or only stored. */
export type UnsentDelivery = {
  readonly orgId: OrgId
  readonly id: string
  readonly claim: string
  readonly why: Why
} & ({ readonly kind: 'hold'; readonly until: Instant } | { readonly kind: 'keep' })

/**
 * The command that holds or stores a delivery instead of sending it, unless another node has claimed it. It does not
 * count as a try.
 */
export function holdOrStoreCommand(unsent: UnsentDelivery): Command<void> {
  const { orgId, id, claim, why } = unsent
  const state = unsent.kind === 'hold' ? 'held' : 'kept'
  return {
    orgId,
    prepare: async (tx, now): Promise<readonly TriedDelivery[]> => {
      const tried = await loadTried(tx, { orgId, ids: [id], claims: [claim] })
      saveTried(
        tx,
        orgId,
        tried.map(({ tries, triesInAll }) => ({
          ...{ id, state, tries, triesInAll, why, body: null },
          nextTryAt: unsent.kind === 'hold' ? unsent.until : null,
          finishedAt: unsent.kind === 'hold' ? null : now,
        })),
      )
      return tried
    },
    apply: (orgState, prepared) => {
      for (const { runId, targetId } of prepared as readonly TriedDelivery[])
        orgState.changes.events.push({
          ...{ kind: 'delivery.changed', subject: id },
          data: { run_id: runId, target_id: targetId, status: state },
        })
    },
  }
}

/** A target with held deliveries whose quiet hours have ended. */
interface DueDigest {
  readonly orgId: OrgId
  readonly targetId: TargetId
}

/** The maximum number of held deliveries checked per pass; the rest follow in the next one. */
const MAX_HELD_CHECKED = 1_000
/** The maximum number of deliveries in one digest; further ones go into another digest. */
const MAX_DIGEST_ITEMS = 500

/** Targets with held deliveries whose quiet hours have ended. */
export const findDueDigests = ({ database }: Pick<Ports, 'database'>, now: Instant): Promise<readonly DueDigest[]> =>
  loadDueDigests(database, { now, limit: MAX_HELD_CHECKED })

/** The command that combines the held deliveries of a target into a digest. */
export function digestCommand({ newId }: Pick<Ports, 'newId'>, { orgId, targetId }: DueDigest): Command<void> {
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
      const joined = await collectDigest(tx, { orgId, targetId, id, now, limit: MAX_DIGEST_ITEMS, why, memberWhy })
      return joined === 0 ? null : id
    },
    apply: (orgState, prepared) => {
      const id = prepared as string | null
      if (id === null) return
      const data = { run_id: null, target_id: targetId, status: 'created', digest: true }
      orgState.changes.events.push({ kind: 'delivery.changed', subject: id, data })
    },
  }
}
