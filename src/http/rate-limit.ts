import { RATE_LIMIT } from '../contract/config/keys.ts'
import { Refusal } from '../contract/refusals.ts'
import { OPERATOR_ORG, type Principal } from '../core/access.ts'
import type { HttpContext } from './context.ts'

interface Bucket {
  tokens: number
  filledAt: number
}

/** So many callers are remembered; the buckets of those who have been away for a while are full anyway. */
const MOST_BUCKETS = 10_000

/** How many requests a key may make: so many a second, and so many at once. A rate of 0 is no limit. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** Lets each key have so many requests a second. */
export interface RateLimit {
  /** Takes one request from the bucket of the key, or refuses. */
  readonly charge: (key: string, rate: Rate, nowMs: number) => void
}

export function createRateLimit(): RateLimit {
  const buckets = new Map<string, Bucket>()
  return {
    charge: (key, { perSecond, burst }, nowMs) => {
      if (perSecond <= 0) return
      const most = Math.max(burst, 1)
      const fullAfterMs = (most / perSecond) * 1_000
      const bucket = buckets.get(key) ?? remember(buckets, key, { tokens: most, filledAt: nowMs, fullAfterMs })
      const gained = ((nowMs - bucket.filledAt) / 1_000) * perSecond
      bucket.tokens = Math.min(most, bucket.tokens + gained)
      bucket.filledAt = nowMs
      if (bucket.tokens < 1) throw tooMany(perSecond, ((1 - bucket.tokens) / perSecond) * 1_000)
      bucket.tokens -= 1
    },
  }
}

/** What a request needs to be charged for. */
export interface Charging {
  readonly ctx: Pick<HttpContext, 'settings' | 'counter' | 'hasManyOrgs'>
  readonly limit: RateLimit
}

/**
 * Charges a request to its key. What the settings state holds for every org; what holds by default does where there is
 * more than one. Beside other orgs the operator's is exempt: it is who looks after a deployment that somebody floods.
 */
export function chargeRequest({ ctx, limit }: Charging, { id, orgId }: Principal): void {
  const rate = rateOf(ctx)
  if (rate === null || (orgId === OPERATOR_ORG && ctx.hasManyOrgs())) return
  limit.charge(id, rate, ctx.counter())
}

function rateOf(ctx: Charging['ctx']): Rate | null {
  const { ratePerSecond: stated, rateBurst: burst } = ctx.settings()
  if (stated === 0) return null
  if (stated !== null) return { perSecond: stated, burst: burst ?? stated }
  return ctx.hasManyOrgs()
    ? { perSecond: RATE_LIMIT.per_second.default, burst: burst ?? RATE_LIMIT.burst.default }
    : null
}

type NewBucket = Bucket & { readonly fullAfterMs: number }

function remember(buckets: Map<string, Bucket>, key: string, { tokens, filledAt, fullAfterMs }: NewBucket): Bucket {
  const bucket = { tokens, filledAt }
  if (buckets.size >= MOST_BUCKETS)
    for (const [name, one] of buckets) if (filledAt - one.filledAt > fullAfterMs) buckets.delete(name)
  // Everybody came within that time: the one who came first is forgotten.
  const [first] = buckets.keys()
  if (buckets.size >= MOST_BUCKETS && first !== undefined) buckets.delete(first)
  buckets.set(key, bucket)
  return bucket
}

const tooMany = (perSecond: number, retryAfterMs: number): Refusal =>
  new Refusal('RATE_LIMITED', `A key may make ${perSecond} requests a second`, { retryAfterMs })
