import { DAY_MS, later, MINUTE_MS, type Instant } from '../../domain/instant.ts'

/** What a provider lets all its callers do together. Null: as much as they like. */
export interface Quotas {
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly maxConcurrent: number | null
}

/**
 * How full the buckets of a provider were at a moment, and whether it has asked for patience. What is left is counted in
 * sixty-thousandths of a request or token: then what a millisecond brings back is a whole number, and nothing is ever
 * rounded. Of a quota that is not set, 0 is left and nobody asks.
 */
export interface QuotaState {
  readonly requests: number
  readonly tokens: number
  readonly at: Instant
  /** Nothing may start before; null: the provider has not refused since something succeeded. */
  readonly blockedUntil: Instant | null
  /** Refusals in a row for which nobody said how long to wait; the wait grows with them. */
  readonly refusals: number
}

/** What holds the work of a provider up until a moment: a quota, or a wait after it refused. */
export const QUOTA_WORDS = ['requests_per_minute', 'tokens_per_minute', 'retry_after', 'back_off'] as const
export type QuotaWord = (typeof QUOTA_WORDS)[number]

/** Why nothing of a provider may start, and when something may again. */
export interface ClosedQuota {
  readonly quota: QuotaWord
  readonly until: Instant
}

/** One request or token, as it is counted. */
const ONE = MINUTE_MS

/** More than a day's worth is not owed, whatever a run says it has used: sums stay exact, and a typo ends. */
const MOST_OWED_MINUTES = DAY_MS / MINUTE_MS

/** The largest quotas for which a day's worth is still exact. */
export const MOST_REQUESTS_PER_MINUTE = 1_000_000
export const MOST_TOKENS_PER_MINUTE = 100_000_000

/** A server that asks for more patience than this is not obeyed to the letter. */
const MOST_RETRY_AFTER_MS = DAY_MS

const FIRST_BACK_OFF_MS = 1_000
const LONGEST_BACK_OFF_MS = MINUTE_MS

const capacityOf = (perMinute: number | null): number => (perMinute === null ? 0 : perMinute * ONE)

/** Buckets that nobody has used: one minute's worth in each. */
export const fullBuckets = (quotas: Quotas, now: Instant): QuotaState => ({
  requests: capacityOf(quotas.requestsPerMinute),
  tokens: capacityOf(quotas.tokensPerMinute),
  at: now,
  blockedUntil: null,
  refusals: 0,
})

/** What is left now: what was left, and what has come back since, up to one minute's worth. */
function refilled(left: number, perMinute: number | null, elapsedMs: number): number {
  if (perMinute === null) return 0
  return Math.min(capacityOf(perMinute), left + perMinute * Math.max(0, elapsedMs))
}

const MAX_SKEW_MS = 1_000

/** The same state, told for this moment. */
function toldAt(state: QuotaState, quotas: Quotas, now: Instant): QuotaState {
  // A clock that was set back must not stop the refill until it has caught up.
  if (now <= state.at) return state.at - now > MAX_SKEW_MS ? { ...state, at: now } : state
  const elapsed = now - state.at
  return {
    ...state,
    requests: refilled(state.requests, quotas.requestsPerMinute, elapsed),
    tokens: refilled(state.tokens, quotas.tokensPerMinute, elapsed),
    at: now,
  }
}

/** Takes tokens out of the bucket, or, below 0, puts them back. */
function without(left: number, perMinute: number | null, tokens: number): number {
  if (perMinute === null) return 0
  const owed = -capacityOf(perMinute) * MOST_OWED_MINUTES
  // Beyond what may be owed at all the product need not be exact.
  return Math.min(capacityOf(perMinute), Math.max(owed, left - tokens * ONE))
}

/** An attempt begins: one request, and as many tokens as it will probably use. */
export function chargeAttempt(
  state: QuotaState,
  quotas: Quotas,
  { now, tokens }: { readonly now: Instant; readonly tokens: number },
): QuotaState {
  const told = toldAt(state, quotas, now)
  return {
    ...told,
    requests: quotas.requestsPerMinute === null ? 0 : told.requests - ONE,
    tokens: without(told.tokens, quotas.tokensPerMinute, tokens),
  }
}

/** An attempt ended before anything was sent: its request comes back. */
export function returnRequest(state: QuotaState, quotas: Quotas, now: Instant): QuotaState {
  if (quotas.requestsPerMinute === null) return state
  const told = toldAt(state, quotas, now)
  return { ...told, requests: Math.min(capacityOf(quotas.requestsPerMinute), told.requests + ONE) }
}

/** Tokens were used, or, below 0, were set aside and not used. What is used beyond what is left is owed. */
export function chargeTokens(
  state: QuotaState,
  quotas: Quotas,
  { now, tokens }: { readonly now: Instant; readonly tokens: number },
): QuotaState {
  const told = toldAt(state, quotas, now)
  return { ...told, tokens: without(told.tokens, quotas.tokensPerMinute, tokens) }
}

/** Quotas that are changed at a moment. */
export interface QuotaChange {
  readonly before: Quotas
  readonly after: Quotas
  readonly now: Instant
}

/**
 * Other quotas: what is new or more is there at once, what is less holds less, and what is owed stays owed. Whoever sets
 * them knows better than an earlier refusal, so nothing is left of that.
 */
export function withQuotas(state: QuotaState, { before, after, now }: QuotaChange): QuotaState {
  const told = toldAt(state, before, now)
  return {
    ...told,
    requests: refitted(told.requests, before.requestsPerMinute, after.requestsPerMinute),
    tokens: refitted(told.tokens, before.tokensPerMinute, after.tokensPerMinute),
    at: now,
    blockedUntil: null,
    refusals: 0,
  }
}

function refitted(left: number, was: number | null, is: number | null): number {
  const more = Math.max(0, capacityOf(is) - capacityOf(was))
  if (is === null) return 0
  return was === null ? capacityOf(is) : Math.min(capacityOf(is), left + more)
}

/** What is left of each quota now, in whole requests and tokens; below 0 what is owed. Null: it is not set. */
export function leftOf(
  state: QuotaState,
  quotas: Quotas,
  now: Instant,
): { readonly requests: number | null; readonly tokens: number | null } {
  const { requests, tokens } = toldAt(state, quotas, now)
  return {
    requests: quotas.requestsPerMinute === null ? null : Math.floor(requests / ONE),
    tokens: quotas.tokensPerMinute === null ? null : Math.floor(tokens / ONE),
  }
}

/**
 * What holds the provider's work up, and until when; null: nothing does. A request needs a whole request; tokens need
 * only be above nothing: what a run sets aside beyond them is owed, so that a large one never waits for ever behind
 * small ones. Of several the one that holds longest speaks.
 */
export function closedQuota(state: QuotaState, quotas: Quotas, now: Instant): ClosedQuota | null {
  const { blockedUntil, refusals } = state
  const waits: ClosedQuota[] = []
  if (blockedUntil !== null) waits.push({ quota: refusals > 0 ? 'back_off' : 'retry_after', until: blockedUntil })
  const { requestsPerMinute: requests, tokensPerMinute: tokens } = quotas
  const { at } = state
  if (requests !== null && state.requests < ONE)
    waits.push({ quota: 'requests_per_minute', until: later(at, Math.ceil((ONE - state.requests) / requests)) })
  if (tokens !== null && state.tokens <= 0)
    waits.push({ quota: 'tokens_per_minute', until: later(at, Math.floor(-state.tokens / tokens) + 1) })
  let longest: ClosedQuota | null = null
  for (const wait of waits) if (wait.until > now && (longest === null || wait.until > longest.until)) longest = wait
  return longest
}

/** A refusal by the provider, of an attempt that began at `startedAt`. */
export interface Refused {
  readonly now: Instant
  readonly startedAt: Instant
  /** How long it asked us to wait; null: it did not say. */
  readonly retryAfterMs: number | null
}

/**
 * The provider has refused an attempt. Where it says how long to wait, the longer of two waits holds; where it does not,
 * the wait doubles from one refusal to the next. Attempts that began before the last wait belong to the refusal that
 * caused it: a hundred refused at once are one refusal, not a hundred.
 */
export function refuse(state: QuotaState, { now, startedAt, retryAfterMs }: Refused): QuotaState {
  const { blockedUntil } = state
  if (retryAfterMs !== null) {
    const until = later(now, Math.min(retryAfterMs, MOST_RETRY_AFTER_MS))
    return blockedUntil !== null && until <= blockedUntil ? state : { ...state, blockedUntil: until, refusals: 0 }
  }
  if (blockedUntil !== null && startedAt < blockedUntil) return state
  const refusals = state.refusals + 1
  return { ...state, blockedUntil: later(now, backOffMs(refusals)), refusals }
}

/** How long to wait after so many refusals in a row: 1 s, doubled each time, a minute at most. */
export const backOffMs = (refusals: number): number =>
  Math.min(FIRST_BACK_OFF_MS * 2 ** Math.min(refusals - 1, 30), LONGEST_BACK_OFF_MS)

/** An attempt has succeeded: if it began after the last wait, the provider takes work again and the wait begins anew. */
export const succeed = (state: QuotaState, startedAt: Instant): QuotaState =>
  state.blockedUntil === null || startedAt < state.blockedUntil ? state : { ...state, blockedUntil: null, refusals: 0 }
