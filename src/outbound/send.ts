import type { LookupFunction } from 'node:net'
import { Pool } from 'undici'
import { parseAddress } from '../domain/outbound/address.ts'
import type { OutboundGuard, PinnedTarget } from '../platform/outbound/resolve.ts'
import { perform } from './perform.ts'
import type { Limit, OutboundAnswer, OutboundRequest } from './request.ts'

/** The way to the outside. */
export interface Outbound {
  readonly guard: OutboundGuard
  readonly send: (request: OutboundRequest) => Promise<OutboundAnswer>
  readonly close: () => Promise<void>
}

const MOST_REDIRECTS = 5

/** Sends requests where the guard lets them, and to the very addresses it has judged. */
export function createOutbound(guard: OutboundGuard): Outbound {
  const pools = createPools()
  const send = async (request: OutboundRequest): Promise<OutboundAnswer> => {
    const limit = limited(request)
    if (limit.ended() !== null) return limit.end()
    try {
      return await follow(request, { guard, limit, poolOf: pools.of })
    } finally {
      limit.clear()
    }
  }
  return { guard, send, close: pools.close }
}

function limited({ timeoutMs, signal }: OutboundRequest): Limit {
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
        ? { kind: 'aborted', message: 'the request was stopped' }
        : { kind: 'timeout', message: `no complete answer within ${timeoutMs ?? 0} ms` },
    clear: () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    },
  }
}

interface Way {
  readonly guard: OutboundGuard
  readonly limit: Limit
  readonly poolOf: ReturnType<typeof createPools>['of']
}

async function follow(first: OutboundRequest, { guard, limit, poolOf }: Way): Promise<OutboundAnswer> {
  let request = first
  for (let hops = 0; ; hops += 1) {
    const found = await orEnd(guard.admit(request.url, request.purpose), limit)
    if (found === null) return limit.end()
    if (found.kind !== 'admitted') {
      const message = hops === 0 ? found.message : `redirected to ${shown(request.url)}: ${found.message}`
      return { kind: found.kind === 'refused' ? 'refused' : 'network', message }
    }
    const answer = await perform(request, { pool: poolOf(found.target), target: found.target, limit })
    const next = answer.kind === 'answered' ? nextHop(request, found.target, answer) : null
    if (next === null) return answer
    if (next.kind === 'refused') return next
    if (hops === MOST_REDIRECTS) return { kind: 'refused', message: `redirected more than ${MOST_REDIRECTS} times` }
    request = next.request
  }
}

type Hop =
  { readonly kind: 'refused'; readonly message: string } | { readonly kind: 'hop'; readonly request: OutboundRequest }

function nextHop(
  request: OutboundRequest,
  target: PinnedTarget,
  answer: Extract<OutboundAnswer, { readonly kind: 'answered' }>,
): Hop | null {
  const next = redirectOf({ request, from: target.url, status: answer.status, location: answer.headers['location'] })
  return next === null ? null : 'message' in next ? { kind: 'refused', ...next } : { kind: 'hop', request: next }
}

/** The answer, or null when the limit came first: a resolver cannot be called back. */
async function orEnd<T>(asked: Promise<T>, { signal }: Limit): Promise<T | null> {
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

/** Without what may be secret in it. */
const shown = (url: string): string => (URL.canParse(url) ? new URL(url).origin : url.slice(0, 200))

/** Connections that are kept for the next request. */
interface Pools {
  /** The connections to a target, and to nothing but the addresses it is pinned to. */
  readonly of: (target: PinnedTarget) => Pool
  readonly close: () => Promise<void>
}

interface Kept {
  readonly pool: Pool
  usedAt: number
}

const MOST_POOLS = 256
const IDLE_MS = 30_000
const KEEP_ALIVE_MS = 4_000
const LARGEST_HEADERS = 16_384

/**
 * Pools by origin and addresses: a connection is only used again for a request that was judged with the very addresses
 * it was opened to, so neither another DNS answer nor a change of the rules is ever got around by a kept connection.
 */
function createPools(): Pools {
  const kept = new Map<string, Kept>()
  let sweptAt = performance.now()
  const drop = (key: string, { pool }: Kept): void => {
    kept.delete(key)
    // What is under way on it may end.
    pool.close().catch(() => undefined)
  }
  const sweep = (now: number): void => {
    if (now - sweptAt < IDLE_MS && kept.size < MOST_POOLS) return
    sweptAt = now
    for (const [key, entry] of kept) if (now - entry.usedAt > IDLE_MS || kept.size >= MOST_POOLS) drop(key, entry)
  }
  return {
    of: (target) => {
      const key = `${target.url.origin} ${target.addresses.join(' ')}`
      const now = performance.now()
      const known = kept.get(key)
      if (known !== undefined) {
        known.usedAt = now
        return known.pool
      }
      sweep(now)
      const pool = openPool(target)
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

const openPool = ({ url, addresses }: PinnedTarget): Pool =>
  new Pool(url.origin, {
    pipelining: 1,
    // Time limits belong to the request as a whole; those of the library would only be a second set of them.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS * 4,
    maxHeaderSize: LARGEST_HEADERS,
    connect: { lookup: pinned(addresses), autoSelectFamily: true, timeout: 10_000 },
  })

/** Answers every question with the addresses that were judged. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: parseAddress(address)?.length === 4 ? 4 : 6 }))
  return (_host, options, done) => {
    const [first] = all
    if (first === undefined) done(new Error('there is no address'), '', 4)
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

/** They mean "the same request, there". */
const SAME_REQUEST = new Set([307, 308])
/** They turn a request with a body into one without, which is not what anybody meant to send. */
const AS_GET = new Set([301, 302, 303])

/**
 * Where a redirect leads. Null: it is the answer, because it is none or because following it would change what is sent.
 * What belongs to a host, credentials above all, does not travel to another one.
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
  if (request.bound === true)
    return { message: `redirected to ${to.origin}, which is not followed because the request carries a secret` }
  return {
    ...request,
    url: to.href,
    headers: publicHeaders(request.headers ?? {}),
    // The operator has named one place; where it leads is not the operator's word any more.
    purpose: request.purpose === 'operator' ? 'webhook' : request.purpose,
  }
}

const PRIVATE_HEADER = /auth|cookie|key|token|secret|password|credential|session/i

const publicHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => name.toLowerCase() === 'idempotency-key' || !PRIVATE_HEADER.test(name)),
  )
