import type { AuditAction, AuditedKind, AuditVerb } from '../../domain/access/audit-words.ts'
import type { Caller } from '../../service/caller.ts'

/** A thing of which something is on record. */
interface Audited<Kind extends AuditedKind = AuditedKind> {
  readonly kind: Kind
  readonly id: string
}

/** Something that is about to be on record for good. */
export interface AuditEntry {
  readonly actor: string
  readonly action: AuditAction
  readonly object: Audited
  readonly before: unknown
  readonly after: unknown
}

const actionOf = <Kind extends AuditedKind>({ kind }: Audited<Kind>, verb: AuditVerb<Kind>): AuditAction =>
  // The compiler does not see that a verb of a kind makes an action of the kind.
  `${kind}.${verb}` as AuditAction

/** Kinds of things that are made, changed and deleted, all or some of it. */
type With<Verb extends string> = {
  [Kind in AuditedKind]: Verb extends AuditVerb<Kind> ? Kind : never
}[AuditedKind]

/** Who did something when it was neither a key nor a member. */
const LIBRARY_ACTOR = 'library'
export const SYSTEM_ACTOR = 'system'
export const SIGNAL_ACTOR = 'signal'

/** The name under which somebody is on record; of an attempt also the run it is of, and the agent. */
export function actorOf({ principal, railed }: Pick<Caller, 'principal' | 'railed'>): string {
  const attempt = railed?.attempt ?? null
  if (attempt !== null) return `attempt:${attempt.id} of ${attempt.runId} by agent:${attempt.agentId}`
  return principal ?? LIBRARY_ACTOR
}

type View = object

/** Something was made. */
export const created = (actor: string, object: Audited<With<'create'>>, after: View): AuditEntry => ({
  ...{ actor, object, action: actionOf(object, 'create') },
  ...{ before: null, after: maskSecrets(after) },
})

/** Something was removed. */
export const deleted = (actor: string, object: Audited<With<'delete'>>, before: View): AuditEntry => ({
  ...{ actor, object, action: actionOf(object, 'delete') },
  ...{ before: maskSecrets(before), after: null },
})

/** Something was changed. Only what differs is kept: who reads it wants to see what happened, not what did not. */
export function changed<Kind extends AuditedKind>(
  actor: string,
  object: Audited<Kind>,
  to: { readonly before: View; readonly after: View; readonly verb?: AuditVerb<Kind> },
): AuditEntry {
  const { before, after } = differences(to.before as Fields, to.after as Fields)
  return {
    ...{ actor, object, action: actionOf<AuditedKind>(object, to.verb ?? 'update') },
    ...{ before: maskSecrets(before), after: maskSecrets(after) },
  }
}

/** Somebody did something to a run or a session. */
export const acted = <Kind extends AuditedKind>(
  actor: string,
  object: Audited<Kind>,
  what: { readonly verb: AuditVerb<Kind>; readonly before?: unknown; readonly after: unknown },
): AuditEntry => ({
  ...{ actor, object, action: actionOf(object, what.verb) },
  ...{ before: maskSecrets(what.before ?? null), after: maskSecrets(what.after) },
})

type Fields = Readonly<Record<string, unknown>>

/** Every change moves it; it says nothing about the change. */
const UNTOLD = 'updated_at'

function differences(before: Fields, after: Fields): { readonly before: Fields; readonly after: Fields } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => name !== UNTOLD && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  const pick = (of: Fields): Fields => Object.fromEntries(names.map((name) => [name, of[name] ?? null]))
  return { before: pick(before), after: pick(after) }
}

const SECRET_NAME = /authorization|token|secret|passw|credential|cookie|api[-_]?key|(^|[-_])auth$/i
const USERINFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
const MASK = '***'

/** What must not be read in a record that is kept for ever. A reference to a stored secret is no secret. */
export function maskSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (SECRET_NAME.test(name) && !value.includes('{{secret:')) return MASK
    return value.replace(USERINFO, `$1${MASK}@`)
  }
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskSecrets(inner, key)]))
}
