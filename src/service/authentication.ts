import type { Principal } from '../domain/access/access.ts'
import { earlier, MINUTE_MS, SECOND_MS, type Instant } from '../domain/instant.ts'
import { isAttemptKey } from '../core/rails/attempt-key.ts'
import { touchApiKey } from '../features/access/keys-store.ts'
import { touchConsoleSession } from '../features/access/members-store.ts'
import { findConsoleSession, type SignedIn } from '../features/access/console-sessions.ts'
import { hashSecret, secretName } from '../features/access/key-text.ts'
import { findAttemptPrincipal } from './rails/attempt-keys.ts'
import { findPrincipal } from '../features/access/keys.ts'
import type { Ports } from './ports.ts'

/**
 * Says who asks, on the way of every request. What was looked up is believed for a second, and less when a turn of this
 * node or of another says that a key or a member has changed: what was revoked here does not work here any more when the
 * answer to revoking it arrives, and on no node a second later. Keys of attempts are looked up with every request.
 */
export interface Authentication {
  /** Who speaks with this key; null when there is no such key. Whether it still works is for `decideAccess` to say. */
  readonly authenticate: (keyText: string) => Eventually<Principal | null>
  /** Who is signed in with this cookie; null when nobody is any more. */
  readonly consoleSession: (cookie: string) => Eventually<SignedIn | null>
  /** Hears what happened in a turn. */
  readonly hear: (events: Iterable<readonly [kind: string, ...rest: unknown[]]>) => void
  /** Forgets a cookie that was signed out. */
  readonly forget: (cookie: string) => void
}

/** What is remembered is answered at once: nearly every request finds it so. */
type Eventually<T> = T | Promise<T>
type Reading = Pick<Ports, 'database' | 'clock'> & Partial<Pick<Ports, 'vault'>>

const BELIEVED_MS = SECOND_MS
/** `last_used_at` and `seen_at` are no more exact than this. */
const NOTED_EVERY_MS = MINUTE_MS
const MOST_REMEMBERED = 10_000

/** Makes the authentication of a node. */
export function createAuthentication(ports: Reading): Authentication {
  const { vault } = ports
  const keys = createMemory<Principal>(ports, async (text) => {
    const found = await findPrincipal(ports, text)
    if (found === null) return null
    const { lastUsedAt, ...principal } = found
    if (found.revokedAt === null) noteUse(ports, found, lastUsedAt)
    return principal
  })
  const cookies = createMemory(ports, async (cookie) => {
    const found = await findConsoleSession(ports, cookie)
    if (found !== null) noteVisit(ports, cookie, found.seenAt)
    return found
  })
  const ofAttempt = (text: string): Eventually<Principal | null> =>
    vault === undefined ? null : findAttemptPrincipal({ ...ports, vault }, text)
  return {
    // The key of an attempt ends with the attempt, so it is looked up each time.
    authenticate: (text) => (isAttemptKey(text) ? ofAttempt(text) : keys.find(text)),
    consoleSession: cookies.find,
    hear: (events) => {
      for (const [kind] of events) {
        if (!CHANGES.has(kind)) continue
        keys.clear()
        cookies.clear()
        return
      }
    },
    forget: cookies.forget,
  }
}

/** What changes who may do what. It is rare: everything is looked up again. */
const CHANGES: ReadonlySet<string> = new Set(['key.changed', 'member.changed', 'org.changed', 'agent.changed'])

const isNotedLong = (at: Instant | null, now: Instant): boolean => at === null || now - at >= NOTED_EVERY_MS

/** Nobody waits for it, and nothing is lost when it fails: the next use notes it again. */
function noteUse({ database, clock }: Reading, key: Principal, last: Instant | null): void {
  const now = clock.now()
  if (!isNotedLong(last, now)) return
  const unlessSince = earlier(now, NOTED_EVERY_MS)
  touchApiKey(database, { orgId: key.orgId, id: key.id, at: now, unlessSince }).catch(() => undefined)
}

function noteVisit({ database, clock }: Reading, cookie: string, last: Instant): void {
  const now = clock.now()
  if (isNotedLong(last, now)) touchConsoleSession(database, hashSecret(cookie), now).catch(() => undefined)
}

interface Remembered<Found> {
  answer: Eventually<Found | null>
  readonly until: number
}

interface LookupMemory<Found> {
  readonly find: (secret: string) => Eventually<Found | null>
  readonly forget: (secret: string) => void
  readonly clear: () => void
}

/** Remembers what was found for a moment. Those who ask at the same time wait for one look; failures are not kept. */
function createMemory<Found>(
  { clock }: Pick<Reading, 'clock'>,
  look: (secret: string) => Promise<Found | null>,
): LookupMemory<Found> {
  // By hash: a secret has no business in a table that lives as long as the process.
  const known = new Map<string, Remembered<Found>>()
  return {
    find: (secret) => {
      const name = secretName(secret)
      const found = known.get(name)
      if (found !== undefined && found.until > clock.now()) return found.answer
      if (known.size >= MOST_REMEMBERED) known.clear()
      const answer = look(secret)
      const entry: Remembered<Found> = { answer, until: clock.now() + BELIEVED_MS }
      known.set(name, entry)
      const drop = (): void => {
        if (known.get(name) === entry) known.delete(name)
      }
      // What does not exist is not remembered: strangers who guess must not push out those who belong here.
      answer.then((said) => {
        if (said === null) drop()
        else entry.answer = said
      }, drop)
      return answer
    },
    forget: (secret) => {
      known.delete(secretName(secret))
    },
    clear: () => {
      known.clear()
    },
  }
}
