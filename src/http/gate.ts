import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { OperationSpec } from '../contract/operation.ts'
import { Refusal } from '../contract/refusals.ts'
import {
  decideAccess,
  type AccessDecision,
  type AccessRequest,
  type Permission,
  type Principal,
} from '../core/access.ts'
import { breach } from '../core/rails/breach.ts'
import { explainWhy } from '../core/reasons.ts'
import { requireOwn } from '../service/rails/own.ts'
import { railRefusal } from '../service/rails/refusals.ts'
import type { HttpContext } from './context.ts'

/** The cookie of the console, and the header in which its token comes back. */
export const CONSOLE_COOKIE = 'escapement_session'
const CSRF_HEADER = 'x-csrf-token'

/** What the gate looks at. */
export interface Asker {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

type Eventually<T> = T | Promise<T>

/** What something says of who may do it. */
export type Needs = Pick<OperationSpec, 'permission' | 'operatorOnly' | 'approving' | 'rails'>

/** A worker has to be able to renew, start and report whatever else its key does: nothing it says is rate-limited. */
export const isOfWorkers = ({ permission }: Needs): boolean => permission === 'workers:run'

/** Who asks: by key, else by the cookie of the console, which is looked for only then. Refuses what is neither. */
export function identify(
  ctx: HttpContext,
  asker: Asker,
  readCookie: (header: string) => string | undefined,
): Eventually<Principal> {
  const { authorization, cookie: cookies } = asker.headers
  if (authorization !== undefined) {
    const key = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1]
    if (key === undefined) throw unauthenticated('Send the key as "Authorization: Bearer <key>"')
    const found = ctx.authenticate(key)
    return found instanceof Promise ? found.then(known) : known(found)
  }
  const cookie = cookies === undefined ? undefined : readCookie(cookies)
  if (cookie === undefined) throw unauthenticated('Send a key as "Authorization: Bearer <key>", or sign in')
  return signedIn(ctx, cookie, asker)
}

function known(principal: Principal | null): Principal {
  if (principal === null)
    throw unauthenticated('The key is not known here: it is mistyped, of another server, or was deleted')
  return principal
}

async function signedIn(ctx: HttpContext, cookie: string, { method, headers }: Asker): Promise<Principal> {
  const session = await ctx.consoleSession(cookie)
  if (session === null) throw unauthenticated('The session has ended; sign in again')
  if (method !== 'GET' && method !== 'HEAD' && !isSame(headers[CSRF_HEADER], session.csrfToken))
    throw new Refusal('CSRF', `Send the token of the session in the header ${CSRF_HEADER}`)
  return session.principal
}

function isSame(given: string | readonly string[] | undefined, wanted: string): boolean {
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Refuses a principal whose key is not good any more, who lacks what the operation needs, or whose guard rails do not
 * reach so far.
 */
export function admit(ctx: HttpContext, spec: Needs, principal: Principal): void {
  if (principal.railed === undefined || spec.rails !== undefined || spec.permission === 'none') {
    permit(ctx, spec, principal)
    return
  }
  // A key that is not good any more is told so, whatever it wants.
  permit(ctx, { permission: 'any' }, principal)
  const message = 'A key with guard rails has no business here: its own schedules, tasks and runs are'
  throw railRefusal(breach('operation', message))
}

/** Refuses a thing that the guard rails of a key do not reach; those of an operation that is about one. */
export async function admitTo(
  ctx: Pick<HttpContext, 'ports'>,
  spec: Pick<Needs, 'rails'>,
  { principal, id }: { readonly principal: Principal; readonly id: unknown },
): Promise<void> {
  const { orgId, railed } = principal
  const { rails } = spec
  if (railed === undefined || rails === undefined || rails === 'free' || rails === 'list') return
  await requireOwn(ctx.ports, { orgId, railed }, { kind: rails, id: String(id) })
}

function permit(ctx: HttpContext, spec: Needs, principal: Principal): void {
  const { permission } = spec
  if (permission === 'none') return
  // With no permission to ask for, what is left to see is whether the key is still good.
  const wanted = typeof permission === 'string' ? [permission] : permission
  let refused: Exclude<AccessDecision, { kind: 'granted' }> | null = null
  for (const one of wanted) {
    const decision = decideAccess(principal, accessTo(ctx, spec, { principal, permission: one }))
    if (decision.kind === 'granted' || (one === 'any' && decision.kind === 'denied')) return
    refused ??= decision
  }
  if (refused !== null) throw refusalOf(refused)
}

function accessTo(
  ctx: HttpContext,
  { operatorOnly, approving }: Needs,
  of: { readonly principal: Principal; readonly permission: Permission | 'any' },
): AccessRequest {
  return {
    permission: of.permission === 'any' ? 'schedules:read' : of.permission,
    orgId: of.principal.orgId,
    now: ctx.ports.clock.now(),
    operatorOnly: operatorOnly === true,
    approving: approving === true,
  }
}

/** Refuses a caller who lacks a permission that only the body or the object says is needed. */
export function requirePermission(
  { ctx, principal }: { readonly ctx: HttpContext; readonly principal: Principal },
  permission: Permission,
): void {
  const request = { permission, orgId: principal.orgId, now: ctx.ports.clock.now() }
  const decision = decideAccess(principal, request)
  if (decision.kind !== 'granted') throw refusalOf(decision)
}

function refusalOf(decision: Exclude<AccessDecision, { kind: 'granted' }>): Refusal {
  const { why } = decision
  const details = { reason: why.reason, rule: why.rule }
  switch (decision.kind) {
    case 'refused':
      return new Refusal('UNAUTHENTICATED', explainWhy(why), { details })
    case 'denied':
      return new Refusal('FORBIDDEN', explainWhy(why), { details: { ...details, ...why.evidence } })
    case 'hidden':
      return new Refusal('NOT_FOUND', 'There is no such thing')
  }
}

const unauthenticated = (detail: string): Refusal => new Refusal('UNAUTHENTICATED', detail)
