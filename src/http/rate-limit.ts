import { Refusal } from '../contract/refusals.ts'

interface Bucket {
  tokens: number
  filledAt: number
}

/** So many callers are remembered; the buckets of those who have been away for a second are full anyway. */
const MOST_BUCKETS = 10_000

/** Lets each key have so many requests a second, and as many at once. */
export interface RateLimit {
  /** Takes one request from the bucket of the key, or refuses. A rate of 0 is no limit. */
  readonly charge: (key: string, perSecond: number, nowMs: number) => void
}

export function createRateLimit(): RateLimit {
  const buckets = new Map<string, Bucket>()
  return {
    charge: (key, perSecond, nowMs) => {
      if (perSecond <= 0) return
      const bucket = buckets.get(key) ?? remember(buckets, key, { tokens: perSecond, filledAt: nowMs })
      const gained = ((nowMs - bucket.filledAt) / 1_000) * perSecond
      bucket.tokens = Math.min(Math.max(perSecond, 1), bucket.tokens + gained)
      bucket.filledAt = nowMs
      if (bucket.tokens < 1) throw tooMany(perSecond, ((1 - bucket.tokens) / perSecond) * 1_000)
      bucket.tokens -= 1
    },
  }
}

function remember(buckets: Map<string, Bucket>, key: string, bucket: Bucket): Bucket {
  if (buckets.size >= MOST_BUCKETS)
    for (const [name, { filledAt }] of buckets) if (bucket.filledAt - filledAt > 1_000) buckets.delete(name)
  // Everybody came within a second: the one who came first is forgotten.
  const [first] = buckets.keys()
  if (buckets.size >= MOST_BUCKETS && first !== undefined) buckets.delete(first)
  buckets.set(key, bucket)
  return bucket
}

const tooMany = (perSecond: number, retryAfterMs: number): Refusal =>
  new Refusal('RATE_LIMITED', `A key may make ${perSecond} requests a second`, { retryAfterMs })
