import { addAll } from '../../domain/long-lists.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../domain/input.ts'
import { parseTarget } from '../../domain/outbound/ssrf-guard.ts'
import { unknownOptions } from '../kind.ts'
import { MASK } from '../../domain/secret/mask.ts'
import { parseSuccessWhen, type SuccessWhen } from '../success-when.ts'
import { fillUrl, parseUrlTemplate, templateFlaws } from '../template.ts'

export const HTTP_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type HttpMethod = (typeof HTTP_METHODS)[number]

/** The stored options of an HTTP agent. */
export interface HttpOptions {
  readonly kind: 'http'
  readonly url: string
  readonly method: HttpMethod
  readonly headers: Readonly<Record<string, string>>
  /** Null: the dispatch described in api.md. */
  readonly body: unknown
  /** Whether every 202 means that the result comes later. */
  readonly async: boolean
  readonly success_when: SuccessWhen | null
}

/** The options of an HTTP agent, besides its kind. */
export const HTTP_OPTIONS = ['url', 'method', 'headers', 'body', 'async', 'success_when'] as const
const FIELDS = ['kind', ...HTTP_OPTIONS] as const

/** Headers that the connection or the executor sets. */
const RESERVED_HEADERS = [
  ...['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect'],
  ...['proxy-connection', 'proxy-authorization', 'accept-encoding', 'idempotency-key', 'traceparent'],
]
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/
const HEADER_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]{0,8192}$/
const MAX_AGENT_HEADERS = 50
const MAX_HTTP_BODY_LENGTH = 65_536

/** Sample values for validating a URL with templates. */
const SAMPLE_VALUES = { run_id: 'x', job_run_id: 'x', scheduled_time: 'x', attempt: 1, payload: null }

/** Reads the options of an HTTP agent and reports all flaws. */
export function parseHttpOptions(field: string, given: Readonly<Record<string, unknown>>): Parsed<HttpOptions> {
  const flaws: Flaw[] = [...unknownOptions(field, given, { known: FIELDS, of: ' of an http executor' })]
  const keep = <T>(read: Parsed<T>, otherwise: T): T => {
    if (read.ok) return read.value
    addAll(flaws, read.flaws)
    return otherwise
  }
  const option = (name: string): unknown => given[name] ?? undefined
  const method =
    option('method') === undefined ? 'POST' : keep(parseMethod(`${field}.method`, option('method')), 'POST')
  const url = keep(parseUrl(`${field}.url`, option('url')), '')
  const headers = option('headers') === undefined ? {} : keep(parseHeaders(`${field}.headers`, option('headers')), {})
  const body = option('body') === undefined ? null : keep(parseBody(`${field}.body`, option('body'), method), null)
  const isAsync = option('async') ?? false
  if (typeof isAsync !== 'boolean')
    flaws.push({ field: `${field}.async`, value: isAsync, message: 'must be true or false', allowed: 'true, false' })
  const when = option('success_when')
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
    ? flawed({ field, value, message: 'is not a supported method', allowed: HTTP_METHODS.join(', ') })
    : parsed(found)
}

function parseUrl(field: string, value: unknown): Parsed<string> {
  const allowed = 'an http or https URL'
  if (value === undefined) return flawed({ field, value, message: 'is missing', allowed })
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed })
  const template = parseUrlTemplate(field, value)
  if (!template.ok) return template
  const target = parseTarget(fillUrl(template.value, SAMPLE_VALUES) ?? template.value)
  // The value is not shown, because it may contain a password.
  return target.ok ? template : flawed({ field, value: undefined, message: target.message, allowed })
}

/** Reads the headers of an agent; they may reference secrets. */
export function parseHeaders(field: string, value: unknown): Parsed<Readonly<Record<string, string>>> {
  const allowed = 'an object of header names and values'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  const entries = Object.entries(value as Readonly<Record<string, unknown>>)
  const flaws = entries.flatMap(([name, text]) => headerFlaws(`${field}.${name}`, name, text))
  const names = new Set(entries.map(([name]) => name.toLowerCase()))
  if (names.size < entries.length) flaws.push({ field, value: undefined, message: 'contains a header twice', allowed })
  if (entries.length > MAX_AGENT_HEADERS)
    flaws.push({
      field,
      value: undefined,
      message: 'has too many headers',
      allowed: `at most ${MAX_AGENT_HEADERS} headers`,
    })
  return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, string>>)
}

/** The value is not shown, because it may be a credential. */
function headerFlaws(field: string, name: string, text: unknown): Flaw[] {
  if (!HEADER_NAME.test(name)) return [{ field, value: undefined, message: 'is not a valid header name' }]
  if (RESERVED_HEADERS.includes(name.toLowerCase()))
    return [{ field, value: undefined, message: 'is set by Escapement and cannot be given' }]
  if (typeof text !== 'string' || !HEADER_VALUE.test(text))
    return [
      {
        field,
        value: undefined,
        message: 'must be a single line of text',
        allowed: 'up to 8192 characters of Latin-1',
      },
    ]
  if (text === MASK)
    return [{ field, value: undefined, message: 'is masked; send the actual value, because the URL is new' }]
  return templateFlaws(field, text, { secrets: true }).map((flaw) => ({ ...flaw, value: undefined }))
}

function parseBody(field: string, value: unknown, method: HttpMethod): Parsed<unknown> {
  if (method === 'GET')
    return flawed({ field, value: undefined, message: 'cannot be sent with GET', allowed: 'POST, PUT, PATCH, DELETE' })
  if (JSON.stringify(value).length > MAX_HTTP_BODY_LENGTH)
    return flawed({
      field,
      value: undefined,
      message: 'is too long',
      allowed: `up to ${MAX_HTTP_BODY_LENGTH} characters`,
    })
  const flaws = textsIn(value).flatMap((text) => templateFlaws(field, text, { secrets: true }))
  return flaws.length > 0 ? flawed(flaws) : parsed(value)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** The URL with sample values in its templates, for checking where it leads. */
export const sampleUrl = ({ url }: HttpOptions): string => fillUrl(url, SAMPLE_VALUES) ?? url
