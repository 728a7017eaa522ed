import { DELIVERY_TRIES } from '../../core/delivery/delivery-tries.ts'
import { later, type Instant } from '../../core/instant.ts'
import { claimDeliveries, releaseDeliveries, type ClaimedDelivery } from '../../store/outbox.ts'
import type { Ports } from '../ports.ts'

export type { ClaimedDelivery } from '../../store/outbox.ts'

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
