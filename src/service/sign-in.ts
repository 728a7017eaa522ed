import type { SignInLink } from '../contract/member.ts'
import { Refusal } from '../api/refusals.ts'
import { OPERATOR_ORG } from '../domain/access/access.ts'
import { breach } from '../core/rails/breach.ts'
import { formatInstant, later, MINUTE_MS, type Instant } from '../domain/instant.ts'
import { loadApiKey } from '../features/access/keys-store.ts'
import type { Transaction } from '../store/database.ts'
import { insertMember, loadMember, loadOwners, noteSignIn, type MemberRow } from '../store/members.ts'
import { insertSignIn, loadSignIn, takeSignIn } from '../features/access/members-store.ts'
import { acted, actorOf, created, SYSTEM_ACTOR, type AuditEntry } from '../features/audit/entry.ts'
import { callerOf, type Giver } from './caller.ts'
import { openConsoleSession } from '../features/access/console-sessions.ts'
import { hashSecret, newSecret } from '../features/access/key-text.ts'
import { findPrincipal } from '../features/access/keys.ts'
import { memberWithin, newMember } from './members.ts'
import { viewMember } from './member-view.ts'
import type { Ports } from './ports.ts'
import { railRefusal } from './rails/refusals.ts'

/** How long a link can be used. */
const LINK_MS = 10 * MINUTE_MS

const TOKEN_TEXT = /^[\w-]{43}$/

/**
 * Makes a link that signs somebody in, once: the member who is named, else whoever asks, else the oldest owner of the
 * org. Nobody makes one for somebody who may do more.
 */
export async function createSignInLink(
  ports: Ports,
  giver: Giver,
  asked: { readonly member_id?: string | undefined } = {},
): Promise<SignInLink> {
  const token = newSecret()
  const member = await ports.turns.take({
    orgId: giver.orgId,
    prepare: async (tx, now) => {
      const found = await memberWithin(tx, giver, asked.member_id ?? (await memberFor(tx, giver)))
      await insertSignIn(tx, linkFor(found, now), hashSecret(token))
      return found
    },
    apply: (desk, prepared): Linked => {
      const found = prepared as MemberRow
      desk.changes.audits.push(linkRecord(actorOf(callerOf(giver)), found, desk.now))
      return { id: found.id, at: desk.now }
    },
  })
  return viewLink(token, member)
}

interface Linked {
  readonly id: string
  readonly at: Instant
}

async function memberFor(tx: Transaction, { orgId, principal }: Giver): Promise<string> {
  if (principal !== null && (await loadMember(tx, { orgId, id: principal.id })) !== undefined) return principal.id
  const [owner] = await loadOwners(tx, orgId)
  if (owner === undefined) throw new Refusal('NOT_FOUND', `The org ${orgId} has no owner yet; create a member first`)
  return owner.id
}

const linkFor = ({ orgId, id: memberId }: MemberRow, now: Instant) => ({
  ...{ orgId, memberId, createdAt: now, expiresAt: later(now, LINK_MS) },
})

const linkRecord = (actor: string, { id }: MemberRow, now: Instant): AuditEntry =>
  acted(
    actor,
    { kind: 'member', id },
    { verb: 'sign_in_link', after: { expires_at: formatInstant(later(now, LINK_MS)) } },
  )

const viewLink = (token: string, { id, at }: Linked): SignInLink => ({
  ...{ token, member_id: id, expires_at: formatInstant(later(at, LINK_MS)) },
})

/** Makes the link of a start, for the oldest owner of the operator org, who is made if there is none yet. */
export async function createStartLink(ports: Ports): Promise<SignInLink> {
  const token = newSecret()
  const linked = await ports.turns.take({
    orgId: OPERATOR_ORG,
    prepare: async (tx, now) => {
      const [owner] = await loadOwners(tx, OPERATOR_ORG)
      const member = owner ?? (await insertOwner(ports, tx, now))
      await insertSignIn(tx, linkFor(member, now), hashSecret(token))
      return { member, isNew: owner === undefined }
    },
    apply: (desk, prepared): Linked => {
      const { member, isNew } = prepared as { readonly member: MemberRow; readonly isNew: boolean }
      if (isNew) desk.changes.audits.push(created(SYSTEM_ACTOR, { kind: 'member', id: member.id }, viewMember(member)))
      desk.changes.audits.push(linkRecord(SYSTEM_ACTOR, member, desk.now))
      return { id: member.id, at: desk.now }
    },
  })
  return viewLink(token, linked)
}

async function insertOwner(ports: Ports, tx: Transaction, now: Instant): Promise<MemberRow> {
  const caller = { orgId: OPERATOR_ORG, principal: null }
  const row = newMember({ name: 'Owner', email: null, role: 'owner' }, { caller, now, id: ports.newId('member', now) })
  await insertMember(tx, row)
  return row
}

const overLink = (): Refusal =>
  new Refusal('UNAUTHENTICATED', 'This link was used before, or its time is over; make a new one: escapement login')

/** Uses a link up and signs the browser in. Answers with the value of its cookie, and until when it lives at most. */
export async function signIn(
  ports: Ports,
  token: string,
): Promise<{ readonly cookie: string; readonly expiresAt: Instant }> {
  const tokenHash = hashSecret(token)
  const link = TOKEN_TEXT.test(token) ? await loadSignIn(ports.database, tokenHash) : undefined
  if (link === undefined) throw overLink()
  return ports.turns.take({
    orgId: link.orgId,
    prepare: async (tx, now) => {
      const taken = await takeSignIn(tx, { tokenHash, now })
      if (taken === undefined) throw overLink()
      const { orgId, memberId: id } = taken
      await noteSignIn(tx, { orgId, id, at: now })
      return openConsoleSession(tx, { orgId, memberId: id }, now)
    },
    apply: (desk, prepared) => {
      const { memberId: id } = link
      desk.changes.audits.push(acted(id, { kind: 'member', id }, { verb: 'sign_in', after: null }))
      return prepared as { readonly cookie: string; readonly expiresAt: Instant }
    },
  })
}

/** Signs a browser in with a key, which goes nowhere else: the browser keeps a cookie that does what the key may. */
export async function signInWithKey(
  ports: Ports,
  keyText: string,
): Promise<{ readonly cookie: string; readonly expiresAt: Instant }> {
  const found = await findPrincipal(ports, keyText)
  if (found === null) throw new Refusal('UNAUTHENTICATED', 'The key is not known')
  const { orgId, id } = found
  return ports.turns.take({
    orgId,
    prepare: async (tx, now) => {
      const key = await loadApiKey(tx, { orgId, id })
      if (key === undefined) throw new Refusal('UNAUTHENTICATED', 'The key is not known')
      const { expiresAt, revokedAt, guardRails } = key
      if (guardRails !== null)
        throw railRefusal(breach('operation', 'A key with guard rails is for programs: nobody signs in with it'))
      if (revokedAt !== null) throw new Refusal('UNAUTHENTICATED', 'The key was revoked')
      if (expiresAt !== null && expiresAt <= now) throw new Refusal('UNAUTHENTICATED', 'The key has expired')
      return openConsoleSession(tx, { orgId, keyId: id, keyExpiresAt: expiresAt }, now)
    },
    apply: (desk, prepared) => {
      desk.changes.audits.push(acted(id, { kind: 'key', id }, { verb: 'sign_in', after: null }))
      return prepared as { readonly cookie: string; readonly expiresAt: Instant }
    },
  })
}
