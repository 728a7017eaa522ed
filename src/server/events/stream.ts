import { EVENT_KINDS, type EventKind } from '../../contract/event-kinds.ts'
import type { EventFilter } from '../../contract/event.ts'
import { eventOperations } from '../../features/events/routes.ts'
import { invalid, Refusal } from '../../api/refusals.ts'
import { decideAccess, isPermitted, type Permission, type Principal } from '../../domain/access/access.ts'
import type { HttpExchange } from '../../operations/context.ts'
import { admit, requirePermission } from '../../operations/admit.ts'
import type { HttpContext } from '../../http/context.ts'
import { breach } from '../../core/rails/breach.ts'
import { confinedTo } from '../../core/rails/railed.ts'
import { railRefusal } from '../../service/rails/refusals.ts'
import { isOwnable, permissionFor, readKinds, wantedOf, type Wanted } from './filter.ts'
import { readPosition, type Position } from '../../http/events/position.ts'
import { identify } from '../http/gate.ts'

/** Opens the stream that a request asks for. */
export async function streamEvents(
  ctx: HttpContext,
  http: HttpExchange,
  { principal, query }: { readonly principal: Principal; readonly query: EventFilter },
): Promise<void> {
  const asked = readKinds(query)
  const may = (permission: Permission): boolean => isPermitted(principal, permission)
  for (const kind of asked ?? []) requirePermission({ ctx, principal }, permissionFor(kind, may))
  refuseOthers(principal, asked)
  const kinds = asked ?? EVENT_KINDS.filter((kind) => maySee(ctx, principal, kind))
  const after = readAfter(http, query)
  const wanted = wantedOf(query, kinds, { railed: principal.railed, onlyOfSchedules: !may('runs:read') })
  // Whoever only wants to know whether there is a stream gets its head.
  if (http.method === 'HEAD') return
  await ctx.events.open({
    ...{ orgId: principal.orgId, wanted, after },
    isAllowed: () => isStillAllowed(ctx, http, { kinds, wanted }),
    expiresAt: principal.expiresAt,
    take: () => http.takeOver(),
  })
}

/** Whoever sees nothing but their own is told so when they ask for what is nobody's own. */
function refuseOthers({ railed }: Principal, asked: readonly EventKind[] | null): void {
  const other = confinedTo(railed) === null ? undefined : asked?.find((kind) => !isOwnable(kind))
  if (other === undefined) return
  throw railRefusal(breach('own_schedules_only', `${other} is about nothing that is its own`, { kind: other }))
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

/** Asks again what was asked when the stream began: keys are revoked and people are shown out while they listen. */
async function isStillAllowed(
  ctx: HttpContext,
  http: HttpExchange,
  { kinds, wanted }: { readonly kinds: readonly EventKind[]; readonly wanted: Wanted },
): Promise<boolean> {
  try {
    const asker = { method: 'GET', headers: http.headers }
    const principal = await identify(ctx, asker, () => http.cookie() ?? undefined)
    admit(ctx, eventOperations['events.stream'], principal)
    if (!wanted.onlyOfSchedules && !isPermitted(principal, 'runs:read')) return false
    return kinds.every((kind) => maySee(ctx, principal, kind))
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
