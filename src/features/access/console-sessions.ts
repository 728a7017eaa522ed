import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ConsoleSessionView } from './schema.ts'
import { effectivePermissions, type Principal } from '../../domain/access/access.ts'
import { principalId, type OrgId } from '../../domain/ids.ts'
import { DAY_MS, earlier, formatInstant, HOUR_MS, later, type Instant } from '../../domain/instant.ts'
import { deleteConsoleSession, insertConsoleSession, loadConsoleSession, type MemberRow } from './members-store.ts'
import { loadApiKey, type ApiKeyRow } from './keys-store.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { hashSecret, newSecret } from './key-text.ts'
import { viewMember } from './members.ts'
import type { Ports } from '../../engine/ports.ts'

/** A browser is signed out after this long without a request, and after `LONGEST_MS` in any case. */
export const IDLE_MS = 12 * HOUR_MS
const MAX_SESSION_MS = 7 * DAY_MS

/** A signed-in user of the console. */
export interface ActiveConsoleSession {
  readonly principal: Principal
  /** Null if the user signed in with a key. */
  readonly member: MemberRow | null
  readonly seenAt: Instant
  readonly expiresAt: Instant
}

const COOKIE_TEXT = /^[\w-]{43}$/

/**
 * The CSRF token that a page must send besides the cookie: another origin can make the browser send the cookie but
 * cannot read it. It is derived from the cookie, so it is not stored.
 */
export const csrfTokenOf = (cookie: string): string =>
  createHmac('sha256', cookie).update('escapement console csrf').digest('base64url')

/** Whether the token belongs to the cookie. */
export function isCsrfToken(cookie: string, token: string): boolean {
  const wanted = Buffer.from(csrfTokenOf(cookie))
  const given = Buffer.from(token)
  return wanted.length === given.length && timingSafeEqual(wanted, given)
}

/** The user to sign in: a member, or the holder of a key. */
export type SignInSubject =
  | { readonly orgId: OrgId; readonly memberId: string }
  | { readonly orgId: OrgId; readonly keyId: string; readonly keyExpiresAt: Instant | null }

/** Signs a browser in, at most until the key expires. Returns the value of its cookie. */
export async function openConsoleSession(
  tx: Transaction,
  subject: SignInSubject,
  now: Instant,
): Promise<{ readonly cookie: string; readonly expiresAt: Instant }> {
  const cookie = newSecret()
  const latest = later(now, MAX_SESSION_MS)
  const expiresAt =
    'keyId' in subject && subject.keyExpiresAt !== null && subject.keyExpiresAt < latest ? subject.keyExpiresAt : latest
  const owner =
    'keyId' in subject ? { memberId: null, keyId: subject.keyId } : { memberId: subject.memberId, keyId: null }
  const row = { orgId: subject.orgId, ...owner, createdAt: now, seenAt: now, expiresAt }
  await insertConsoleSession(tx, row, hashSecret(cookie))
  return { cookie, expiresAt }
}

/** The session of this cookie, or null if it is not signed in. */
export async function findConsoleSession(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  cookie: string,
): Promise<ActiveConsoleSession | null> {
  if (!COOKIE_TEXT.test(cookie)) return null
  const now = clock.now()
  const seenAfter = earlier(now, IDLE_MS)
  const found = await loadConsoleSession(database, { cookieHash: hashSecret(cookie), now, seenAfter })
  if (found === undefined) return null
  const { orgId, member, keyId, seenAt, expiresAt } = found
  const key = keyId === null ? undefined : await loadApiKey(database, { orgId, id: keyId })
  const principal = member === null ? keyPrincipal(key, expiresAt) : memberPrincipal(member, expiresAt)
  return principal === null ? null : { principal, member, seenAt, expiresAt }
}

const memberPrincipal = ({ id, orgId, role }: MemberRow, expiresAt: Instant): Principal => ({
  ...{ id: principalId(id), orgId, role, scopes: null, expiresAt, revokedAt: null },
})

/** Has the key's permissions and ends with the key. A revoked key is reported by the next request. */
function keyPrincipal(key: ApiKeyRow | undefined, expiresAt: Instant): Principal | null {
  // Restricted keys cannot sign in.
  if (key === undefined || key.guardRails !== null) return null
  const { id, orgId, role, scopes, revokedAt } = key
  return { id: principalId(id), orgId, role, scopes, expiresAt, revokedAt }
}

/**
 * Signs a browser out; does nothing if it is not signed in. An event ends the streams it has open at once, on every
 * node.
 */
export async function signOut(ports: Pick<Ports, 'database' | 'clock' | 'commands'>, cookie: string): Promise<void> {
  const found = await findConsoleSession(ports, cookie)
  if (found === null) return
  const { principal, member } = found
  await ports.commands.execute({
    orgId: principal.orgId,
    prepare: (tx) => deleteConsoleSession(tx, hashSecret(cookie)),
    apply: (state) => {
      const kind = member === null ? 'key.changed' : 'member.changed'
      state.changes.events.push({ kind, subject: principal.id, data: { change: 'signed_out' } })
    },
  })
}

/** A console session as the API returns it. */
export const viewConsoleSession = (signedIn: ActiveConsoleSession, cookie: string): ConsoleSessionView => ({
  member: signedIn.member === null ? null : viewMember(signedIn.member),
  permissions: effectivePermissions(signedIn.principal),
  csrf_token: csrfTokenOf(cookie),
  expires_at: formatInstant(signedIn.expiresAt),
})
