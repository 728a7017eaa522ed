import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Instant } from '../domain/instant.ts'
import type { HttpContext } from './context.ts'
import { CONSOLE_COOKIE } from '../server/http/gate.ts'

/** The cookie somebody is signed in with; null when they ask with a key, or with neither. */
export function consoleCookie({ headers, server }: FastifyRequest): string | null {
  if (headers.authorization !== undefined || headers.cookie === undefined) return null
  return server.parseCookie(headers.cookie)[CONSOLE_COOKIE] ?? null
}

/** No script and no other site sees it, and where the console is reached by TLS it goes nowhere without. */
const attributes = ({ settings }: HttpContext) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: settings().publicUrl?.toLowerCase().startsWith('https:') === true,
  }) as const

/** Lets the browser keep the cookie until it would end anyway. */
export function setConsoleCookie(
  ctx: HttpContext,
  reply: FastifyReply,
  { cookie, expiresAt }: { readonly cookie: string; readonly expiresAt: Instant },
): void {
  void reply.setCookie(CONSOLE_COOKIE, cookie, { ...attributes(ctx), expires: new Date(expiresAt) })
}

/** Lets the browser forget the cookie. */
export function clearConsoleCookie(ctx: HttpContext, reply: FastifyReply): void {
  void reply.clearCookie(CONSOLE_COOKIE, attributes(ctx))
}
