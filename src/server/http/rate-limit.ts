import type { FastifyRequest } from 'fastify'
import { RATE_LIMIT } from '../../platform/config/keys.ts'
import { Refusal } from '../../api/refusals.ts'
import { OPERATOR_ORG, type Principal } from '../../domain/access/access.ts'
import type { HttpContext } from '../../http/context.ts'

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

/** So many bytes that a request sends or gets count as one request more. */
const BYTES_PER_REQUEST = 16 << 10

/** A refused request is answered after a pause, so that a caller that goes on at once costs less. */
const REFUSED_AFTER_MS = 500

/** So many refusals wait; more are told at once. */
const MAX_HELD = 1_000

/** What a key is charged for, and when. */
interface Charge {
  readonly key: string
  readonly rate: Rate
  readonly nowMs: number
  readonly bytes: number
}

/** Lets each key have so many requests a second. */
export interface RateLimit {
  /** Takes a request with so many bytes from the bucket of the key, or refuses when there is none left. */
  readonly charge: (charge: Charge) => void
  /** Takes what an answer weighs, which is known only when there is one. */
  readonly chargeAnswer: (charge: Charge) => void
  /** Tells why a request is not answered: at once, unless it is one too many. */
  readonly refuse: (error: Error, tell: (error: Error) => void) => void
}

export function createRateLimit(): RateLimit {
  const buckets = new Map<string, Bucket>()
  let held = 0
  const filled = ({ key, rate: { perSecond, burst }, nowMs }: Charge): Bucket => {
    const most = Math.max(burst, 1)
    const fullAfterMs = (most / perSecond) * 1_000
    const bucket = buckets.get(key) ?? remember(buckets, key, { tokens: most, filledAt: nowMs, fullAfterMs })
    const gained = ((nowMs - bucket.filledAt) / 1_000) * perSecond
    bucket.tokens = Math.min(most, bucket.tokens + gained)
    bucket.filledAt = nowMs
    return bucket
  }
  // A key never owes more than a burst: a large answer is paid for in seconds, not in hours.
  const take = (bucket: Bucket, requests: number, { burst }: Rate): void => {
    bucket.tokens = Math.max(bucket.tokens - requests, -Math.max(burst, 1))
  }
  return {
    charge: (charge) => {
      const { rate, bytes } = charge
      if (rate.perSecond <= 0) return
      const bucket = filled(charge)
      if (bucket.tokens < 1) throw tooMany(rate.perSecond, ((1 - bucket.tokens) / rate.perSecond) * 1_000)
      take(bucket, 1 + Math.floor(bytes / BYTES_PER_REQUEST), rate)
    },
    chargeAnswer: (charge) => {
      const { rate, bytes } = charge
      if (rate.perSecond > 0 && bytes >= BYTES_PER_REQUEST)
        take(filled(charge), Math.floor(bytes / BYTES_PER_REQUEST), rate)
    },
    refuse: (error, tell) => {
      if (!(error instanceof Refusal) || error.code !== 'RATE_LIMITED' || held >= MAX_HELD) {
        tell(error)
        return
      }
      held += 1
      setTimeout(() => {
        held -= 1
        tell(error)
      }, REFUSED_AFTER_MS)
    },
  }
}

/** What a request needs to be charged for. */
export interface Charging {
  readonly ctx: Pick<HttpContext, 'settings' | 'counter' | 'hasManyOrgs'>
  readonly limit: RateLimit
}

/**
 * Charges a request to its key, with the bytes of its body. What the settings state holds for every org; what holds by
 * default does where there is more than one. Beside other orgs the operator's is exempt: it is who looks after a
 * deployment under a flood.
 */
export function chargeRequest(charging: Charging, principal: Principal, bytes = 0): void {
  const rate = rateFor(charging.ctx, principal)
  if (rate !== null) charging.limit.charge({ key: principal.id, rate, nowMs: charging.ctx.counter(), bytes })
}

/** Charges the bytes of an answer to the key that asked. */
export function chargeAnswer(charging: Charging, principal: Principal, bytes: number): void {
  const rate = rateFor(charging.ctx, principal)
  if (rate !== null) charging.limit.chargeAnswer({ key: principal.id, rate, nowMs: charging.ctx.counter(), bytes })
}

/** The size of the body of a request. One that does not state it is charged for the largest. */
export function bodyBytes({ headers, method }: Pick<FastifyRequest, 'headers' | 'method'>, most: number): number {
  const stated = Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : most))
  return method === 'GET' || !(stated > 0) ? 0 : Math.min(stated, most)
}

const rateFor = (ctx: Charging['ctx'], { orgId }: Principal): Rate | null =>
  orgId === OPERATOR_ORG && ctx.hasManyOrgs() ? null : rateOf(ctx)

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
