import type { MeView } from '../contract/me.ts'
import { Refusal } from '../api/refusals.ts'
import { decideAccess, effectivePermissions, type Principal } from '../domain/access/access.ts'
import { formatInstant } from '../domain/instant.ts'
import { loadOrg } from '../features/access/orgs-store.ts'
import { csrfTokenOf, findConsoleSession } from '../features/access/console-sessions.ts'
import { viewMember } from './member-view.ts'
import type { Ports } from './ports.ts'

/** Says who asks. `cookie` is what they are signed in with; null when a key asks. */
export async function describeMe(
  ports: Pick<Ports, 'database' | 'clock'>,
  principal: Principal,
  cookie: string | null,
): Promise<MeView> {
  const { id, orgId, role, expiresAt } = principal
  const [org, session] = await Promise.all([
    loadOrg(ports.database, orgId),
    cookie === null ? null : findConsoleSession(ports, cookie),
  ])
  // It was deleted a moment ago, and its keys with it.
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
