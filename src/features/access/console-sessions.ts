import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ConsoleSessionView } from '../../contract/member.ts'
import { effectivePermissions, type Principal } from '../../domain/access/access.ts'
import { principalId, type OrgId } from '../../domain/ids.ts'
import { DAY_MS, earlier, formatInstant, HOUR_MS, later, type Instant } from '../../domain/instant.ts'
import { deleteConsoleSession, insertConsoleSession, loadConsoleSession } from './members-store.ts'
import { loadApiKey, type ApiKeyRow } from './keys-store.ts'
import type { Transaction } from '../../store/database.ts'
import type { MemberRow } from '../../store/members.ts'
import { hashSecret, newSecret } from './key-text.ts'
import { viewMember } from '../../service/member-view.ts'
import type { Ports } from '../../service/ports.ts'

/** A browser that is not heard of for so long is signed out, and every browser after so long. */
export const IDLE_MS = 12 * HOUR_MS
const LONGEST_MS = 7 * DAY_MS

/** Somebody who is signed in at the console. */
export interface SignedIn {
  readonly principal: Principal
  /** Null when they have signed in with a key. */
  readonly member: MemberRow | null
  readonly seenAt: Instant
  readonly expiresAt: Instant
}

const COOKIE_TEXT = /^[\w-]{43}$/

/**
 * What a page must say besides the cookie: a page of another origin can send the cookie along, but cannot know this. It
 * follows from the cookie, so there is nothing to store and nothing to compare but this.
 */
export const csrfTokenOf = (cookie: string): string =>
  createHmac('sha256', cookie).update('escapement console csrf').digest('base64url')

/** Whether the token belongs to the cookie. */
export function isCsrfToken(cookie: string, token: string): boolean {
  const wanted = Buffer.from(csrfTokenOf(cookie))
  const given = Buffer.from(token)
  return wanted.length === given.length && timingSafeEqual(wanted, given)
}

/** Who is to be signed in: a member, or whoever has a key. */
export type Entering =
  | { readonly orgId: OrgId; readonly memberId: string }
  | { readonly orgId: OrgId; readonly keyId: string; readonly keyExpiresAt: Instant | null }

/** Signs a browser in, with a key for as long as the key lives at most. Answers with the value of its cookie. */
export async function openConsoleSession(
  tx: Transaction,
  who: Entering,
  now: Instant,
): Promise<{ readonly cookie: string; readonly expiresAt: Instant }> {
  const cookie = newSecret()
  const latest = later(now, LONGEST_MS)
  const expiresAt = 'keyId' in who && who.keyExpiresAt !== null && who.keyExpiresAt < latest ? who.keyExpiresAt : latest
  const owner = 'keyId' in who ? { memberId: null, keyId: who.keyId } : { memberId: who.memberId, keyId: null }
  const row = { orgId: who.orgId, ...owner, createdAt: now, seenAt: now, expiresAt }
  await insertConsoleSession(tx, row, hashSecret(cookie))
  return { cookie, expiresAt }
}

/** Who is signed in with this cookie; null when nobody is any more. */
export async function findConsoleSession(
  { database, clock }: Pick<Ports, 'database' | 'clock'>,
  cookie: string,
): Promise<SignedIn | null> {
  if (!COOKIE_TEXT.test(cookie)) return null
  const now = clock.now()
  const seenAfter = earlier(now, IDLE_MS)
  const found = await loadConsoleSession(database, { cookieHash: hashSecret(cookie), now, seenAfter })
  if (found === undefined) return null
  const { orgId, member, keyId, seenAt, expiresAt } = found
  const key = keyId === null ? undefined : await loadApiKey(database, { orgId, id: keyId })
  const principal = member === null ? ofKey(key, expiresAt) : ofMember(member, expiresAt)
  return principal === null ? null : { principal, member, seenAt, expiresAt }
}

const ofMember = ({ id, orgId, role }: MemberRow, expiresAt: Instant): Principal => ({
  ...{ id: principalId(id), orgId, role, scopes: null, expiresAt, revokedAt: null },
})

/** May do what the key may, and no longer than the key: one that was revoked is told so with the next request. */
function ofKey(key: ApiKeyRow | undefined, expiresAt: Instant): Principal | null {
  // Nobody signs in with a key that has guard rails.
  if (key === undefined || key.guardRails !== null) return null
  const { id, orgId, role, scopes, revokedAt } = key
  return { id: principalId(id), orgId, role, scopes, expiresAt, revokedAt }
}

/**
 * Signs a browser out. One that is not signed in is left as it is. Told as an event, so that the streams it has open end at
 * once, on every node.
 */
export async function signOut(ports: Pick<Ports, 'database' | 'clock' | 'turns'>, cookie: string): Promise<void> {
  const found = await findConsoleSession(ports, cookie)
  if (found === null) return
  const { principal, member } = found
  await ports.turns.take({
    orgId: principal.orgId,
    prepare: (tx) => deleteConsoleSession(tx, hashSecret(cookie)),
    apply: (desk) => {
      const kind = member === null ? 'key.changed' : 'member.changed'
      desk.changes.events.push({ kind, subject: principal.id, data: { change: 'signed_out' } })
    },
  })
}

/** Somebody who is signed in, as the console shows them. */
export const viewConsoleSession = (signedIn: SignedIn, cookie: string): ConsoleSessionView => ({
  member: signedIn.member === null ? null : viewMember(signedIn.member),
  permissions: effectivePermissions(signedIn.principal),
  csrf_token: csrfTokenOf(cookie),
  expires_at: formatInstant(signedIn.expiresAt),
})
