import type { KeyFilter, KeyInput, KeyView, MadeKey } from '../../contract/key.ts'
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
import type { Transaction } from '../../store/database.ts'
import { actorOf, changed, created } from '../audit/entry.ts'
import { applyKept } from '../../service/kept-budget.ts'
import { callerOf, type Caller, type Giver } from '../../service/caller.ts'
import { pageOf, parseCursor, parseLimit } from '../../platform/db/cursor.ts'
import { bound } from '../../service/idempotent.ts'
import { collectFlaws } from '../../domain/input-fields.ts'
import { hashSecret, hintOf, isKeyText, newKeyText } from './key-text.ts'
import type { Ports } from '../../service/ports.ts'
import { keepRailBudget } from '../../service/rails/budget.ts'
import { RAILED_SCOPES } from '../../service/rails/scopes.ts'
import { railsFrom, viewRailsOrNull } from '../../service/rails/view.ts'
import type { KeptOwn } from '../../service/schedule-budget.ts'
import type { Work } from '../../service/turn-port.ts'

type ReadKey = Pick<ApiKeyRow, 'name' | 'role' | 'scopes' | 'expiresAt' | 'guardRails'>

/** A new key as it will be kept. */
function newKey(input: KeyInput, now: Instant): ReadKey {
  const { name, expires_at: expires, guard_rails: rails = null, ...given } = input
  const guardRails = rails === null ? null : railsFrom(rails)
  const expiresAt = typeof expires === 'string' ? instant(Date.parse(expires)) : null
  if (expiresAt !== null && expiresAt <= now)
    throw invalid([
      { field: 'expires_at', value: formatInstant(expiresAt), message: 'is in the past', allowed: 'a later time' },
    ])
  return { name, ...standingOf({ ...given, guardRails }), expiresAt, guardRails }
}

/**
 * A key with guard rails of which nothing else is said may do with its own things whatever can be done with them; rails
 * are a better fence for it than a role that lets it make schedules and not delete them.
 */
function standingOf(
  given: Pick<KeyInput, 'role' | 'scopes'> & Pick<ReadKey, 'guardRails'>,
): Pick<ReadKey, 'role' | 'scopes'> {
  const { role, scopes = null, guardRails } = given
  if (guardRails !== null && role === undefined && scopes === null) return { role: 'admin', scopes: RAILED_SCOPES }
  return { role: role ?? 'member', scopes }
}

const noKey = (id: string): Refusal => new Refusal('NOT_FOUND', `There is no key ${id}`)

interface PreparedKey {
  readonly made: ApiKeyRow
  /** What its guard rails let everything use that it makes. */
  readonly budget: KeptOwn | null
}

/** Makes a key. Its text is in the answer and nowhere else. */
export async function createKey(ports: Ports, giver: Giver, input: KeyInput): Promise<MadeKey> {
  const wanted = newKey(input, ports.clock.now())
  refuseUngrantable(giver, wanted)
  const { orgId } = giver
  const caller = callerOf(giver)
  const text = newKeyText()
  const id = ports.newId('key', ports.clock.now())
  const work: Work<ApiKeyRow> = {
    orgId,
    prepare: async (tx, now): Promise<PreparedKey> => {
      const expiresAt = await withinMaker(tx, giver, wanted.expiresAt)
      const made: ApiKeyRow = {
        ...{ ...wanted, expiresAt, orgId, id, hint: hintOf(text), origin: 'person' },
        ...{ createdBy: caller.principal, createdAt: now, revokedAt: null, lastUsedAt: null },
      }
      await insertApiKey(tx, made, hashSecret(text))
      const budget = await keepRailBudget(tx, { orgId, owner: id, before: null, after: made.guardRails, now })
      return { made, budget }
    },
    apply: (desk, prepared) => {
      const { made, budget } = prepared as PreparedKey
      if (budget !== null) applyKept(desk, actorOf(caller), budget)
      desk.changes.audits.push(created(actorOf(caller), { kind: 'key', id }, viewKey(made, desk.now)))
      desk.changes.events.push({ kind: 'key.changed', subject: id, data: { change: 'created' } })
      return made
    },
  }
  const row = await ports.turns.take(bound(work, caller))
  // A repetition is answered with the first key, whose text nobody has any more.
  return { ...viewKey(row, ports.clock.now()), key: row.id === id ? text : null }
}

/** When a key ends: no later than the key it is made with, and with it unless something else is said. */
async function withinMaker(
  tx: Transaction,
  { orgId, principal }: Giver,
  wanted: Instant | null,
): Promise<Instant | null> {
  const maker = principal === null ? undefined : await loadApiKey(tx, { orgId, id: principal.id })
  const end = maker?.expiresAt ?? null
  if (end === null || (wanted !== null && wanted <= end)) return wanted
  if (wanted === null) return end
  const ends = formatInstant(end)
  throw new Refusal('FORBIDDEN', `A key cannot outlive the one it is made with, which expires at ${ends}`, {
    details: { expires_at: ends },
  })
}

/** Nobody gives what they do not have. */
export function refuseUngrantable({ principal }: Giver, wanted: Pick<Principal, 'role' | 'scopes'>): void {
  if (principal === null || isGrantable(principal, wanted)) return
  throw new Refusal(
    'FORBIDDEN',
    `You cannot give the role ${wanted.role} with these permissions: you do not have them`,
    {
      details: { role: wanted.role, scopes: wanted.scopes, your_role: principal.role },
    },
  )
}

/** Nobody takes away what they could not have given. */
function refuseAbove({ principal }: Giver, { id, role, scopes }: ApiKeyRow): void {
  if (principal === null || principal.id === id || isGrantable(principal, { role, scopes })) return
  throw new Refusal('FORBIDDEN', `Key ${id} has the role ${role} and permissions that you do not have`, {
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

/** The key. */
export async function getKey(ports: Ports, { orgId }: Caller, id: string): Promise<KeyView> {
  const row = await loadApiKey(ports.database, { orgId, id })
  if (row === undefined) throw noKey(id)
  return viewKey(row, ports.clock.now())
}

/** Ends a key, at once. Ending it twice changes nothing. Only its own key, and those it could have made. */
export async function revokeKey(ports: Ports, giver: Giver, id: string): Promise<KeyView> {
  const { orgId } = giver
  const caller = callerOf(giver)
  const row = await ports.turns.take({
    orgId,
    prepare: async (tx, now) => {
      const found = await loadApiKey(tx, { orgId, id })
      if (found === undefined) throw noKey(id)
      refuseAbove(giver, found)
      if (found.revokedAt === null) await revokeApiKey(tx, { orgId, id, at: now })
      return found
    },
    apply: (desk, prepared) => {
      const before = prepared as ApiKeyRow
      if (before.revokedAt !== null) return before
      const after = { ...before, revokedAt: desk.now }
      const views = { before: viewKey(before, desk.now), after: viewKey(after, desk.now) }
      desk.changes.audits.push(changed(actorOf(caller), { kind: 'key', id }, { ...views, verb: 'revoke' }))
      desk.changes.events.push({ kind: 'key.changed', subject: id, data: { change: 'revoked' } })
      return after
    },
  })
  return viewKey(row, ports.clock.now())
}

/** A key as every surface shows it. */
export const viewKey = (row: ApiKeyRow, now: Instant): KeyView => ({
  id: row.id,
  org_id: row.orgId,
  name: row.name,
  hint: row.hint,
  role: row.role,
  scopes: row.scopes,
  guard_rails: viewRailsOrNull(row.guardRails),
  origin: row.origin,
  state: row.revokedAt !== null ? 'revoked' : row.expiresAt !== null && row.expiresAt <= now ? 'expired' : 'active',
  created_by: row.createdBy,
  created_at: formatInstant(row.createdAt),
  expires_at: row.expiresAt === null ? null : formatInstant(row.expiresAt),
  revoked_at: row.revokedAt === null ? null : formatInstant(row.revokedAt),
  last_used_at: row.lastUsedAt === null ? null : formatInstant(row.lastUsedAt),
})

/** Who speaks with this key, also when it does not work any more: why is for `decideAccess` to say. Null: no such key. */
export async function findPrincipal(
  { database }: Pick<Ports, 'database'>,
  keyText: string,
): Promise<(Principal & { readonly lastUsedAt: Instant | null }) | null> {
  if (!isKeyText(keyText)) return null
  const row = await loadApiKeyByHash(database, hashSecret(keyText))
  if (row === undefined) return null
  const { orgId, role, scopes, expiresAt, revokedAt, lastUsedAt, guardRails: rails } = row
  const principal = { id: principalId(row.id), orgId, role, scopes, expiresAt, revokedAt, lastUsedAt }
  return rails === null ? principal : { ...principal, railed: { rails, owner: row.id, attempt: null } }
}

/** Whether a person has made a key that still works: only then, or with a key in the environment, others may be let in. */
export const hasPersonalKey = ({ database, clock }: Pick<Ports, 'database' | 'clock'>): Promise<boolean> =>
  hasPersonalKeys(database, clock.now())
