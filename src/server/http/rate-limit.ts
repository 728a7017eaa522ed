import type { FastifyRequest } from 'fastify'
import { RATE_LIMIT } from '../../platform/config/keys.ts'
import { Refusal } from '../../api/refusals.ts'
import { OPERATOR_ORG, type Principal } from '../../domain/access/access.ts'
import type { HttpContext } from './context.ts'

interface Bucket {
  tokens: number
  filledAt: number
}

/** The maximum number of buckets; those of idle keys are full, so they can be evicted. */
const MAX_BUCKETS = 10_000

/** The rate limit of a key: requests per second and burst. A rate of 0 means no limit. */
export interface Rate {
  readonly perSecond: number
  readonly burst: number
}

/** This many bytes of a request or response count as one more request. */
const BYTES_PER_REQUEST = 16 << 10

/** The delay of a rate-limited response, so that a client that retries at once costs less. */
const REFUSAL_DELAY_MS = 500

/** The maximum number of delayed responses; further ones are sent at once. */
const MAX_DELAYED_REFUSALS = 1_000

/** One charge to the bucket of a key. */
interface Charge {
  readonly key: string
  readonly rate: Rate
  readonly nowMs: number
  readonly bytes: number
}

/** A token bucket per key. */
export interface RateLimit {
  /** Charges a request and its bytes to the bucket of the key, or rejects it if the bucket is empty. */
  readonly charge: (charge: Charge) => void
  /** Charges the bytes of a response. */
  readonly chargeAnswer: (charge: Charge) => void
  /** Sends an error: at once, or after a delay if the request was rate-limited. */
  readonly refuse: (error: Error, respond: (error: Error) => void) => void
}

export function createRateLimit(): RateLimit {
  const buckets = new Map<string, Bucket>()
  let delayed = 0
  const filled = ({ key, rate: { perSecond, burst }, nowMs }: Charge): Bucket => {
    const max = Math.max(burst, 1)
    const fullAfterMs = (max / perSecond) * 1_000
    const bucket = buckets.get(key) ?? addBucket(buckets, key, { tokens: max, filledAt: nowMs, fullAfterMs })
    const gained = ((nowMs - bucket.filledAt) / 1_000) * perSecond
    bucket.tokens = Math.min(max, bucket.tokens + gained)
    bucket.filledAt = nowMs
    return bucket
  }
  // The debt of a key is limited to one burst, so that a large response is paid off in seconds.
  const spend = (bucket: Bucket, requests: number, { burst }: Rate): void => {
    bucket.tokens = Math.max(bucket.tokens - requests, -Math.max(burst, 1))
  }
  return {
    charge: (charge) => {
      const { rate, bytes } = charge
      if (rate.perSecond <= 0) return
      const bucket = filled(charge)
      if (bucket.tokens < 1) throw tooMany(rate.perSecond, ((1 - bucket.tokens) / rate.perSecond) * 1_000)
      spend(bucket, 1 + Math.floor(bytes / BYTES_PER_REQUEST), rate)
    },
    chargeAnswer: (charge) => {
      const { rate, bytes } = charge
      if (rate.perSecond > 0 && bytes >= BYTES_PER_REQUEST)
        spend(filled(charge), Math.floor(bytes / BYTES_PER_REQUEST), rate)
    },
    refuse: (error, respond) => {
      if (!(error instanceof Refusal) || error.code !== 'RATE_LIMITED' || delayed >= MAX_DELAYED_REFUSALS) {
        respond(error)
        return
      }
      delayed += 1
      setTimeout(() => {
        delayed -= 1
        respond(error)
      }, REFUSAL_DELAY_MS)
    },
  }
}

/** What charging a request needs. */
export interface Charging {
  readonly ctx: Pick<HttpContext, 'settings' | 'counter' | 'hasManyOrgs'>
  readonly limit: RateLimit
}

/**
 * Charges a request and the bytes of its body to its key. A configured rate applies to every org; the default rate only
 * applies if there are several. With several orgs, the operator's org is exempt, so that it can manage the deployment
 * under a flood.
 */
export function chargeRequest(charging: Charging, principal: Principal, bytes = 0): void {
  const rate = rateFor(charging.ctx, principal)
  if (rate !== null) charging.limit.charge({ key: principal.id, rate, nowMs: charging.ctx.counter(), bytes })
}

/** Charges the bytes of a response to the key of the request. */
export function chargeAnswer(charging: Charging, principal: Principal, bytes: number): void {
  const rate = rateFor(charging.ctx, principal)
  if (rate !== null) charging.limit.chargeAnswer({ key: principal.id, rate, nowMs: charging.ctx.counter(), bytes })
}

/** The body size of a request. A chunked request without a stated size is charged for the maximum. */
export function bodyBytes({ headers, method }: Pick<FastifyRequest, 'headers' | 'method'>, max: number): number {
  const stated = Number(headers['content-length'] ?? (headers['transfer-encoding'] === undefined ? 0 : max))
  return method === 'GET' || !(stated > 0) ? 0 : Math.min(stated, max)
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

function addBucket(buckets: Map<string, Bucket>, key: string, { tokens, filledAt, fullAfterMs }: NewBucket): Bucket {
  const bucket = { tokens, filledAt }
  if (buckets.size >= MAX_BUCKETS)
    for (const [name, one] of buckets) if (filledAt - one.filledAt > fullAfterMs) buckets.delete(name)
  // All keys were active within that time, so the oldest bucket is evicted.
  const [first] = buckets.keys()
  if (buckets.size >= MAX_BUCKETS && first !== undefined) buckets.delete(first)
  buckets.set(key, bucket)
  return bucket
}

const tooMany = (perSecond: number, retryAfterMs: number): Refusal =>
  new Refusal('RATE_LIMITED', `The rate limit of ${perSecond} requests per second for the key is exceeded`, {
    retryAfterMs,
  })
