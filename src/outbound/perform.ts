import { errors, type Dispatcher, type Pool } from 'undici'
import type { PinnedTarget } from '../platform/outbound/resolve.ts'
import type { Limit, OutboundAnswer, OutboundRequest, TakePortion } from './request.ts'

interface Performing {
  readonly pool: Pool
  readonly target: PinnedTarget
  readonly limit: Limit
}

/** They belong to the connection, which is ours. */
const OURS = new Set([
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['proxy-connection', 'proxy-authorization'],
])

/** Whether a header is one that nobody but the transport sets. */
const isTransportHeader = (name: string): boolean => OURS.has(name.toLowerCase())

/** Sends one request to one place and reads what comes back, up to its limit. */
export async function perform(request: OutboundRequest, { pool, target, limit }: Performing): Promise<OutboundAnswer> {
  const { method = 'GET', body = null, maxBytes } = request
  let got: { readonly status: number; readonly bytes: () => number } | null = null
  try {
    const answer = await pool.request({
      ...{ method, body, signal: limit.signal },
      path: `${target.url.pathname}${target.url.search}`,
      headers: headersOf(request),
    })
    const { statusCode: status, headers } = answer
    const take = request.take?.({ status, headers }) ?? null
    const reading = take === null ? read(answer.body, maxBytes) : handOn(answer.body, take)
    got = { status, bytes: reading.bytes }
    const announced = Number(headers['content-length'] ?? 0)
    if (take === null && announced > maxBytes) reading.refuse()
    const whole = await reading.whole
    return whole === null ? tooLarge(status, maxBytes) : { kind: 'answered', status, headers, body: whole }
  } catch (error) {
    if (limit.ended() !== null) return limit.end()
    return failed(error, got === null ? null : got.bytes())
  }
}

const tooLarge = (status: number, maxBytes: number): OutboundAnswer => ({
  kind: 'too_large',
  status,
  message: `the answer is larger than ${maxBytes} bytes`,
})

function headersOf({ headers = {} }: OutboundRequest): Record<string, string> {
  const sent: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'escapement' }
  for (const [name, value] of Object.entries(headers)) if (!isTransportHeader(name)) sent[name.toLowerCase()] = value
  return sent
}

interface Reading {
  /** Null: there was more than the limit. */
  readonly whole: Promise<Buffer | null>
  readonly bytes: () => number
  readonly refuse: () => void
}

/** Reads a body into memory, never more of it than the limit, and lets go of the connection when there is more. */
function read(body: Dispatcher.ResponseData['body'], maxBytes: number): Reading {
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

/** Whoever has said its last word mostly hangs up in the same breath; the connection is kept for the next request then. */
const LAST_BREATH_MS = 250

/** Hands portions on as they come, until there are none or none is wanted. */
function handOn(body: Dispatcher.ResponseData['body'], take: TakePortion): Reading {
  let bytes = 0
  let wanted = true
  const whole = new Promise<Buffer | null>((resolve, reject) => {
    body.on('data', (portion: Buffer) => {
      bytes += portion.length
      if (!wanted) return
      const next = take(portion)
      if (next === 'more') return
      wanted = false
      if (next === 'cut') body.destroy()
      else setTimeout(() => body.destroy(), LAST_BREATH_MS).unref()
      resolve(Buffer.alloc(0))
    })
    body.once('end', () => resolve(Buffer.alloc(0)))
    body.on('error', reject)
  })
  return { whole, bytes: () => bytes, refuse: () => undefined }
}

/** Errors of the library that mean "this is not HTTP"; everything else is the connection. */
const isNotHttp = (error: unknown): boolean =>
  error instanceof errors.HTTPParserError ||
  error instanceof errors.HeadersOverflowError ||
  error instanceof errors.ResponseContentLengthMismatchError

function failed(error: unknown, bytes: number | null): OutboundAnswer {
  const text = describe(error)
  if (error instanceof errors.InvalidArgumentError)
    return { kind: 'malformed', message: `the request cannot be sent: ${text}` }
  if (isNotHttp(error)) return { kind: 'malformed', message: `not an HTTP answer: ${text}` }
  if (bytes !== null)
    return {
      kind: 'network',
      message: `the connection broke in the middle of the answer, after ${bytes} bytes: ${text}`,
    }
  return { kind: 'network', message: text }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Several addresses were tried: what the last one said stands for all.
  const last: unknown = error instanceof AggregateError ? error.errors.at(-1) : null
  const text = last instanceof Error ? last.message : error.message
  return text === '' && 'code' in error ? String(error.code) : text
}
