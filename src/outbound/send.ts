import type { OutboundGuard, PinnedTarget } from './guard.ts'
import { createPools } from './pools.ts'
import { perform } from './perform.ts'
import { redirectOf } from './redirect.ts'
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
