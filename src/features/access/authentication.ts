import type { Principal } from '../../domain/access/access.ts'
import { earlier, MINUTE_MS, SECOND_MS, type Instant } from '../../domain/instant.ts'
import { isAttemptKey } from '../../domain/access/restrictions.ts'
import { touchApiKey } from './keys-store.ts'
import { touchConsoleSession } from './members-store.ts'
import { findConsoleSession, type ActiveConsoleSession } from './console-sessions.ts'
import { hashSecret, secretName } from './key-text.ts'
import { findAttemptPrincipal } from './attempt-keys.ts'
import { findPrincipal } from './keys.ts'
import type { Ports } from '../../engine/ports.ts'

/**
 * Authenticates every request. A result is cached for one second, or until a transaction of any node changes a key or a
 * member: a revoked key stops working on this node before the revocation is answered, and on other nodes within one
 * second. Keys of attempts are not cached.
 */
export interface Authentication {
  /**
   * The principal of this key, or null if there is no such key. Whether the key still works is decided by
   * `decideAccess`.
   */
  readonly authenticate: (keyText: string) => MaybePromise<Principal | null>
  /** The session of this cookie, or null if it is not signed in. */
  readonly consoleSession: (cookie: string) => MaybePromise<ActiveConsoleSession | null>
  /** Receives the events of a transaction. */
  readonly onEvents: (events: Iterable<readonly [kind: string, ...rest: unknown[]]>) => void
  /** Removes a cookie from the cache after it was signed out. */
  readonly forget: (cookie: string) => void
}

/** A cached result is returned synchronously, because nearly every request finds one. */
type MaybePromise<T> = T | Promise<T>
type AuthenticationPorts = Pick<Ports, 'database' | 'clock'> & Partial<Pick<Ports, 'vault'>>

const CACHE_MS = SECOND_MS
/** The precision of `last_used_at` and `seen_at`. */
const USE_RECORD_INTERVAL_MS = MINUTE_MS
const MAX_CACHED_LOOKUPS = 10_000

/** Creates the authentication of a node. */
export function createAuthentication(ports: AuthenticationPorts): Authentication {
  const { vault } = ports
  const keys = createLookupCache<Principal>(ports, async (text) => {
    const found = await findPrincipal(ports, text)
    if (found === null) return null
    const { lastUsedAt, ...principal } = found
    if (found.revokedAt === null) recordUse(ports, found, lastUsedAt)
    return principal
  })
  const cookies = createLookupCache(ports, async (cookie) => {
    const found = await findConsoleSession(ports, cookie)
    if (found !== null) recordVisit(ports, cookie, found.seenAt)
    return found
  })
  const ofAttempt = (text: string): MaybePromise<Principal | null> =>
    vault === undefined ? null : findAttemptPrincipal({ ...ports, vault }, text)
  return {
    // The key of an attempt ends with the attempt, so it is never cached.
    authenticate: (text) => (isAttemptKey(text) ? ofAttempt(text) : keys.find(text)),
    consoleSession: cookies.find,
    onEvents: (events) => {
      for (const [kind] of events) {
        if (!PERMISSION_EVENTS.has(kind)) continue
        keys.clear()
        cookies.clear()
        return
      }
    },
    forget: cookies.forget,
  }
}

/** Events that change permissions. They are rare, so each clears the whole cache. */
const PERMISSION_EVENTS: ReadonlySet<string> = new Set([
  'key.changed',
  'member.changed',
  'org.changed',
  'agent.changed',
])

const isRecordDue = (at: Instant | null, now: Instant): boolean => at === null || now - at >= USE_RECORD_INTERVAL_MS

/** Runs in the background. If it fails, the next use records it. */
function recordUse({ database, clock }: AuthenticationPorts, key: Principal, last: Instant | null): void {
  const now = clock.now()
  if (!isRecordDue(last, now)) return
  const unlessSince = earlier(now, USE_RECORD_INTERVAL_MS)
  touchApiKey(database, { orgId: key.orgId, id: key.id, at: now, unlessSince }).catch(() => undefined)
}

function recordVisit({ database, clock }: AuthenticationPorts, cookie: string, last: Instant): void {
  const now = clock.now()
  if (isRecordDue(last, now)) touchConsoleSession(database, hashSecret(cookie), now).catch(() => undefined)
}

interface CachedLookup<Found> {
  answer: MaybePromise<Found | null>
  readonly until: number
}

interface LookupCache<Found> {
  readonly find: (secret: string) => MaybePromise<Found | null>
  readonly forget: (secret: string) => void
  readonly clear: () => void
}

/** Caches results for one second. Concurrent lookups of the same secret share one query; failures are not cached. */
function createLookupCache<Found>(
  { clock }: Pick<AuthenticationPorts, 'clock'>,
  lookup: (secret: string) => Promise<Found | null>,
): LookupCache<Found> {
  // Keyed by hash, so that no secret stays in memory for the life of the process.
  const cache = new Map<string, CachedLookup<Found>>()
  return {
    find: (secret) => {
      const name = secretName(secret)
      const found = cache.get(name)
      if (found !== undefined && found.until > clock.now()) return found.answer
      if (cache.size >= MAX_CACHED_LOOKUPS) cache.clear()
      const answer = lookup(secret)
      const entry: CachedLookup<Found> = { answer, until: clock.now() + CACHE_MS }
      cache.set(name, entry)
      const drop = (): void => {
        if (cache.get(name) === entry) cache.delete(name)
      }
      // Unknown secrets are not cached, so that guesses cannot push out valid entries.
      answer.then((result) => {
        if (result === null) drop()
        else entry.answer = result
      }, drop)
      return answer
    },
    forget: (secret) => {
      cache.delete(secretName(secret))
    },
    clear: () => {
      cache.clear()
    },
  }
}
