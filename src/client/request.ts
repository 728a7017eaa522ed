import { EscapementError, errorOfResponse } from './errors.ts'

/**
 * Yields the chunks of a response body until it ends or the signal aborts. The signal is observed here as well as by
 * fetch, because on Node 20 a request loses its signal if garbage collection runs while the body is arriving.
 */
export async function* readChunks(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Not every browser can iterate over a ReadableStream.
  const reader = body.getReader()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', cancel)
  if (signal.aborted) cancel()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/** Connection options of a client. */
export interface ClientOptions {
  /** URL of the server, such as `http://127.0.0.1:7420`; in a browser, the origin of the page by default. */
  readonly url?: string | undefined
  /** An API key. If omitted, the console's session cookie authenticates. */
  readonly key?: string | undefined
  /** The CSRF token of the console session, sent with every request that changes something. */
  readonly csrfToken?: (() => string | null) | undefined
  /** A replacement for the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** How often a read, or a create with an idempotency key, is retried after a network failure; 2 by default. */
  readonly retries?: number | undefined
}

/** One request. */
export interface Outgoing {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly body?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs: number
  /** Whether the request is safe to repeat. */
  readonly repeatable: boolean
  readonly idempotencyKey: string | null
}

const FIRST_PAUSE_MS = 200
const MAX_RETRY_PAUSE_MS = 10_000

/** The base URL without trailing slashes. */
export const baseOf = ({ url = '' }: ClientOptions): string => url.replace(/\/+$/, '')

/**
 * Rejects an invalid URL. Without a URL, requests go to the origin of the page, so there must be a page (which also
 * provides the CSRF token) or a custom `fetch`.
 */
export function requireAddress({ url, fetch, csrfToken }: ClientOptions): void {
  const example = 'such as http://127.0.0.1:7420'
  if (url === undefined || url === '') {
    if (fetch !== undefined || csrfToken !== undefined || 'location' in globalThis) return
    throw new TypeError(`url is missing: the URL of the server, ${example}`)
  }
  if (typeof url !== 'string' || !/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
    throw new TypeError(`url ${JSON.stringify(url)} is not the URL of a server; use an http or https URL, ${example}`)
}

/** The headers that authenticate the request. */
export function authHeaders({ key, csrfToken }: ClientOptions, method: string): Record<string, string> {
  const token = method === 'GET' ? null : (csrfToken?.() ?? null)
  return {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(token === null ? {} : { 'x-csrf-token': token }),
  }
}

/** Sends a request and retries network failures if it is safe. Resolves with any response; rejects if there is none. */
export async function sendRequest(options: ClientOptions, outgoing: Outgoing): Promise<Response> {
  const { retries = 2 } = options
  for (let failures = 0; ;) {
    outgoing.signal?.throwIfAborted()
    try {
      return await sendOnce(options, outgoing)
    } catch (error) {
      outgoing.signal?.throwIfAborted()
      failures += 1
      if (!outgoing.repeatable || failures > retries) throw unreachable(options, outgoing, error)
      await pause(pauseAfter(failures), outgoing.signal)
    }
  }
}

async function sendOnce(options: ClientOptions, outgoing: Outgoing): Promise<Response> {
  const { fetch: sendFetch = globalThis.fetch } = options
  const { method, target, body, headers, signal, timeoutMs } = outgoing
  const limit = AbortSignal.timeout(timeoutMs)
  const response = await sendFetch(`${baseOf(options)}${target}`, {
    method,
    headers: { accept: 'application/json', ...authHeaders(options, method), ...headers },
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    ...(body === undefined ? {} : { body }),
    // A redirect would send the key to another server.
    redirect: 'error',
  })
  return response
}

/** Exponential backoff with jitter. */
export const pauseAfter = (failures: number): number =>
  Math.min(MAX_RETRY_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.75 + Math.random() / 2)

/** Waits; rejects with the signal's reason if aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted === true) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

/** The error for a server that did not respond. */
export function unreachable(options: ClientOptions, outgoing: Outgoing, cause: unknown): EscapementError {
  const where = baseOf(options) === '' ? 'The server' : baseOf(options)
  return new EscapementError(`${where} cannot be reached: ${networkErrorText(cause, outgoing.timeoutMs)}`, {
    code: 'UNREACHABLE',
    idempotencyKey: outgoing.idempotencyKey,
    cause,
  })
}

const NETWORK_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused, no server is listening there',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the host is unreachable',
}

function networkErrorText(cause: unknown, timeoutMs: number): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause.name === 'TimeoutError') return `no response within ${timeoutMs} ms`
  const { code, message } = (cause.cause ?? cause) as { readonly code?: string; readonly message?: string }
  return NETWORK_ERRORS[code ?? ''] ?? (message === undefined || message === '' ? (code ?? cause.message) : message)
}

/** The body of a response; throws for an error response. */
export async function responseBody(response: Response, outgoing: Outgoing, also: readonly number[]): Promise<unknown> {
  if (!response.ok && !also.includes(response.status)) throw await errorOfResponse(response, outgoing)
  if (response.status === 204) return undefined
  try {
    return await response.json()
  } catch (cause) {
    outgoing.signal?.throwIfAborted()
    throw new EscapementError('The response cannot be read: it is not JSON, or it was cut off', {
      status: response.status,
      code: 'BAD_ANSWER',
      requestId: response.headers.get('x-request-id'),
      idempotencyKey: outgoing.idempotencyKey,
      cause,
    })
  }
}
