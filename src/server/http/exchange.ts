import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Instant } from '../../domain/instant.ts'
import type { HttpExchange } from '../../operations/context.ts'
import { streamEvents } from '../events/stream.ts'
import type { HttpContext } from './context.ts'
import { CONSOLE_COOKIE } from './gate.ts'
import { readJsonBody } from './json-body.ts'
import { whenOver } from './when-over.ts'

/** The session cookie; null if the request has a key, or neither. */
function consoleCookie({ headers, server }: FastifyRequest): string | null {
  if (headers.authorization !== undefined || headers.cookie === undefined) return null
  return server.parseCookie(headers.cookie)[CONSOLE_COOKIE] ?? null
}

/** The cookie is hidden from scripts and other sites, and requires TLS if the public URL uses it. */
const attributes = ({ settings }: HttpContext) =>
  ({
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: settings().publicUrl?.toLowerCase().startsWith('https:') === true,
  }) as const

/** Sets the cookie until the session expires. */
function setConsoleCookie(
  ctx: HttpContext,
  reply: FastifyReply,
  { cookie, expiresAt }: { readonly cookie: string; readonly expiresAt: Instant },
): void {
  void reply.setCookie(CONSOLE_COOKIE, cookie, { ...attributes(ctx), expires: new Date(expiresAt) })
}

/** Clears the cookie in the browser. */
function clearConsoleCookie(ctx: HttpContext, reply: FastifyReply): void {
  void reply.clearCookie(CONSOLE_COOKIE, attributes(ctx))
}

/** A request and its reply. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The HTTP request as operations see it. A class, because one is created for every request. */
export class HttpOperations implements HttpExchange {
  readonly #ctx: HttpContext
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor(ctx: HttpContext, { request, reply }: Exchange) {
    this.#ctx = ctx
    this.#request = request
    this.#reply = reply
  }

  get method(): string {
    return this.#request.method
  }

  get headers(): HttpExchange['headers'] {
    return this.#request.headers
  }

  get body(): unknown {
    return this.#request.body
  }

  parseJson(bytes: Uint8Array): unknown {
    return readJsonBody(Buffer.from(bytes))
  }

  cookie(): string | null {
    return consoleCookie(this.#request)
  }

  setCookie(session: Parameters<HttpExchange['setCookie']>[0]): void {
    setConsoleCookie(this.#ctx, this.#reply, session)
  }

  clearCookie(): void {
    const cookie = this.cookie()
    if (cookie !== null) this.#ctx.forgetSession(cookie)
    clearConsoleCookie(this.#ctx, this.#reply)
  }

  takeOver(): ServerResponse {
    this.#reply.hijack()
    return this.#reply.raw
  }

  streamEvents(subscription: Parameters<HttpExchange['streamEvents']>[0]): Promise<void> {
    return streamEvents(this.#ctx, this, subscription)
  }

  async sendMetrics(): Promise<void> {
    const text = await this.#ctx.metrics.render()
    await this.#reply.code(200).header('content-type', METRICS_TYPE).header('cache-control', 'no-store').send(text)
  }
}

/** Aborted when the response was sent or its connection closed. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  whenOver(raw, () => {
    gone.abort(new Error('The caller has disconnected'))
  })
  return gone.signal
}
