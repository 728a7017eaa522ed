import { EVENT_KINDS, type EventFilter, type EventKind } from '../../features/events/schema.ts'
import { eventOperations } from '../../features/events/routes.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { decideAccess, isPermitted, type Permission, type Principal } from '../../domain/access/access.ts'
import type { HttpExchange } from '../../operations/context.ts'
import { admit, requirePermission } from '../../operations/perform.ts'
import type { HttpContext } from '../http/context.ts'
import { breach, visibleOwner } from '../../domain/access/restrictions.ts'
import { restrictionRefusal } from '../../features/access/restrictions.ts'
import { isOwnable, permissionFor, readKinds, subscriptionOf, type Subscription } from './filter.ts'
import { readPosition, type Position } from './frames.ts'
import { identify } from '../http/gate.ts'

/** Opens the event stream of a request. */
export async function streamEvents(
  ctx: HttpContext,
  http: HttpExchange,
  { principal, query }: { readonly principal: Principal; readonly query: EventFilter },
): Promise<void> {
  const requestedKinds = readKinds(query)
  const may = (permission: Permission): boolean => isPermitted(principal, permission)
  for (const kind of requestedKinds ?? []) requirePermission({ ctx, principal }, permissionFor(kind, may))
  rejectUnownableKinds(principal, requestedKinds)
  const kinds = requestedKinds ?? EVENT_KINDS.filter((kind) => maySee(ctx, principal, kind))
  const after = readAfter(http, query)
  const subscription = subscriptionOf(query, kinds, {
    restricted: principal.restricted,
    onlyOfSchedules: !may('runs:read'),
  })
  // A HEAD request gets the headers only.
  if (http.method === 'HEAD') return
  await ctx.events.open({
    ...{ orgId: principal.orgId, subscription, after },
    isAllowed: () => isStillAllowed(ctx, http, { kinds, wanted: subscription }),
    expiresAt: principal.expiresAt,
    takeOver: () => http.takeOver(),
  })
}

/** Rejects a restricted key that asks for kinds of events that no key can own. */
function rejectUnownableKinds({ restricted }: Principal, requestedKinds: readonly EventKind[] | null): void {
  const other = visibleOwner(restricted) === null ? undefined : requestedKinds?.find((kind) => !isOwnable(kind))
  if (other === undefined) return
  throw restrictionRefusal(
    breach('own_schedules_only', `Events of the kind ${other} are not about objects of the key`, { kind: other }),
  )
}

function maySee(ctx: HttpContext, principal: Principal, kind: EventKind): boolean {
  const { orgId } = principal
  const permission = permissionFor(kind, (one) => isPermitted(principal, one))
  return decideAccess(principal, { permission, orgId, now: ctx.ports.clock.now() }).kind === 'granted'
}

function readAfter({ headers }: HttpExchange, { last_event_id: given }: EventFilter): Position | null {
  const header = headers['last-event-id']
  const id = typeof header === 'string' ? header : given
  if (id === undefined || id === '') return null
  const position = readPosition(id)
  if (position === null)
    throw invalid([
      {
        ...{ field: typeof header === 'string' ? 'Last-Event-ID' : 'last_event_id', value: id },
        ...{ message: 'is not the id of an event', allowed: '<turn> or <turn>-<index>, as 81-3' },
      },
    ])
  return position
}

/** Repeats the access check of the start, because keys are revoked and members are removed while they listen. */
async function isStillAllowed(
  ctx: HttpContext,
  http: HttpExchange,
  { kinds, wanted: subscription }: { readonly kinds: readonly EventKind[]; readonly wanted: Subscription },
): Promise<boolean> {
  try {
    const authRequest = { method: 'GET', headers: http.headers }
    const principal = await identify(ctx, authRequest, () => http.cookie() ?? undefined)
    admit(ctx, eventOperations['events.stream'], principal)
    if (!subscription.onlyOfSchedules && !isPermitted(principal, 'runs:read')) return false
    return kinds.every((kind) => maySee(ctx, principal, kind))
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
