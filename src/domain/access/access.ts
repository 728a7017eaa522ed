import { flawed, MAX_LISTED_FLAWS, parsed, type Flaw, type Parsed } from '../input.ts'
import { orgId, type OrgId, type PrincipalId } from '../ids.ts'
import { formatInstant, type Instant } from '../instant.ts'
import { nearestWord } from '../nearest-word.ts'
import type { RestrictedKey } from './restrictions.ts'
import { because, type Why } from '../reasons.ts'

/** Every permission and what it allows. docs/reference/permissions.md is generated from this table. */
export const PERMISSIONS = {
  'schedules:read': 'see schedules, their runs, previews and explanations',
  'schedules:write': 'create, change, enable and disable schedules, and create one from a run',
  'schedules:run': "run now, backfill, retry a schedule's run",
  'schedules:delete': 'delete schedules',
  'tasks:read': 'see tasks and their results',
  'tasks:write': 'submit and cancel tasks',
  'runs:read': 'see runs, attempts and deliveries',
  'runs:write': 'cancel runs, retry runs that no schedule created',
  'sessions:read': 'see conversations',
  'sessions:write': 'send, stop and reset, and change how a session queues',
  'agents:read': 'see agents and heartbeats',
  'agents:write': 'create and change agents and heartbeats',
  'workers:run': 'claim and perform the work of agents whose executor is `worker`',
  'targets:read': 'see where results are delivered',
  'targets:write': 'create, change, test and enable targets',
  'budgets:read': 'see budgets and what they have left',
  'budgets:write': 'create and change budgets',
  'secrets:read': 'see the names of secrets, never their values',
  'secrets:write': 'create, change and delete secrets',
  'keys:read': 'see keys, never their text',
  'keys:write': 'create and revoke keys',
  'audit:read': 'read and verify the audit log',
  'admin:*': 'administer the org, and the deployment from the operator org',
} as const

export type Permission = keyof typeof PERMISSIONS

/** An entry of a role or a key scope: a permission, a whole group (`targets:*`), or everything. */
export type Grant = '*' | Permission | GroupOf<Permission>
type GroupOf<Name extends string> = Name extends `${infer Group}:${string}` ? `${Group}:*` : never

const ALL_PERMISSIONS = Object.keys(PERMISSIONS) as readonly Permission[]
const GROUPS: readonly string[] = [...new Set(ALL_PERMISSIONS.map((permission) => `${groupOf(permission)}:*`))]
/** Every value that a key scope may have. */
export const GRANTS = [
  '*',
  ...GROUPS,
  ...ALL_PERMISSIONS.filter((permission) => !GROUPS.includes(permission)),
] as readonly Grant[]
const READ_PERMISSIONS = ALL_PERMISSIONS.filter((permission) => permission.endsWith(':read'))

export type Role = 'owner' | 'admin' | 'member' | 'viewer'

/** The permissions of each role. An admin has all of them too, but only an owner can create owners. */
export const ROLES: Record<Role, readonly string[]> = {
  owner: ['*'],
  admin: ALL_PERMISSIONS,
  member: [...READ_PERMISSIONS, 'schedules:write', 'schedules:run', 'tasks:write', 'sessions:write'],
  viewer: READ_PERMISSIONS,
}

/** The roles that may approve proposed schedules and, in the operator org, change the deployment. */
const APPROVERS: readonly Role[] = ['owner', 'admin']

/** The org whose owners operate the deployment. */
export const OPERATOR_ORG: OrgId = orgId('default')

/** The caller of a request: a signed-in person or a key. */
export interface Principal {
  readonly id: PrincipalId
  readonly orgId: OrgId
  readonly role: Role
  /** The subset of the role's permissions that a key is limited to; null for all of them. */
  readonly scopes: readonly string[] | null
  readonly expiresAt: Instant | null
  readonly revokedAt: Instant | null
  /** The restrictions of the key; undefined when it has none. */
  readonly restricted?: RestrictedKey | undefined
}

export interface AccessRequest {
  readonly permission: Permission
  /** The org that owns the object; the caller's own org for lists and new objects. */
  readonly orgId: OrgId
  readonly now: Instant
  /** Lanes, configuration and orgs belong to the deployment, so only its operator may change them. */
  readonly operatorOnly?: boolean
  /** Approving requires a role besides the permission: a member's scoped key must never approve its own proposals. */
  readonly approving?: boolean
}

export type AccessDecision =
  | { readonly kind: 'granted'; readonly why: Why }
  | { readonly kind: 'refused'; readonly status: 401; readonly why: Why }
  | { readonly kind: 'denied'; readonly status: 403; readonly why: Why }
  /** The caller must not learn that the object exists. */
  | { readonly kind: 'hidden'; readonly status: 404; readonly why: Why }

/** Decides whether a principal may perform a request on an object. */
export function decideAccess(principal: Principal, request: AccessRequest): AccessDecision {
  const { permission } = request
  const evidence = { principal: principal.id, permission, role: principal.role }
  const denied = (reason: 'forbidden' | 'operators_only' | 'approvers_only', rule: string): AccessDecision => ({
    kind: 'denied',
    status: 403,
    why: because(reason, rule, evidence),
  })
  const invalid = invalidKey(principal, request.now)
  if (invalid !== null) return { kind: 'refused', status: 401, why: invalid }
  // Checked before the permission: a 403 would reveal to other orgs that the object exists.
  if (request.operatorOnly !== true && request.orgId !== principal.orgId)
    return { kind: 'hidden', status: 404, why: because('other_org', 'access.org') }
  if (!isPermitted(principal, permission)) return denied('forbidden', 'access.permission')
  if (request.operatorOnly === true && principal.orgId !== OPERATOR_ORG)
    return denied('operators_only', 'access.operator')
  const needsRole = request.approving === true || request.operatorOnly === true
  if (needsRole && !APPROVERS.includes(principal.role)) return denied('approvers_only', 'access.role')
  return { kind: 'granted', why: because('granted', 'access.permission', evidence) }
}

function invalidKey({ id, revokedAt, expiresAt }: Principal, now: Instant): Why | null {
  if (revokedAt !== null)
    return because('key_revoked', 'key.revoked_at', { principal: id, revoked_at: formatInstant(revokedAt) })
  if (expiresAt !== null && now >= expiresAt)
    return because('key_expired', 'key.expires_at', { principal: id, expires_at: formatInstant(expiresAt) })
  return null
}

/** Whether a list of grants covers a permission, or for `targets:*` the whole group. */
const isCovered = (grants: readonly string[], permission: string): boolean =>
  grants.includes('*') || grants.includes(permission) || grants.includes(`${groupOf(permission)}:*`)

/** Whether the role and the scopes of a principal cover a permission. */
export function isPermitted(principal: Pick<Principal, 'role' | 'scopes'>, permission: Permission): boolean {
  return (
    isCovered(ROLES[principal.role], permission) &&
    (principal.scopes === null || isCovered(principal.scopes, permission))
  )
}

/** Whether the caller is an owner of the operator org and its scopes do not limit that. */
export const isOperatorOwner = ({ orgId, role, scopes }: Pick<Principal, 'orgId' | 'role' | 'scopes'>): boolean =>
  orgId === OPERATOR_ORG && role === 'owner' && (scopes === null || isCovered(scopes, 'admin:*'))

/** Whether the caller administers its org. */
export const isAdmin = (principal: Pick<Principal, 'role' | 'scopes'>): boolean => isPermitted(principal, 'admin:*')

/** All permissions of a principal as a flat list. */
export const effectivePermissions = (principal: Pick<Principal, 'role' | 'scopes'>): readonly Permission[] =>
  ALL_PERMISSIONS.filter((permission) => isPermitted(principal, permission))

/** Whether a caller may grant a role with scopes: it can grant only permissions that it has itself. */
export function isGrantable(
  giver: Pick<Principal, 'role' | 'scopes'>,
  wanted: Pick<Principal, 'role' | 'scopes'>,
): boolean {
  if (wanted.role === 'owner' && giver.role !== 'owner') return false
  return effectivePermissions(wanted).every((permission) => isPermitted(giver, permission))
}

/**
 * Reads a list of permissions. Groups and `*` are stored as they are, so that a key covers later additions to a
 * group.
 */
export function parsePermissions(field: string, value: unknown): Parsed<readonly Grant[]> {
  const allowed = GRANTS.join(', ')
  if (!Array.isArray(value) || value.length === 0)
    return flawed({ field, value, message: 'must list at least one permission', allowed })
  const entries: readonly unknown[] = value
  const words = entries.map((entry) => (typeof entry === 'string' ? entry.trim().toLowerCase() : ''))
  const isAllowed: ReadonlySet<string> = new Set(GRANTS)
  const wrong = words.flatMap((word, index) => (isAllowed.has(word) ? [] : [index]))
  const flaws = wrong.slice(0, MAX_LISTED_FLAWS).map((index): Flaw => {
    const near = nearestWord(words[index] ?? '', GRANTS)
    const message = `is not a permission${near === null ? '' : `; did you mean ${near}?`}`
    return { field: `${field}.${index}`, value: entries[index], message, allowed }
  })
  const more = wrong.length - flaws.length
  if (more > 0) flaws.push({ field, value: undefined, message: `and ${more} more that are not permissions` })
  return flaws.length > 0 ? flawed(flaws) : parsed([...new Set(words)] as readonly string[] as readonly Grant[])
}

function groupOf(permission: string): string {
  return permission.slice(0, permission.indexOf(':'))
}
