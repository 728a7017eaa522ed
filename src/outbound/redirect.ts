import type { OutboundRequest } from './request.ts'

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
