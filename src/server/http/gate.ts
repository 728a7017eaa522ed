import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import type { HttpContext } from './context.ts'

/** The session cookie of the console, and the header of its CSRF token. */
export const CONSOLE_COOKIE = 'escapement_session'
const CSRF_HEADER = 'x-csrf-token'

/** The parts of a request that authentication needs. */
export interface AuthRequest {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

type Eventually<T> = T | Promise<T>

/**
 * Authenticates a request by its key, or else by the console cookie, which is only parsed without a key. Rejects a
 * request that has neither.
 */
export function identify(
  ctx: HttpContext,
  request: AuthRequest,
  readCookie: (header: string) => string | undefined,
): Eventually<Principal> {
  const { authorization, cookie: cookies } = request.headers
  if (authorization !== undefined) {
    const key = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1]
    if (key === undefined) throw unauthenticated('Send the key as "Authorization: Bearer <key>"')
    const found = ctx.authenticate(key)
    return found instanceof Promise ? found.then(requireKnown) : requireKnown(found)
  }
  const cookie = cookies === undefined ? undefined : readCookie(cookies)
  if (cookie === undefined) throw unauthenticated('Send a key as "Authorization: Bearer <key>", or sign in')
  return consolePrincipal(ctx, cookie, request)
}

function requireKnown(principal: Principal | null): Principal {
  if (principal === null)
    throw unauthenticated('Unknown API key: it is mistyped, belongs to another server, or was deleted')
  return principal
}

async function consolePrincipal(
  ctx: HttpContext,
  cookie: string,
  { method, headers }: AuthRequest,
): Promise<Principal> {
  const session = await ctx.consoleSession(cookie)
  if (session === null) throw unauthenticated('The session has ended; sign in again')
  if (method !== 'GET' && method !== 'HEAD' && !isSame(headers[CSRF_HEADER], session.csrfToken))
    throw new Refusal('CSRF', `Send the CSRF token of the session in the header ${CSRF_HEADER}`)
  return session.principal
}

function isSame(given: string | readonly string[] | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(typeof given === 'string' ? given : ''), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const unauthenticated = (detail: string): Refusal => new Refusal('UNAUTHENTICATED', detail)
