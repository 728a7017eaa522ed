import type { KeyFilter, KeyInput, KeyView, MadeKey } from './schema.ts'
import type { Page } from '../../api/page.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { isGrantable, type Principal } from '../../domain/access/access.ts'
import { principalId } from '../../domain/ids.ts'
import { parseWord } from '../../domain/input.ts'
import { formatInstant, instant, type Instant } from '../../domain/instant.ts'
import {
  hasPersonalKeys,
  insertApiKey,
  listApiKeys,
  loadApiKey,
  loadApiKeyByHash,
  revokeApiKey,
  type ApiKeyRow,
} from './keys-store.ts'
import type { Transaction } from '../../platform/db/database.ts'
import { actorOf, changed, created } from '../audit/entry.ts'
import { applyBudgetChange } from '../budgets/stored-budget.ts'
import { callerOf, type Caller, type Grantor } from './caller.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import { bindToKey } from '../../engine/idempotency.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { hashSecret, hintOf, isKeyText, newKeyText } from './key-text.ts'
import type { Ports } from '../../engine/ports.ts'
import { saveRestrictionBudget } from './restricted-input.ts'
import { RESTRICTED_SCOPES, restrictionsFrom, viewRestrictionsOrNull } from './restrictions.ts'
import type { OwnBudgetResult } from '../schedules/budget.ts'
import type { Command } from '../../engine/commands-port.ts'

type KeySettings = Pick<ApiKeyRow, 'name' | 'role' | 'scopes' | 'expiresAt' | 'guardRails'>

/** A new key as it will be stored. */
function keySettingsOf(input: KeyInput, now: Instant): KeySettings {
  const { name, expires_at: expires, guard_rails: restrictions = null, ...given } = input
  const guardRails = restrictions === null ? null : restrictionsFrom(restrictions)
  const expiresAt = typeof expires === 'string' ? instant(Date.parse(expires)) : null
  if (expiresAt !== null && expiresAt <= now)
    throw invalid([
      { field: 'expires_at', value: formatInstant(expiresAt), message: 'is in the past', allowed: 'a later time' },
    ])
  return { name, ...keyPermissionsOf({ ...given, guardRails }), expiresAt, guardRails }
}

/**
 * A restricted key without role and scopes gets every permission on its own objects: the restrictions limit it better
 * than a role that can create schedules but not delete them.
 */
function keyPermissionsOf(
  given: Pick<KeyInput, 'role' | 'scopes'> & Pick<KeySettings, 'guardRails'>,
): Pick<KeySettings, 'role' | 'scopes'> {
  const { role, scopes = null, guardRails } = given
  if (guardRails !== null && role === undefined && scopes === null) return { role: 'admin', scopes: RESTRICTED_SCOPES }
  return { role: role ?? 'member', scopes }
}

const keyNotFound = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no key ${id}`)

interface PreparedKey {
  readonly inserted: ApiKeyRow
  /** The budget of everything the restricted key creates. */
  readonly budget: OwnBudgetResult | null
}

/** Creates a key. Its text is only in the response. */
export async function createKey(ports: Ports, grantor: Grantor, input: KeyInput): Promise<MadeKey> {
  const wanted = keySettingsOf(input, ports.clock.now())
  refuseUngrantable(grantor, wanted)
  const { orgId } = grantor
  const caller = callerOf(grantor)
  const text = newKeyText()
  const id = ports.newId('key', ports.clock.now())
  const command: Command<ApiKeyRow> = {
    orgId,
    prepare: async (tx, now): Promise<PreparedKey> => {
      const expiresAt = await expiryWithinCreator(tx, grantor, wanted.expiresAt)
      const inserted: ApiKeyRow = {
        ...{ ...wanted, expiresAt, orgId, id, hint: hintOf(text), origin: 'person' },
        ...{ createdBy: caller.principal, createdAt: now, revokedAt: null, lastUsedAt: null },
      }
      await insertApiKey(tx, inserted, hashSecret(text))
      const budget = await saveRestrictionBudget(tx, {
        orgId,
        owner: id,
        before: null,
        after: inserted.guardRails,
        now,
      })
      return { inserted, budget }
    },
    apply: (orgState, prepared) => {
      const { inserted, budget } = prepared as PreparedKey
      if (budget !== null) applyBudgetChange(orgState, actorOf(caller), budget)
      orgState.changes.audits.push(created(actorOf(caller), { kind: 'key', id }, viewKey(inserted, orgState.now)))
      orgState.changes.events.push({ kind: 'key.changed', subject: id, data: { change: 'created' } })
      return inserted
    },
  }
  const row = await ports.commands.execute(bindToKey(command, caller))
  // A repeated request returns the first key, whose text is not stored.
  return { ...viewKey(row, ports.clock.now()), key: row.id === id ? text : null }
}

/** The expiry of a new key: by default, and at most, that of the key that creates it. */
async function expiryWithinCreator(
  tx: Transaction,
  { orgId, principal }: Grantor,
  wanted: Instant | null,
): Promise<Instant | null> {
  const creator = principal === null ? undefined : await loadApiKey(tx, { orgId, id: principal.id })
  const end = creator?.expiresAt ?? null
  if (end === null || (wanted !== null && wanted <= end)) return wanted
  if (wanted === null) return end
  const ends = formatInstant(end)
  throw new Refusal('FORBIDDEN', `A key cannot outlive the key that creates it, which expires at ${ends}`, {
    details: { expires_at: ends },
  })
}

/** Refuses to grant permissions that the grantor does not have. */
export function refuseUngrantable({ principal }: Grantor, wanted: Pick<Principal, 'role' | 'scopes'>): void {
  if (principal === null || isGrantable(principal, wanted)) return
  throw new Refusal(
    'FORBIDDEN',
    `You cannot grant the role ${wanted.role} with these permissions, because you do not have them`,
    {
      details: { role: wanted.role, scopes: wanted.scopes, your_role: principal.role },
    },
  )
}

/** Refuses to revoke a key with permissions that the caller could not grant. */
function refuseUngrantableKey({ principal }: Grantor, { id, role, scopes }: ApiKeyRow): void {
  if (principal === null || principal.id === id || isGrantable(principal, { role, scopes })) return
  throw new Refusal('FORBIDDEN', `Cannot revoke key ${id}: the key's role (${role}) or permissions exceed yours`, {
    details: { role, scopes, your_role: principal.role },
  })
}

/** A page of the org's keys, newest first. */
export async function findKeys(ports: Ports, { orgId }: Caller, filter: KeyFilter = {}): Promise<Page<KeyView>> {
  const { flaws, keep } = collectFlaws()
  const limit = keep(parseLimit('limit', filter.limit)) ?? 0
  const cursor = keep(parseCursor('cursor', filter.cursor))
  const state =
    filter.state === undefined
      ? null
      : keep(parseWord('state', filter.state, ['active', 'expired', 'revoked'] as const))
  if (flaws.length > 0) throw invalid(flaws)
  const now = ports.clock.now()
  const after = cursor === null ? null : { createdAt: cursor.createdAt, id: cursor.key }
  const rows = await listApiKeys(ports.database, { orgId, state, now, after, limit: limit + 1 })
  return pageOf(rows, limit, {
    view: (row) => viewKey(row, now),
    cursor: ({ createdAt, id }) => ({ createdAt, key: id }),
  })
}

export async function getKey(ports: Ports, { orgId }: Caller, id: string): Promise<KeyView> {
  const row = await loadApiKey(ports.database, { orgId, id })
  if (row === undefined) throw keyNotFound(id)
  return viewKey(row, ports.clock.now())
}

/**
 * Revokes a key at once; revoking it again changes nothing. Allowed for the caller's own key and for keys it could
 * grant.
 */
export async function revokeKey(ports: Ports, grantor: Grantor, id: string): Promise<KeyView> {
  const { orgId } = grantor
  const caller = callerOf(grantor)
  const row = await ports.commands.execute({
    orgId,
    prepare: async (tx, now) => {
      const found = await loadApiKey(tx, { orgId, id })
      if (found === undefined) throw keyNotFound(id)
      refuseUngrantableKey(grantor, found)
      if (found.revokedAt === null) await revokeApiKey(tx, { orgId, id, at: now })
      return found
    },
    apply: (orgState, prepared) => {
      const before = prepared as ApiKeyRow
      if (before.revokedAt !== null) return before
      const after = { ...before, revokedAt: orgState.now }
      const views = { before: viewKey(before, orgState.now), after: viewKey(after, orgState.now) }
      orgState.changes.audits.push(changed(actorOf(caller), { kind: 'key', id }, { ...views, verb: 'revoke' }))
      orgState.changes.events.push({ kind: 'key.changed', subject: id, data: { change: 'revoked' } })
      return after
    },
  })
  return viewKey(row, ports.clock.now())
}

/** A key as the API returns it. */
export const viewKey = (row: ApiKeyRow, now: Instant): KeyView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  hint: row.hint,
  role: row.role,
  scopes: row.scopes,
  guard_rails: viewRestrictionsOrNull(row.guardRails),
  origin: row.origin,
  state: row.revokedAt !== null ? 'revoked' : row.expiresAt !== null && row.expiresAt <= now ? 'expired' : 'active',
  created_by: row.createdBy,
  created_at: formatInstant(row.createdAt),
  expires_at: row.expiresAt === null ? null : formatInstant(row.expiresAt),
  revoked_at: row.revokedAt === null ? null : formatInstant(row.revokedAt),
  last_used_at: row.lastUsedAt === null ? null : formatInstant(row.lastUsedAt),
})

/**
 * The principal of this key, or null if there is no such key. Revoked and expired keys too, because `decideAccess`
 * decides why one is refused.
 */
export async function findPrincipal(
  { database }: Pick<Ports, 'database'>,
  keyText: string,
): Promise<(Principal & { readonly lastUsedAt: Instant | null }) | null> {
  if (!isKeyText(keyText)) return null
  const row = await loadApiKeyByHash(database, hashSecret(keyText))
  if (row === undefined) return null
  const { orgId, role, scopes, expiresAt, revokedAt, lastUsedAt, guardRails: restrictions } = row
  const principal = { id: principalId(row.id), orgId, role, scopes, expiresAt, revokedAt, lastUsedAt }
  return restrictions === null
    ? principal
    : { ...principal, restricted: { restrictions, owner: row.id, attempt: null } }
}

/**
 * Whether a user created a key that still works. Only then, or with a key in the environment, may the server listen on
 * public addresses.
 */
export const hasPersonalKey = ({ database, clock }: Pick<Ports, 'database' | 'clock'>): Promise<boolean> =>
  hasPersonalKeys(database, clock.now())
