import { createHash } from 'node:crypto'
import type { AuditAction, AuditedKind, AuditVerb } from '../../domain/access/audit-words.ts'
import type { OrgId } from '../../domain/ids.ts'
import { formatInstant, type Instant } from '../../domain/instant.ts'
import type { Caller } from '../access/caller.ts'
import { type AuditRow, insertAudits, loadAuditHead } from './store.ts'
import type { Transaction } from '../../platform/db/database.ts'

/** An object with audit records. */
interface Audited<Kind extends AuditedKind = AuditedKind> {
  readonly kind: Kind
  readonly id: string
}

/** A new audit record. */
export interface AuditEntry {
  readonly actor: string
  readonly action: AuditAction
  readonly object: Audited
  readonly before: unknown
  readonly after: unknown
}

const actionOf = <Kind extends AuditedKind>({ kind }: Audited<Kind>, verb: AuditVerb<Kind>): AuditAction =>
  // TypeScript cannot infer that a kind and one of its verbs form an action.
  `${kind}.${verb}` as AuditAction

/** The kinds of objects that have a given verb. */
type KindsWith<Verb extends string> = {
  [Kind in AuditedKind]: Verb extends AuditVerb<Kind> ? Kind : never
}[AuditedKind]

/** Actors that are neither a key nor a member. */
const LIBRARY_ACTOR = 'library'
export const SYSTEM_ACTOR = 'system'
export const SIGNAL_ACTOR = 'signal'

/** The actor of a record; for an attempt with its run and agent. */
export function actorOf({ principal, restricted }: Pick<Caller, 'principal' | 'restricted'>): string {
  const attempt = restricted?.attempt ?? null
  if (attempt !== null) return `attempt:${attempt.id} of ${attempt.runId} by agent:${attempt.agentId}`
  return principal ?? LIBRARY_ACTOR
}

type View = object

/** An object was created. */
export const created = (actor: string, object: Audited<KindsWith<'create'>>, after: View): AuditEntry => ({
  ...{ actor, object, action: actionOf(object, 'create') },
  ...{ before: null, after: maskSecrets(after) },
})

/** An object was deleted. */
export const deleted = (actor: string, object: Audited<KindsWith<'delete'>>, before: View): AuditEntry => ({
  ...{ actor, object, action: actionOf(object, 'delete') },
  ...{ before: maskSecrets(before), after: null },
})

/** An object was changed. Only the fields that differ are recorded. */
export function changed<Kind extends AuditedKind>(
  actor: string,
  object: Audited<Kind>,
  to: { readonly before: View; readonly after: View; readonly verb?: AuditVerb<Kind> },
): AuditEntry {
  const { before, after } = differingFields(to.before as Fields, to.after as Fields)
  return {
    ...{ actor, object, action: actionOf<AuditedKind>(object, to.verb ?? 'update') },
    ...{ before: maskSecrets(before), after: maskSecrets(after) },
  }
}

/** An action on a run, a session, a key or a member. */
export const acted = <Kind extends AuditedKind>(
  actor: string,
  object: Audited<Kind>,
  what: { readonly verb: AuditVerb<Kind>; readonly before?: unknown; readonly after: unknown },
): AuditEntry => ({
  ...{ actor, object, action: actionOf(object, what.verb) },
  ...{ before: maskSecrets(what.before ?? null), after: maskSecrets(what.after) },
})

type Fields = Readonly<Record<string, unknown>>

/** Changes with every update, so it is left out. */
const IGNORED_FIELD = 'updated_at'

function differingFields(before: Fields, after: Fields): { readonly before: Fields; readonly after: Fields } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name !== IGNORED_FIELD && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  const pick = (of: Fields): Fields => Object.fromEntries(names.map((name) => [name, of[name] ?? null]))
  return { before: pick(before), after: pick(after) }
}

const SECRET_NAME = /authorization|token|secret|passw|credential|cookie|api[-_]?key|(^|[-_])auth$/i
const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
const MASK = '***'

/** Masks secrets, because audit records are kept forever. A reference to a stored secret is not masked. */
export function maskSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (SECRET_NAME.test(name) && !value.includes('{{secret:')) return MASK
    return value.replace(USERINFO, `$1${MASK}@`)
  }
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskSecrets(inner, key)]))
}

/** The hash before the first record of every chain. */
export const GENESIS = new Uint8Array(32)

/** Canonical JSON: sorted keys, no spaces. Accepts only JSON values. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const fields = value as Readonly<Record<string, unknown>>
  const names = Object.keys(fields).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalJson(fields[name])}`).join(',')}}`
}

/** The hash of a record, over the previous hash and all fields. */
export function hashOf(orgId: string, previous: Uint8Array, row: Omit<AuditRow, 'hash'>): Uint8Array {
  const record = {
    org_id: orgId,
    no: row.no,
    at: formatInstant(row.at),
    actor: row.actor,
    action: row.action,
    object: { kind: row.objectKind, id: row.objectId },
    before: row.before ?? null,
    after: row.after ?? null,
  }
  return createHash('sha256').update(previous).update(canonicalJson(record)).digest()
}

/** The value as it will be read back from the database. */
const storable = (value: unknown): unknown =>
  value === undefined || value === null ? null : (JSON.parse(JSON.stringify(value)) as unknown)

/** Appends entries to the audit chain of an org. Must be called under the org's lock. */
export async function appendAudits(
  tx: Transaction,
  orgId: OrgId,
  { entries, at }: { readonly entries: readonly AuditEntry[]; readonly at: Instant },
): Promise<void> {
  const head = await loadAuditHead(tx, orgId)
  let previous = head?.hash ?? GENESIS
  let no = head?.no ?? 0
  const rows = entries.map((entry): AuditRow => {
    no += 1
    const { actor, action, object } = entry
    const row = {
      ...{ no, at, actor, action, objectKind: object.kind, objectId: object.id },
      ...{ before: storable(entry.before), after: storable(entry.after) },
    }
    previous = hashOf(orgId, previous, row)
    return { ...row, hash: previous }
  })
  await insertAudits(tx, orgId, rows)
}
