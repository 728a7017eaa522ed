import type { LookupFunction } from 'node:net'
import { type Dispatcher, errors, Pool } from 'undici'
import { parseAddress } from '../../domain/outbound/address.ts'
import type { Limit, OutboundResponse, OutboundRequest, ReceiveChunk } from './request.ts'
import type { OutboundGuard, PinnedTarget } from './resolve.ts'

interface RequestContext {
  readonly pool: Pool
  readonly target: PinnedTarget
  readonly limit: Limit
}

/** Headers of the connection, which only the transport may set. */
const TRANSPORT_HEADERS = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['proxy-connection', 'proxy-authorization'],
])

/** Whether only the transport may set a header. */
const isTransportHeader = (name: string): boolean => TRANSPORT_HEADERS.has(name.toLowerCase())

/** Sends one request without following redirects, and reads the response up to its limit. */
async function performRequest(
  request: OutboundRequest,
  { pool, target, limit }: RequestContext,
): Promise<OutboundResponse> {
  const { method = 'GET', body = null, maxBytes } = request
  let received: { readonly status: number; readonly bytes: () => number } | null = null
  try {
    const answer = await pool.request({
      ...{ method, body, signal: limit.signal },
      path: `${target.url.pathname}${target.url.search}`,
      headers: headersOf(request),
    })
    const { statusCode: status, headers } = answer
    const receive = request.receive?.({ status, headers }) ?? null
    const reading = receive === null ? read(answer.body, maxBytes) : streamBody(answer.body, receive)
    received = { status, bytes: reading.bytes }
    const announced = Number(headers['content-length'] ?? 0)
    if (receive === null && announced > maxBytes) reading.refuse()
    const whole = await reading.whole
    return whole === null ? tooLarge(status, maxBytes) : { kind: 'answered', status, headers, body: whole }
  } catch (error) {
    if (limit.ended() !== null) return limit.end()
    return failedResponse(error, received === null ? null : received.bytes())
  }
}

const tooLarge = (status: number, maxBytes: number): OutboundResponse => ({
  kind: 'too_large',
  status,
  message: `the response is larger than ${maxBytes} bytes`,
})

function headersOf({ headers = {} }: OutboundRequest): Record<string, string> {
  const sent: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'escapement' }
  for (const [name, value] of Object.entries(headers)) if (!isTransportHeader(name)) sent[name.toLowerCase()] = value
  return sent
}

interface BodyReading {
  /** Null: the body is larger than the limit. */
  readonly whole: Promise<Buffer | null>
  readonly bytes: () => number
  readonly refuse: () => void
}

/** Reads a body into memory; closes the connection if it is larger than the limit. */
function read(body: Dispatcher.ResponseData['body'], maxBytes: number): BodyReading {
  const chunks: Buffer[] = []
  let bytes = 0
  let refuse: () => void = () => undefined
  const whole = new Promise<Buffer | null>((resolve, reject) => {
    refuse = () => {
      resolve(null)
      body.destroy()
    }
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) refuse()
      else chunks.push(chunk)
    })
    body.once('end', () => resolve(Buffer.concat(chunks)))
    body.on('error', reject)
  })
  return { whole, bytes: () => bytes, refuse }
}

/** How long to wait for the end of a stream after its last chunk, so that the connection can be reused. */
const STREAM_END_GRACE_MS = 250

/** Passes chunks on until the body ends or the receiver stops. */
function streamBody(body: Dispatcher.ResponseData['body'], receive: ReceiveChunk): BodyReading {
  let bytes = 0
  let wanted = true
  const whole = new Promise<Buffer | null>((resolve, reject) => {
    body.on('data', (portion: Buffer) => {
      bytes += portion.length
      if (!wanted) return
      const next = receive(portion)
      if (next === 'more') return
      wanted = false
      if (next === 'cut') body.destroy()
      else setTimeout(() => body.destroy(), STREAM_END_GRACE_MS).unref()
      resolve(Buffer.alloc(0))
    })
    body.once('end', () => resolve(Buffer.alloc(0)))
    body.on('error', reject)
  })
  return { whole, bytes: () => bytes, refuse: () => undefined }
}

/** Errors that mean the response is not HTTP; all others are connection errors. */
const isNotHttp = (error: unknown): boolean =>
  error instanceof errors.HTTPParserError ||
  error instanceof errors.HeadersOverflowError ||
  error instanceof errors.ResponseContentLengthMismatchError

function failedResponse(error: unknown, bytes: number | null): OutboundResponse {
  const text = describe(error)
  if (error instanceof errors.InvalidArgumentError)
    return { kind: 'malformed', message: `cannot send the request: ${text}` }
  if (isNotHttp(error)) return { kind: 'malformed', message: `not an HTTP response: ${text}` }
  if (bytes !== null)
    return {
      kind: 'network',
      message: `the connection was lost after ${bytes} bytes of the response: ${text}`,
    }
  return { kind: 'network', message: text }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Several addresses were tried; the last error stands for all.
  const last: unknown = error instanceof AggregateError ? error.errors.at(-1) : null
  const text = last instanceof Error ? last.message : error.message
  return text === '' && 'code' in error ? String(error.code) : text
}

/** Sends outbound requests through the guard. */
export interface Outbound {
  readonly guard: OutboundGuard
  readonly send: (request: OutboundRequest) => Promise<OutboundResponse>
  readonly close: () => Promise<void>
}

const MAX_REDIRECTS = 5

/** Creates a sender that connects only to addresses the guard has checked. */
export function createOutbound(guard: OutboundGuard): Outbound {
  const pools = createPools()
  const send = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const limit = createLimit(request)
    if (limit.ended() !== null) return limit.end()
    try {
      return await followRedirects(request, { guard, limit, poolOf: pools.of })
    } finally {
      limit.clear()
    }
  }
  return { guard, send, close: pools.close }
}

function createLimit({ timeoutMs, signal }: OutboundRequest): Limit {
  const controller = new AbortController()
  let why: 'timeout' | 'aborted' | null = null
  const stop = (reason: 'timeout' | 'aborted'): void => {
    why ??= reason
    controller.abort()
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, Math.max(0, timeoutMs), 'timeout')
  const abort = (): void => stop('aborted')
  if (signal?.aborted === true) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    ended: () => why,
    end: () =>
      why === 'aborted'
        ? { kind: 'aborted', message: 'the request was cancelled' }
        : { kind: 'timeout', message: `no complete response within ${timeoutMs ?? 0} ms` },
    clear: () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}

interface FollowContext {
  readonly guard: OutboundGuard
  readonly limit: Limit
  readonly poolOf: ReturnType<typeof createPools>['of']
}

async function followRedirects(
  first: OutboundRequest,
  { guard, limit, poolOf }: FollowContext,
): Promise<OutboundResponse> {
  let request = first
  for (let hops = 0; ; hops += 1) {
    const found = await orLimit(guard.admit(request.url, request.purpose), limit)
    if (found === null) return limit.end()
    if (found.kind !== 'admitted') {
      const message = hops === 0 ? found.message : `redirected to ${shownOrigin(request.url)}: ${found.message}`
      return { kind: found.kind === 'refused' ? 'refused' : 'network', message }
    }
    const answer = await performRequest(request, { pool: poolOf(found.target), target: found.target, limit })
    const next = answer.kind === 'answered' ? nextHop(request, found.target, answer) : null
    if (next === null) return answer
    if (next.kind === 'refused') return next
    if (hops === MAX_REDIRECTS) return { kind: 'refused', message: `redirected more than ${MAX_REDIRECTS} times` }
    request = next.request
  }
}

type Hop =
  { readonly kind: 'refused'; readonly message: string } | { readonly kind: 'hop'; readonly request: OutboundRequest }

function nextHop(
  request: OutboundRequest,
  target: PinnedTarget,
  answer: Extract<OutboundResponse, { readonly kind: 'answered' }>,
): Hop | null {
  const next = redirectOf({ request, from: target.url, status: answer.status, location: answer.headers['location'] })
  return next === null ? null : 'message' in next ? { kind: 'refused', ...next } : { kind: 'hop', request: next }
}

/** The result, or null if the limit came first; a running name resolution cannot be cancelled. */
async function orLimit<T>(asked: Promise<T>, { signal }: Limit): Promise<T | null> {
  let stop: () => void = () => undefined
  const stopped = new Promise<null>((resolve) => {
    stop = () => resolve(null)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    return await Promise.race([asked, stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** A URL without parts that may be secret. */
const shownOrigin = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url.slice(0, 200))

/** Reusable connections. */
interface Pools {
  /** The pool of a target, connecting only to its pinned addresses. */
  readonly of: (target: PinnedTarget) => Pool
  readonly close: () => Promise<void>
}

interface PoolEntry {
  readonly pool: Pool
  usedAt: number
}

const MAX_POOLS = 256
const IDLE_MS = 30_000
const KEEP_ALIVE_MS = 4_000
const MAX_HEADER_BYTES = 16_384

/**
 * Keeps pools by origin and addresses, so that a connection is reused only for requests checked with the same addresses.
 * A changed DNS record or rule therefore never uses an old connection.
 */
function createPools(): Pools {
  const kept = new Map<string, PoolEntry>()
  let sweptAt = performance.now()
  const drop = (key: string, { pool }: PoolEntry): void => {
    kept.delete(key)
    // Lets active requests finish.
    pool.close().catch(() => undefined)
  }
  const sweep = (now: number): void => {
    if (now - sweptAt < IDLE_MS && kept.size < MAX_POOLS) return
    sweptAt = now
    for (const [key, entry] of kept) if (now - entry.usedAt > IDLE_MS || kept.size >= MAX_POOLS) drop(key, entry)
  }
  return {
    of: (target) => {
      const key = `${target.url.origin} ${target.addresses.join(' ')}`
      const now = performance.now()
      const entryOfKey = kept.get(key)
      if (entryOfKey !== undefined) {
        entryOfKey.usedAt = now
        return entryOfKey.pool
      }
      sweep(now)
      const pool = openTargetPool(target)
      kept.set(key, { pool, usedAt: now })
      return pool
    },
    close: async () => {
      const all = [...kept.values()]
      kept.clear()
      await Promise.all(all.map(({ pool }) => pool.destroy()))
    },
  }
}

const openTargetPool = ({ url, addresses }: PinnedTarget): Pool =>
  new Pool(url.origin, {
    pipelining: 1,
    // Off, because `timeoutMs` limits the request as a whole.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS * 4,
    maxHeaderSize: MAX_HEADER_BYTES,
    connect: { lookup: pinned(addresses), autoSelectFamily: true, timeout: 10_000 },
  })

/** A DNS lookup that always returns the checked addresses. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: parseAddress(address)?.length === 4 ? 4 : 6 }))
  return (_host, options, done) => {
    const [first] = all
    if (first === undefined) done(new Error('no address'), '', 4)
    else if (options.all === true) done(null, all)
    else done(null, first.address, first.family)
  }
}

interface Redirected {
  readonly request: OutboundRequest
  readonly from: URL
  readonly status: number
  readonly location: string | readonly string[] | undefined
}

/** Redirects that repeat the same request. */
const SAME_REQUEST = new Set([307, 308])
/** Redirects that change a request to GET, so they are followed only for GET and HEAD. */
const AS_GET = new Set([301, 302, 303])

/**
 * The request a redirect leads to. Null: not a redirect, or one that would change the request, so that it is the response.
 * Headers that may carry credentials are not sent to another origin.
 */
export function redirectOf({
  request,
  from,
  status,
  location,
}: Redirected): OutboundRequest | { readonly message: string } | null {
  const { method = 'GET' } = request
  const isPlain = method === 'GET' || method === 'HEAD'
  if (!(SAME_REQUEST.has(status) || (AS_GET.has(status) && isPlain))) return null
  if (typeof location !== 'string' || !URL.canParse(location, from.href)) return null
  const to = new URL(location, from.href)
  to.hash = ''
  if (from.protocol === 'https:' && to.protocol === 'http:')
    return { message: `redirected from https to http (${to.origin}), which is not followed` }
  if (to.origin === from.origin) return { ...request, url: to.href }
  if (request.sameOriginOnly === true)
    return { message: `redirected to ${to.origin}, which is not followed because the request carries a secret` }
  return {
    ...request,
    url: to.href,
    headers: publicHeaders(request.headers ?? {}),
    // The operator has approved only the original address.
    purpose: request.purpose === 'operator' ? 'webhook' : request.purpose,
  }
}

const PRIVATE_HEADER = /auth|cookie|key|token|secret|password|credential|session/i

const publicHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() === 'idempotency-key' || !PRIVATE_HEADER.test(name)),
  )
