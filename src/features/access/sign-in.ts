import { Refusal } from '../../api/refusals.ts'
import { decideAccess, effectivePermissions, OPERATOR_ORG, type Principal } from '../../domain/access/access.ts'
import { breach } from '../../domain/access/restrictions.ts'
import { formatInstant, type Instant, later, MINUTE_MS } from '../../domain/instant.ts'
import type { Ports } from '../../engine/ports.ts'
import { callerOf, type Grantor } from './caller.ts'
import { csrfTokenOf, findConsoleSession, openConsoleSession } from './console-sessions.ts'
import { hashSecret, newSecret } from './key-text.ts'
import { loadApiKey } from './keys-store.ts'
import { findPrincipal } from './keys.ts'
import {
  insertMember,
  insertSignIn,
  loadMember,
  loadOwners,
  loadSignIn,
  type MemberRow,
  recordSignIn,
  consumeSignIn,
} from './members-store.ts'
import { loadGrantableMember, newMember, viewMember } from './members.ts'
import { loadOrg } from './orgs-store.ts'
import { restrictionRefusal } from './restrictions.ts'
import type { MeView, SignInLink } from './schema.ts'
import { acted, actorOf, type AuditEntry, created, SYSTEM_ACTOR } from '../audit/entry.ts'
import type { Transaction } from '../../platform/db/database.ts'

/** Lifetime of a sign-in link. */
const LINK_MS = 10 * MINUTE_MS

const TOKEN_TEXT = /^[\w-]{43}$/

/**
 * Creates a link that signs a member in once: the given member, else the caller, else the oldest owner of the org. A
 * caller cannot create a link for a member with more permissions.
 */
export async function createSignInLink(
  ports: Ports,
  grantor: Grantor,
  request: { readonly member_id?: string | undefined } = {},
): Promise<SignInLink> {
  const token = newSecret()
  const member = await ports.commands.execute({
    orgId: grantor.orgId,
    prepare: async (tx, now) => {
      const found = await loadGrantableMember(tx, grantor, request.member_id ?? (await linkMemberId(tx, grantor)))
      await insertSignIn(tx, signInRow(found, now), hashSecret(token))
      return found
    },
    apply: (state, prepared): CreatedLink => {
      const found = prepared as MemberRow
      state.changes.audits.push(linkRecord(actorOf(callerOf(grantor)), found, state.now))
      return { id: found.id, at: state.now }
    },
  })
  return viewLink(token, member)
}

interface CreatedLink {
  readonly id: string
  readonly at: Instant
}

async function linkMemberId(tx: Transaction, { orgId, principal }: Grantor): Promise<string> {
  if (principal !== null && (await loadMember(tx, { orgId, id: principal.id })) !== undefined) return principal.id
  const [owner] = await loadOwners(tx, orgId)
  if (owner === undefined) throw new Refusal('NOT_FOUND', `The org ${orgId} has no owner yet; create a member first`)
  return owner.id
}

const signInRow = ({ orgId, id: memberId }: MemberRow, now: Instant) => ({
  ...{ orgId, memberId, createdAt: now, expiresAt: later(now, LINK_MS) },
})

const linkRecord = (actor: string, { id }: MemberRow, now: Instant): AuditEntry =>
  acted(
    actor,
    { kind: 'member', id },
    { verb: 'sign_in_link', after: { expires_at: formatInstant(later(now, LINK_MS)) } },
  )

const viewLink = (token: string, { id, at }: CreatedLink): SignInLink => ({
  ...{ token, member_id: id, expires_at: formatInstant(later(at, LINK_MS)) },
})

/**
 * Creates the sign-in link of a start, for the oldest owner of the operator org. Creates that owner if there is none.
 */
export async function createStartLink(ports: Ports): Promise<SignInLink> {
  const token = newSecret()
  const createdLink = await ports.commands.execute({
    orgId: OPERATOR_ORG,
    prepare: async (tx, now) => {
      const [owner] = await loadOwners(tx, OPERATOR_ORG)
      const member = owner ?? (await insertOwner(ports, tx, now))
      await insertSignIn(tx, signInRow(member, now), hashSecret(token))
      return { member, isNew: owner === undefined }
    },
    apply: (state, prepared): CreatedLink => {
      const { member, isNew } = prepared as { readonly member: MemberRow; readonly isNew: boolean }
      if (isNew) state.changes.audits.push(created(SYSTEM_ACTOR, { kind: 'member', id: member.id }, viewMember(member)))
      state.changes.audits.push(linkRecord(SYSTEM_ACTOR, member, state.now))
      return { id: member.id, at: state.now }
    },
  })
  return viewLink(token, createdLink)
}

async function insertOwner(ports: Ports, tx: Transaction, now: Instant): Promise<MemberRow> {
  const caller = { orgId: OPERATOR_ORG, principal: null }
  const row = newMember({ name: 'Owner', email: null, role: 'owner' }, { caller, now, id: ports.newId('member', now) })
  await insertMember(tx, row)
  return row
}

const linkExpired = (): Refusal =>
  new Refusal('UNAUTHENTICATED', 'This link was used before or has expired; create a new one: escapement login')

/** Consumes a link and signs the browser in. Returns the value of its cookie and when it expires. */
export async function signIn(
  ports: Ports,
  token: string,
): Promise<{ readonly cookie: string; readonly expiresAt: Instant }> {
  const tokenHash = hashSecret(token)
  const link = TOKEN_TEXT.test(token) ? await loadSignIn(ports.database, tokenHash) : undefined
  if (link === undefined) throw linkExpired()
  return ports.commands.execute({
    orgId: link.orgId,
    prepare: async (tx, now) => {
      const consumed = await consumeSignIn(tx, { tokenHash, now })
      if (consumed === undefined) throw linkExpired()
      const { orgId, memberId: id } = consumed
      await recordSignIn(tx, { orgId, id, at: now })
      return openConsoleSession(tx, { orgId, memberId: id }, now)
    },
    apply: (state, prepared) => {
      const { memberId: id } = link
      state.changes.audits.push(acted(id, { kind: 'member', id }, { verb: 'sign_in', after: null }))
      return prepared as { readonly cookie: string; readonly expiresAt: Instant }
    },
  })
}

/** Signs a browser in with a key. The browser keeps only a cookie, which has the permissions of the key. */
export async function signInWithKey(
  ports: Ports,
  keyText: string,
): Promise<{ readonly cookie: string; readonly expiresAt: Instant }> {
  const found = await findPrincipal(ports, keyText)
  if (found === null) throw new Refusal('UNAUTHENTICATED', 'Unknown key')
  const { orgId, id } = found
  return ports.commands.execute({
    orgId,
    prepare: async (tx, now) => {
      const key = await loadApiKey(tx, { orgId, id })
      if (key === undefined) throw new Refusal('UNAUTHENTICATED', 'Unknown key')
      const { expiresAt, revokedAt, guardRails } = key
      if (guardRails !== null)
        throw restrictionRefusal(breach('operation', 'A restricted key cannot sign in; it is for programs only'))
      if (revokedAt !== null) throw new Refusal('UNAUTHENTICATED', 'The key was revoked')
      if (expiresAt !== null && expiresAt <= now) throw new Refusal('UNAUTHENTICATED', 'The key has expired')
      return openConsoleSession(tx, { orgId, keyId: id, keyExpiresAt: expiresAt }, now)
    },
    apply: (state, prepared) => {
      state.changes.audits.push(acted(id, { kind: 'key', id }, { verb: 'sign_in', after: null }))
      return prepared as { readonly cookie: string; readonly expiresAt: Instant }
    },
  })
}

/** Describes the caller. `cookie` is the cookie of its session, or null for a key. */
export async function describeCaller(
  ports: Pick<Ports, 'database' | 'clock'>,
  principal: Principal,
  cookie: string | null,
): Promise<MeView> {
  const { id, orgId, role, expiresAt } = principal
  const [org, session] = await Promise.all([
    loadOrg(ports.database, orgId),
    cookie === null ? null : findConsoleSession(ports, cookie),
  ])
  // The org was deleted in the meantime, and its keys with it.
  if (org === undefined) throw new Refusal('UNAUTHENTICATED', 'The org of this key is being deleted')
  const member = session?.member ?? null
  const operating = { permission: 'admin:*', orgId, now: ports.clock.now(), operatorOnly: true } as const
  return {
    ...{ id, kind: member === null ? 'key' : 'member', org: { id: orgId, name: org.name }, role },
    permissions: effectivePermissions(principal),
    operator: decideAccess(principal, operating).kind === 'granted',
    expires_at: expiresAt === null ? null : formatInstant(expiresAt),
    member: member === null ? null : viewMember(member),
    csrf_token: cookie === null ? null : csrfTokenOf(cookie),
  }
}
