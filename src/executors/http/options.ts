import { addAll } from '../../domain/long-lists.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../domain/input.ts'
import { parseTarget } from '../../domain/outbound/ssrf-guard.ts'
import { unknownOptions } from '../kind.ts'
import { MASK } from '../../core/executor/masked.ts'
import { parseSuccessWhen, type SuccessWhen } from '../success-when.ts'
import { fillUrl, parseUrlTemplate, templateFlaws } from '../template.ts'

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type HttpMethod = (typeof HTTP_METHODS)[number]

/** How an agent is called over HTTP, as it is kept. */
export interface HttpOptions {
  readonly kind: 'http'
  readonly url: string
  readonly method: HttpMethod
  readonly headers: Readonly<Record<string, string>>
  /** Null: the dispatch, as api.md describes it. */
  readonly body: unknown
  /** Every 202 means that the result comes later. */
  readonly async: boolean
  readonly success_when: SuccessWhen | null
}

/** Everything that can be said about such an agent, beside its kind. */
export const HTTP_OPTIONS = ['url', 'method', 'headers', 'body', 'async', 'success_when'] as const
const FIELDS = ['kind', ...HTTP_OPTIONS] as const

/** They belong to the connection or are filled in with every request. */
const TAKEN_HEADERS = [
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['proxy-connection', 'proxy-authorization', 'accept-encoding', 'idempotency-key', 'traceparent'],
]
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]{0,8192}$/
const MOST_HEADERS = 50
const LARGEST_BODY = 65_536

/** Values that show what an address with templates looks like. */
const SAMPLE = { run_id: 'x', job_run_id: 'x', scheduled_time: 'x', attempt: 1, payload: null }

/** Reads how an agent is called over HTTP. Says everything that is wrong with it. */
export function parseHttpOptions(field: string, given: Readonly<Record<string, unknown>>): Parsed<HttpOptions> {
  const flaws: Flaw[] = [...unknownOptions(field, given, { known: FIELDS, of: ' of an http executor' })]
  const keep = <T>(read: Parsed<T>, otherwise: T): T => {
    if (read.ok) return read.value
    addAll(flaws, read.flaws)
    return otherwise
  }
  const said = (name: string): unknown => given[name] ?? undefined
  const method = said('method') === undefined ? 'POST' : keep(parseMethod(`${field}.method`, said('method')), 'POST')
  const url = keep(parseUrl(`${field}.url`, said('url')), '')
  const headers = said('headers') === undefined ? {} : keep(parseHeaders(`${field}.headers`, said('headers')), {})
  const body = said('body') === undefined ? null : keep(parseBody(`${field}.body`, said('body'), method), null)
  const isAsync = said('async') ?? false
  if (typeof isAsync !== 'boolean')
    flaws.push({ field: `${field}.async`, value: isAsync, message: 'must be true or false', allowed: 'true, false' })
  const when = said('success_when')
  const successWhen =
    when === undefined ? null : keep<SuccessWhen | null>(parseSuccessWhen(`${field}.success_when`, when), null)
  if (flaws.length > 0) return flawed(flaws)
  return parsed({
    ...{ kind: 'http', url, method, headers, body, async: isAsync === true, success_when: successWhen },
  })
}

function parseMethod(field: string, value: unknown): Parsed<HttpMethod> {
  const found = typeof value === 'string' ? HTTP_METHODS.find((method) => method === value.toUpperCase()) : undefined
  return found === undefined
    ? flawed({ field, value, message: 'is not a method that can be used', allowed: HTTP_METHODS.join(', ') })
    : parsed(found)
}

function parseUrl(field: string, value: unknown): Parsed<string> {
  const allowed = 'an http or https address'
  if (value === undefined) return flawed({ field, value, message: 'is missing', allowed })
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed })
  const template = parseUrlTemplate(field, value)
  if (!template.ok) return template
  const target = parseTarget(fillUrl(template.value, SAMPLE) ?? template.value)
  // A password must not come back in a complaint.
  return target.ok ? template : flawed({ field, value: undefined, message: target.message, allowed })
}

/** Reads headers that are sent with every request of an agent; they may name secrets. */
export function parseHeaders(field: string, value: unknown): Parsed<Readonly<Record<string, string>>> {
  const allowed = 'texts by name of the header'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  const entries = Object.entries(value as Readonly<Record<string, unknown>>)
  const flaws = entries.flatMap(([name, text]) => headerFlaws(`${field}.${name}`, name, text))
  const names = new Set(entries.map(([name]) => name.toLowerCase()))
  if (names.size < entries.length) flaws.push({ field, value: undefined, message: 'names a header twice', allowed })
  if (entries.length > MOST_HEADERS)
    flaws.push({ field, value: undefined, message: 'has too many', allowed: `at most ${MOST_HEADERS} headers` })
  return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, string>>)
}

/** The value is not shown: it may be somebody's key. */
function headerFlaws(field: string, name: string, text: unknown): Flaw[] {
  if (!HEADER_NAME.test(name)) return [{ field, value: undefined, message: 'is not the name of a header' }]
  if (TAKEN_HEADERS.includes(name.toLowerCase()))
    return [{ field, value: undefined, message: 'is filled in by Escapement and cannot be set' }]
  if (typeof text !== 'string' || !HEADER_VALUE.test(text))
    return [
      { field, value: undefined, message: 'must be a text of one line', allowed: 'up to 8192 characters of Latin-1' },
    ]
  if (text === MASK)
    return [{ field, value: undefined, message: 'is hidden here; send the value itself, as for a new address' }]
  return templateFlaws(field, text, { secrets: true }).map((flaw) => ({ ...flaw, value: undefined }))
}

function parseBody(field: string, value: unknown, method: HttpMethod): Parsed<unknown> {
  if (method === 'GET')
    return flawed({ field, value: undefined, message: 'cannot be sent with GET', allowed: 'POST, PUT, PATCH, DELETE' })
  if (JSON.stringify(value).length > LARGEST_BODY)
    return flawed({ field, value: undefined, message: 'is too long', allowed: `up to ${LARGEST_BODY} characters` })
  const flaws = textsIn(value).flatMap((text) => templateFlaws(field, text, { secrets: true }))
  return flaws.length > 0 ? flawed(flaws) : parsed(value)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** What an address with templates looks like when something stands in each; for whoever judges where it leads. */
export const sampleUrl = ({ url }: HttpOptions): string => fillUrl(url, SAMPLE) ?? url
