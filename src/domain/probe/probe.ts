import { flawed, integerField, parsed, parseFields, parseWord, wordField, type Flaw, type Parsed } from '../input.ts'
import { parseCondition, parsePointer, type Condition } from './condition.ts'

/** The kinds of probe. */
export const PROBE_KINDS = ['http', 'command', 'state'] as const
export type ProbeKind = (typeof PROBE_KINDS)[number]

/** What to do when a probe fails: run the agent anyway, or fail the attempt. */
export const ON_ERRORS = ['run', 'fail'] as const
export type OnError = (typeof ON_ERRORS)[number]

export const PROBE_METHODS = ['GET', 'HEAD', 'POST'] as const
export type ProbeMethod = (typeof PROBE_METHODS)[number]

/** The settings common to all kinds of probe. */
interface ProbeSettings {
  readonly when: Condition | null
  /** Answers yes only when this differs from the previous check: the whole answer, or the value at a JSON pointer. */
  readonly changed: true | string | null
  readonly onError: OnError
  readonly timeoutSeconds: number
}

export interface HttpProbe extends ProbeSettings {
  readonly kind: 'http'
  readonly url: string
  readonly method: ProbeMethod
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface CommandProbe extends ProbeSettings {
  readonly kind: 'command'
  readonly program: string
  readonly args: readonly string[]
  readonly directory: string | null
}

/** Checks stored state only: a schedule with its last run, or a session. */
export interface StateProbe extends ProbeSettings {
  readonly kind: 'state'
  readonly of: { readonly scheduleId: string | null; readonly session: string | null }
}

/** A cheap check that decides whether an agent runs. */
export type Probe = HttpProbe | CommandProbe | StateProbe

export const DEFAULT_PROBE_TIMEOUT_SECONDS = 5
/** A longer check would not be cheap. */
export const MAX_PROBE_TIMEOUT_SECONDS = 60
/** The maximum size of a probe's answer, in bytes. */
export const MAX_PROBE_ANSWER_BYTES = 256 * 1024

export const MAX_URL_LENGTH = 8_192
export const MAX_BODY_LENGTH = 16_384
export const MAX_HEADERS = 32
export const MAX_ARGS = 64
export const MAX_PROBE_TEXT_LENGTH = 4_096

type ProbeFieldParser<T> = (field: string, value: unknown) => Parsed<T>

const COMMON_FIELDS = {
  when: parseCondition,
  changed: parseChanged,
  on_error: wordField(ON_ERRORS),
  timeout_seconds: integerField({ min: 1, max: MAX_PROBE_TIMEOUT_SECONDS }),
  kind: wordField(PROBE_KINDS),
} as const satisfies Readonly<Record<string, ProbeFieldParser<unknown>>>

/** Reads a probe. Whether it is allowed is decided by the outbound guard and the operator's list of programs. */
export function parseProbe(field: string, value: unknown): Parsed<Probe> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({
      field,
      value,
      message: 'must be a probe',
      allowed: `an object with kind ${PROBE_KINDS.join(', ')}`,
    })
  const kind = parseWord(`${field}.kind`, (value as { readonly kind?: unknown }).kind, PROBE_KINDS)
  if (!kind.ok) return kind
  const given = withoutNulls(value)
  const read = READERS[kind.value](field, given)
  if (!read.ok) return read
  const flaws = combinationFlaws(field, read.value)
  return flaws.length > 0 ? flawed(flaws) : read
}

/** Reads a probe from a request. Masked header values stand for the stored ones, which the caller restores. */
export function parseProbeInput(field: string, value: unknown): Parsed<Probe> {
  const { headers } = Object(value) as { readonly headers?: unknown }
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return parseProbe(field, value)
  const known = Object.entries(headers).filter(([, text]) => text !== HIDDEN)
  return parseProbe(field, { ...(value as object), headers: Object.fromEntries(known) as unknown })
}

/** Null counts as omitted. */
const withoutNulls = (value: object): object =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null))

const READERS: Readonly<Record<ProbeKind, ProbeFieldParser<Probe>>> = {
  http: (field, value) => {
    const read = parseFields(field, value, {
      ...COMMON_FIELDS,
      url: parseUrl,
      method: wordField(PROBE_METHODS),
      headers: parseHeaders,
      body: plainText({ min: 0, max: MAX_BODY_LENGTH }),
    })
    if (!read.ok) return read
    const { url, method, headers, body } = read.value
    if (url === undefined) return flawed({ field: `${field}.url`, value: undefined, message: 'is missing' })
    return parsed({
      ...{ kind: 'http', url, headers: headers ?? {}, body: body ?? null, ...commonSettings(read.value) },
      method: method ?? (body === undefined ? 'GET' : 'POST'),
    })
  },
  command: (field, value) => {
    const read = parseFields(field, value, {
      ...COMMON_FIELDS,
      program: absolutePath,
      args: parseArgs,
      directory: absolutePath,
    })
    if (!read.ok) return read
    const { program, args, directory } = read.value
    if (program === undefined) return flawed({ field: `${field}.program`, value: undefined, message: 'is missing' })
    return parsed({
      kind: 'command',
      program,
      args: args ?? [],
      directory: directory ?? null,
      ...commonSettings(read.value),
    })
  },
  state: (field, value) => {
    const { changed: _changed, ...fields } = COMMON_FIELDS
    const read = parseFields(field, value, { ...fields, of: parseOf })
    if (!read.ok) return read
    const { of } = read.value
    return parsed({
      kind: 'state',
      of: { scheduleId: of?.schedule_id ?? null, session: of?.session ?? null },
      ...commonSettings(read.value),
    })
  },
}

const commonSettings = (given: {
  readonly when?: Condition
  readonly changed?: true | string | null
  readonly on_error?: OnError
  readonly timeout_seconds?: number
}): ProbeSettings => ({
  when: given.when ?? null,
  changed: given.changed ?? null,
  onError: given.on_error ?? 'run',
  timeoutSeconds: given.timeout_seconds ?? DEFAULT_PROBE_TIMEOUT_SECONDS,
})

function combinationFlaws(field: string, probe: Probe): readonly Flaw[] {
  const flaws: Flaw[] = []
  if (probe.kind === 'state' && probe.when === null)
    flaws.push({
      field: `${field}.when`,
      value: undefined,
      message: 'is missing; a state probe decides by its condition alone',
    })
  if (probe.kind !== 'http') return flaws
  const { method, body, when, changed } = probe
  if (body !== null && method !== 'POST')
    flaws.push({ field: `${field}.body`, value: undefined, message: `cannot be sent with ${method}`, allowed: 'POST' })
  if (method !== 'HEAD') return flaws
  if (when !== null)
    flaws.push({
      field: `${field}.when`,
      value: undefined,
      message: 'does not apply to HEAD, whose answer has no body',
    })
  if (typeof changed === 'string')
    flaws.push({
      field: `${field}.changed`,
      value: changed,
      message: 'does not apply to HEAD, whose answer has no body',
      allowed: 'true',
    })
  return flaws
}

/** `false` counts as omitted; a text is a JSON pointer. */
function parseChanged(field: string, value: unknown): Parsed<true | string | null> {
  if (typeof value === 'boolean') return parsed(value ? true : null)
  const pointer = parsePointer(field, value)
  const allowed = 'true, or a JSON pointer such as /items/0/id'
  return pointer.ok
    ? parsed(pointer.value === '' ? true : pointer.value)
    : flawed({ ...firstFlaw(pointer.flaws), allowed })
}

const firstFlaw = (flaws: readonly Flaw[]): Flaw => flaws[0] ?? { field: '', value: undefined, message: 'is not valid' }

const HALF_CHARACTER = /\p{Surrogate}/u

/** Reads a text of limited length without templates: a probe is the same for every run and must not contain secrets. */
function plainText(bounds: { readonly min: number; readonly max: number }): ProbeFieldParser<string> {
  const allowed = `a text of ${bounds.min} to ${bounds.max} characters`
  return (field, value) => {
    if (typeof value !== 'string' || value.length < bounds.min || value.length > bounds.max)
      return flawed({ field, value: undefined, message: 'must be a text of limited length', allowed })
    if (value.includes('\u0000') || HALF_CHARACTER.test(value))
      return flawed({ field, value: undefined, message: 'must not contain NUL or half of a surrogate pair', allowed })
    if (value.includes('{{'))
      return flawed({
        ...{ field, value: undefined, message: 'must not contain a template' },
        allowed: 'a text without {{; only agents may reference secrets',
      })
    return parsed(value)
  }
}

function parseUrl(field: string, value: unknown): Parsed<string> {
  const text = plainText({ min: 1, max: MAX_URL_LENGTH })(field, value)
  if (!text.ok) return text
  const allowed = 'a URL such as https://example.com/path'
  const url = URL.canParse(text.value) ? new URL(text.value) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return flawed({ field, value, message: 'is not an http or https URL', allowed })
  if (url.username !== '' || url.password !== '')
    return flawed({ field, value: undefined, message: 'must not contain a user name or password', allowed })
  return text
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/
const HEADER_VALUE = /^[\t\u0020-\u007e\u00a0-\u00ff]*$/
/** Headers that the connection sets. */
const CONNECTION_HEADERS =
  /^(?:host|connection|content-length|transfer-encoding|keep-alive|upgrade|te|trailer|expect|proxy-.*)$/i

function parseHeaders(field: string, value: unknown): Parsed<Readonly<Record<string, string>>> {
  const allowed = 'an object of header names and values'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value: undefined, message: 'must be an object', allowed })
  const entries = Object.entries(value as Readonly<Record<string, unknown>>)
  if (entries.length > MAX_HEADERS)
    return flawed({ field, value: undefined, message: `has more than ${MAX_HEADERS} headers`, allowed })
  const flaws = entries.flatMap(([name, text]): readonly Flaw[] => {
    const of = `${field}.${name}`
    if (!HEADER_NAME.test(name)) return [{ field: of, value: undefined, message: 'is not a valid header name' }]
    if (CONNECTION_HEADERS.test(name))
      return [{ field: of, value: undefined, message: 'is set by the connection and cannot be given' }]
    const read = plainText({ min: 0, max: MAX_PROBE_TEXT_LENGTH })(of, text)
    if (!read.ok) return read.flaws
    if (read.value === HIDDEN) return [{ field: of, value: undefined, message: 'is masked; send the actual value' }]
    return HEADER_VALUE.test(read.value)
      ? []
      : [{ field: of, value: undefined, message: 'is not a valid header value' }]
  })
  return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, string>>)
}

/** Shown instead of a credential. */
const HIDDEN = '***'

function absolutePath(field: string, value: unknown): Parsed<string> {
  const text = plainText({ min: 1, max: MAX_PROBE_TEXT_LENGTH })(field, value)
  if (!text.ok) return text
  const isPlain = text.value.startsWith('/') && text.value.split('/').every((part) => part !== '..' && part !== '.')
  return isPlain ? text : flawed({ field, value, message: 'must be an absolute path without . and ..' })
}

function parseArgs(field: string, value: unknown): Parsed<readonly string[]> {
  const allowed = `up to ${MAX_ARGS} texts, one per argument`
  if (!Array.isArray(value) || value.length > MAX_ARGS)
    return flawed({ field, value: undefined, message: 'must be a list of arguments', allowed })
  const read = plainText({ min: 0, max: MAX_PROBE_TEXT_LENGTH })
  const flaws = (value as readonly unknown[]).flatMap((arg, index) => {
    const one = read(`${field}.${index}`, arg)
    return one.ok ? [] : one.flaws
  })
  return flaws.length > 0 ? flawed(flaws) : parsed(value as readonly string[])
}

const parseOf = (field: string, value: unknown): Parsed<{ readonly schedule_id?: string; readonly session?: string }> =>
  parseFields(field, value, {
    schedule_id: plainText({ min: 1, max: 200 }),
    session: plainText({ min: 1, max: 512 }),
  })
