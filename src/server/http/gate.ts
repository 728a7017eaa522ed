import { timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../api/refusals.ts'
import type { Principal } from '../../domain/access/access.ts'
import type { HttpContext } from '../../http/context.ts'

/** The cookie of the console, and the header in which its token comes back. */
export const CONSOLE_COOKIE = 'escapement_session'
const CSRF_HEADER = 'x-csrf-token'

/** What the gate looks at. */
export interface Asker {
  readonly method: string
  readonly headers: IncomingHttpHeaders
}

type Eventually<T> = T | Promise<T>

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

const unauthenticated = (detail: string): Refusal => new Refusal('UNAUTHENTICATED', detail)
