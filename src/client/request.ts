import { EscapementError, refusalIn } from './errors.ts'

/** How a client reaches its server. */
export interface ClientOptions {
  /** Where the server is, as in `http://127.0.0.1:7420`; in a browser, left out, where the page comes from. */
  readonly url?: string | undefined
  /** An API key. Left out: the cookie of the console speaks. */
  readonly key?: string | undefined
  /** The token of the console's session; goes with everything that changes something. */
  readonly csrfToken?: (() => string | null) | undefined
  /** Another function that does what the global `fetch` does. */
  readonly fetch?: typeof fetch | undefined
  /** How often a read, or a creation under its key, is repeated when the network fails; 2 unless given. */
  readonly retries?: number | undefined
}

/** One request, put together. */
export interface Outgoing {
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly body?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs: number
  /** Whether doing it twice is doing it once. */
  readonly repeatable: boolean
  readonly idempotencyKey: string | null
}

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 10_000

/** The address of a server without what must not be doubled. */
export const baseOf = ({ url = '' }: ClientOptions): string => url.replace(/\/+$/, '')

/**
 * Refuses an address that no request could go to. Without one, requests go where the page comes from, so there has to be
 * a page, which is where tokens against forged requests are; a `fetch` of one's own may know better.
 */
export function requireAddress({ url, fetch, csrfToken }: ClientOptions): void {
  const example = 'as in http://127.0.0.1:7420'
  if (url === undefined || url === '') {
    if (fetch !== undefined || csrfToken !== undefined || 'location' in globalThis) return
    throw new TypeError(`url is missing: the address of the server, ${example}`)
  }
  if (typeof url !== 'string' || !/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
    throw new TypeError(`url ${JSON.stringify(url)} is no address of a server: ${example}`)
}

/** The headers that say who asks. */
export function identityOf({ key, csrfToken }: ClientOptions, method: string): Record<string, string> {
  const token = method === 'GET' ? null : (csrfToken?.() ?? null)
  return {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(token === null ? {} : { 'x-csrf-token': token }),
  }
}

/** Sends, and sends again while the network fails and it is safe. Resolves with any answer; rejects when there is none. */
export async function send(options: ClientOptions, outgoing: Outgoing): Promise<Response> {
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
  const { fetch: ask = globalThis.fetch } = options
  const { method, target, body, headers, signal, timeoutMs } = outgoing
  const limit = AbortSignal.timeout(timeoutMs)
  const response = await ask(`${baseOf(options)}${target}`, {
    method,
    headers: { accept: 'application/json', ...identityOf(options, method), ...headers },
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    ...(body === undefined ? {} : { body }),
    // An answer from another place would be an answer of somebody else, and the key would go there too.
    redirect: 'error',
  })
  return response
}

/** Grows with every failure, and is never quite the same for two clients that failed together. */
export const pauseAfter = (failures: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)) * (0.75 + Math.random() / 2)

/** Waits; rejects with the signal's reason when it is ended early. */
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

/** The error for a server that gave no answer. */
export function unreachable(options: ClientOptions, outgoing: Outgoing, cause: unknown): EscapementError {
  const where = baseOf(options) === '' ? 'The server' : baseOf(options)
  return new EscapementError(`${where} cannot be reached: ${reasonOf(cause, outgoing.timeoutMs)}`, {
    code: 'UNREACHABLE',
    idempotencyKey: outgoing.idempotencyKey,
    cause,
  })
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
}

function reasonOf(cause: unknown, timeoutMs: number): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`
  const { code, message } = (cause.cause ?? cause) as { readonly code?: string; readonly message?: string }
  return WORDS[code ?? ''] ?? (message === undefined || message === '' ? (code ?? cause.message) : message)
}

/** The body of an answer that is no refusal. */
export async function bodyOf(response: Response, outgoing: Outgoing, also: readonly number[]): Promise<unknown> {
  if (!response.ok && !also.includes(response.status)) throw await refusalIn(response, outgoing)
  if (response.status === 204) return undefined
  try {
    return await response.json()
  } catch (cause) {
    outgoing.signal?.throwIfAborted()
    throw new EscapementError('The answer cannot be read: it is not JSON, or it broke off', {
      status: response.status,
      code: 'BAD_ANSWER',
      requestId: response.headers.get('x-request-id'),
      idempotencyKey: outgoing.idempotencyKey,
      cause,
    })
  }
}
