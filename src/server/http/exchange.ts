import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpExchange } from '../../operations/context.ts'
import { clearConsoleCookie, consoleCookie, setConsoleCookie } from '../../http/console-cookie.ts'
import type { HttpContext } from '../../http/context.ts'
import { streamEvents } from '../events/stream.ts'
import { readJsonBody } from './json-body.ts'
import { whenOver } from '../../http/when-over.ts'

/** A request and its reply. */
export interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** What operations may do with a request over HTTP. A class, because there is one for every request. */
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

  setCookie(opened: Parameters<HttpExchange['setCookie']>[0]): void {
    setConsoleCookie(this.#ctx, this.#reply, opened)
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

  streamEvents(asked: Parameters<HttpExchange['streamEvents']>[0]): Promise<void> {
    return streamEvents(this.#ctx, this, asked)
  }

  async sendMetrics(): Promise<void> {
    const text = await this.#ctx.metrics.show()
    await this.#reply.code(200).header('content-type', METRICS_TYPE).header('cache-control', 'no-store').send(text)
  }
}

/** Aborted when the reply is over: sent, or its connection closed. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  whenOver(raw, () => {
    gone.abort(new Error('The caller is gone'))
  })
  return gone.signal
}
