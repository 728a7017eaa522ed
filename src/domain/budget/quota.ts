import { providerName, type ProviderName } from '../ids.ts'
import { flawed, parsed, type Parsed } from '../input.ts'
import { DAY_MS, type Instant, later, MINUTE_MS } from '../instant.ts'

/** Provider names appear in paths and reasons, so only characters without a special meaning there are allowed. */
const PROVIDER_NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u

/** Reads the name of a provider. */
export function parseProviderName(field: string, value: unknown): Parsed<ProviderName> {
  return typeof value === 'string' && PROVIDER_NAME.test(value)
    ? parsed(providerName(value))
    : flawed({ field, value, message: 'is not a valid name', allowed: '1 to 100 letters, digits, . _ -' })
}

/** The limits of a provider for all its callers together; null: no limit. */
export interface Quotas {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly maxConcurrent: number | null
}

/**
 * The token buckets of a provider at a time, and its back-off. Amounts are in 1/60,000 of a request or token, so that
 * the refill per millisecond is a whole number and is never rounded. A quota that is not set is stored as 0 and
 * ignored.
 */
export interface QuotaState {
  readonly requests: number
  readonly tokens: number
  readonly at: Instant
  /** No attempt may start before this; null when the provider has not refused an attempt since the last success. */
  readonly blockedUntil: Instant | null
  /** Consecutive refusals without a Retry-After; the back-off grows with them. */
  readonly refusals: number
}

/** What blocks the runs of a provider: a quota, or a wait after a refusal. */
export const QUOTA_CAUSES = ['requests_per_minute', 'tokens_per_minute', 'retry_after', 'back_off'] as const
export type QuotaCause = (typeof QUOTA_CAUSES)[number]

/** Why runs of a provider may not start, and until when. */
interface ClosedQuota {
  readonly quota: QuotaCause
  readonly until: Instant
}

/** One request or token in the unit of the buckets. */
const BUCKET_UNITS = MINUTE_MS

/**
 * The debt is capped at one day of quota, so that sums stay exact and a mistaken usage report does not block for
 * longer.
 */
const MAX_DEBT_MINUTES = DAY_MS / MINUTE_MS

/** The maximum quotas for which one day of debt is still exact. */
export const MAX_REQUESTS_PER_MINUTE = 1_000_000
export const MAX_TOKENS_PER_MINUTE = 100_000_000

/** Longer Retry-After values are capped. */
const MAX_PROVIDER_RETRY_AFTER_MS = DAY_MS

const FIRST_BACK_OFF_MS = 1_000
const MAX_BACK_OFF_MS = MINUTE_MS

const capacityOf = (perMinute: number | null): number => (perMinute === null ? 0 : perMinute * BUCKET_UNITS)

/** Full buckets: one minute of quota in each. */
export const createQuotaState = (quotas: Quotas, now: Instant): QuotaState => ({
  requests: capacityOf(quotas.requestsPerMinute),
  tokens: capacityOf(quotas.tokensPerMinute),
  at: now,
  blockedUntil: null,
  refusals: 0,
})

/** Adds the refill since the last update, up to one minute of quota. */
function refilled(left: number, perMinute: number | null, elapsedMs: number): number {
  if (perMinute === null) return 0
  return Math.min(capacityOf(perMinute), left + perMinute * Math.max(0, elapsedMs))
}

const MAX_SKEW_MS = 1_000

/** The state advanced to `now`. */
function stateAt(state: QuotaState, quotas: Quotas, now: Instant): QuotaState {
  // After the clock was set back, the refill must not stop until the clock has caught up.
  if (now <= state.at) return state.at - now > MAX_SKEW_MS ? { ...state, at: now } : state
  const elapsed = now - state.at
  return {
    ...state,
    requests: refilled(state.requests, quotas.requestsPerMinute, elapsed),
    tokens: refilled(state.tokens, quotas.tokensPerMinute, elapsed),
    at: now,
  }
}

/** Takes tokens out of the bucket; a negative number returns tokens. */
function takeTokens(left: number, perMinute: number | null, tokens: number): number {
  if (perMinute === null) return 0
  const owed = -capacityOf(perMinute) * MAX_DEBT_MINUTES
  // Below the maximum debt the product need not be exact.
  return Math.min(capacityOf(perMinute), Math.max(owed, left - tokens * BUCKET_UNITS))
}

/** Charges the start of an attempt: one request and its expected tokens. */
export function chargeAttempt(
  state: QuotaState,
  quotas: Quotas,
  { now, tokens }: { readonly now: Instant; readonly tokens: number },
): QuotaState {
  const current = stateAt(state, quotas, now)
  return {
    ...current,
    requests: quotas.requestsPerMinute === null ? 0 : current.requests - BUCKET_UNITS,
    tokens: takeTokens(current.tokens, quotas.tokensPerMinute, tokens),
  }
}

/** Returns the request of an attempt that ended before anything was sent. */
export function returnRequest(state: QuotaState, quotas: Quotas, now: Instant): QuotaState {
  if (quotas.requestsPerMinute === null) return state
  const current = stateAt(state, quotas, now)
  return { ...current, requests: Math.min(capacityOf(quotas.requestsPerMinute), current.requests + BUCKET_UNITS) }
}

/** Charges used tokens, or with a negative number returns reserved ones. Usage beyond the bucket becomes debt. */
export function chargeTokens(
  state: QuotaState,
  quotas: Quotas,
  { now, tokens }: { readonly now: Instant; readonly tokens: number },
): QuotaState {
  const current = stateAt(state, quotas, now)
  return { ...current, tokens: takeTokens(current.tokens, quotas.tokensPerMinute, tokens) }
}

/** A change of quotas. */
interface QuotaChange {
  readonly before: Quotas
  readonly after: Quotas
  readonly now: Instant
}

/**
 * Applies changed quotas: an increase is available at once, a decrease caps the bucket, and debt stays. The back-off
 * is cleared, because the operator has newer information than an earlier refusal.
 */
export function changeQuotas(state: QuotaState, { before, after, now }: QuotaChange): QuotaState {
  const current = stateAt(state, before, now)
  return {
    ...current,
    requests: resizedBucket(current.requests, before.requestsPerMinute, after.requestsPerMinute),
    tokens: resizedBucket(current.tokens, before.tokensPerMinute, after.tokensPerMinute),
    at: now,
    blockedUntil: null,
    refusals: 0,
  }
}

function resizedBucket(left: number, was: number | null, is: number | null): number {
  const more = Math.max(0, capacityOf(is) - capacityOf(was))
  if (is === null) return 0
  return was === null ? capacityOf(is) : Math.min(capacityOf(is), left + more)
}

/** What is left of each quota, in whole requests and tokens; negative for debt, null when the quota is not set. */
export function remainingQuota(
  state: QuotaState,
  quotas: Quotas,
  now: Instant,
): { readonly requests: number | null; readonly tokens: number | null } {
  const { requests, tokens } = stateAt(state, quotas, now)
  return {
    requests: quotas.requestsPerMinute === null ? null : Math.floor(requests / BUCKET_UNITS),
    tokens: quotas.tokensPerMinute === null ? null : Math.floor(tokens / BUCKET_UNITS),
  }
}

/**
 * What blocks the provider's runs, and until when; null when nothing does. A request needs a whole request in the
 * bucket, tokens only more than 0: the rest becomes debt, so that a large run never waits forever behind small ones.
 * When several block, the longest wait is returned.
 */
export function closedQuota(state: QuotaState, quotas: Quotas, now: Instant): ClosedQuota | null {
  const { blockedUntil, refusals } = state
  const waits: ClosedQuota[] = []
  if (blockedUntil !== null) waits.push({ quota: refusals > 0 ? 'back_off' : 'retry_after', until: blockedUntil })
  const { requestsPerMinute: requests, tokensPerMinute: tokens } = quotas
  const { at } = state
  if (requests !== null && state.requests < BUCKET_UNITS)
    waits.push({
      quota: 'requests_per_minute',
      until: later(at, Math.ceil((BUCKET_UNITS - state.requests) / requests)),
    })
  if (tokens !== null && state.tokens <= 0)
    waits.push({ quota: 'tokens_per_minute', until: later(at, Math.floor(-state.tokens / tokens) + 1) })
  let longest: ClosedQuota | null = null
  for (const wait of waits) if (wait.until > now && (longest === null || wait.until > longest.until)) longest = wait
  return longest
}

/** A refusal of an attempt by the provider. */
interface ProviderRefusal {
  readonly now: Instant
  readonly startedAt: Instant
  /** The Retry-After of the refusal; null when it has none. */
  readonly retryAfterMs: number | null
}

/**
 * Applies a refusal. With a Retry-After, the longer of the two waits applies; without, the back-off doubles with each
 * refusal. Attempts that started before the current back-off count as the refusal that caused it, so a hundred
 * simultaneous refusals double it once.
 */
export function applyRefusal(state: QuotaState, { now, startedAt, retryAfterMs }: ProviderRefusal): QuotaState {
  const { blockedUntil } = state
  if (retryAfterMs !== null) {
    const until = later(now, Math.min(retryAfterMs, MAX_PROVIDER_RETRY_AFTER_MS))
    return blockedUntil !== null && until <= blockedUntil ? state : { ...state, blockedUntil: until, refusals: 0 }
  }
  if (blockedUntil !== null && startedAt < blockedUntil) return state
  const refusals = state.refusals + 1
  return { ...state, blockedUntil: later(now, backOffMs(refusals)), refusals }
}

/** What a provider reports as left of its own limits; null: not reported. */
export interface ReportedQuota {
  readonly requests: number | null
  readonly tokens: number | null
  /** When there is room for another request; null: now. */
  readonly availableInMs: number | null
}

/**
 * Applies what a provider reports as left: other users of its key count there and not here, so its numbers can only
 * lower ours.
 */
export function applyReported(
  state: QuotaState,
  quotas: Quotas,
  { now, reported }: { readonly now: Instant; readonly reported: ReportedQuota },
): QuotaState {
  const current = stateAt(state, quotas, now)
  const capped = (left: number, perMinute: number | null, most: number | null): number =>
    perMinute === null || most === null ? left : Math.min(left, most * BUCKET_UNITS)
  const requests = capped(current.requests, quotas.requestsPerMinute, reported.requests)
  const tokens = capped(current.tokens, quotas.tokensPerMinute, reported.tokens)
  const { availableInMs } = reported
  const isLower = requests < current.requests || tokens < current.tokens
  if (!isLower && availableInMs === null) return state
  const lowered = { ...current, requests, tokens }
  return availableInMs === null ? lowered : applyRefusal(lowered, { now, startedAt: now, retryAfterMs: availableInMs })
}

/** The back-off after consecutive refusals: 1 s, doubled each time, at most 1 minute. */
export const backOffMs = (refusals: number): number =>
  Math.min(FIRST_BACK_OFF_MS * 2 ** Math.min(refusals - 1, 30), MAX_BACK_OFF_MS)

/** Applies a success: if the attempt started after the last back-off, the back-off is reset. */
export const applySuccess = (state: QuotaState, startedAt: Instant): QuotaState =>
  state.blockedUntil === null || startedAt < state.blockedUntil ? state : { ...state, blockedUntil: null, refusals: 0 }
