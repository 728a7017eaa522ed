import { type Flaw, flawed, parsed, type Parsed, parseInteger, parseWord, unknownFieldsOf } from '../../domain/input.ts'
import { addAll } from '../../domain/long-lists.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { parseTarget } from '../../domain/outbound/ssrf-guard.ts'
import { parseHeaders } from '../http/options.ts'
import { templateFlaws } from '../template.ts'
import { parsePrices, type ChatPrices } from './prices.ts'

/** The APIs that a chat executor speaks. */
export const CHAT_APIS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'ollama'] as const
export type ChatApi = (typeof CHAT_APIS)[number]

interface ApiFacts {
  /** What precedes the path, unless the base URL ends with it. */
  readonly prefix: string
  readonly path: string
  /** What a base URL usually looks like. */
  readonly base: string
  /** Request fields that `body` must not contain besides those of every API. */
  readonly reserved: readonly string[]
  readonly maxTemperature: number
  /** The header of the key; `bearer`: `Authorization: Bearer …`. */
  readonly keyHeader: 'bearer' | 'x-api-key'
}

/** The facts of each API that its options depend on. */
export const API_FACTS: Readonly<Record<ChatApi, ApiFacts>> = {
  'openai-chat': {
    prefix: '',
    path: '/chat/completions',
    base: 'the base URL usually ends with /v1',
    reserved: [],
    maxTemperature: 2,
    keyHeader: 'bearer',
  },
  'openai-responses': {
    prefix: '',
    path: '/responses',
    base: 'the base URL usually ends with /v1',
    reserved: ['input', 'instructions', 'conversation', 'previous_response_id'],
    maxTemperature: 2,
    keyHeader: 'bearer',
  },
  'anthropic-messages': {
    prefix: '/v1',
    path: '/messages',
    base: 'the base URL is usually https://api.anthropic.com',
    reserved: ['system'],
    maxTemperature: 1,
    keyHeader: 'x-api-key',
  },
  ollama: {
    prefix: '/api',
    path: '/chat',
    base: 'the base URL is usually http://HOST:11434',
    reserved: [],
    maxTemperature: 2,
    keyHeader: 'bearer',
  },
}

/** Request fields that have options of their own, and the names of those options. */
const OPTION_FIELDS: Readonly<Record<string, string>> = {
  model: 'model',
  temperature: 'temperature',
  max_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  stream: 'stream',
  background: 'background',
}
/** Request fields that are not supported. */
const UNSUPPORTED_FIELDS = ['n', 'tools', 'tool_choice', 'functions', 'function_call', 'parallel_tool_calls'] as const

/** Request fields that `body` must not contain. */
const RESERVED_BODY_FIELDS: readonly string[] = [...Object.keys(OPTION_FIELDS), ...UNSUPPORTED_FIELDS, 'messages']

const MAX_CHAT_BODY_LENGTH = 65_536

/** Reads the additional request fields. */
const parseChatBody =
  (api: ChatApi) =>
  (field: string, value: unknown): Parsed<Readonly<Record<string, unknown>>> => {
    const allowed = 'an object with fields of a chat completion, such as {"top_p": 0.9}'
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return flawed({ field, value, message: 'must be an object', allowed })
    if (JSON.stringify(value).length > MAX_CHAT_BODY_LENGTH)
      return flawed({
        field,
        value: undefined,
        message: 'is too long',
        allowed: `up to ${MAX_CHAT_BODY_LENGTH} characters`,
      })
    const flaws = Object.entries(value).flatMap(([name, given]) => [
      ...reservedFieldFlaws(`${field}.${name}`, name, api),
      ...textsIn(given).flatMap((text) => templateFlaws(`${field}.${name}`, text, { secrets: true })),
    ])
    return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, unknown>>)
  }

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function reservedFieldFlaws(field: string, name: string, api: ChatApi): Flaw[] {
  const option = Object.hasOwn(OPTION_FIELDS, name) ? OPTION_FIELDS[name] : undefined
  if (option !== undefined)
    return [{ field, value: undefined, message: `has an option of its own: executor.${option}` }]
  if (name === 'messages' || API_FACTS[api].reserved.includes(name))
    return [{ field, value: undefined, message: 'cannot be set: Escapement fills in the conversation' }]
  if (!UNSUPPORTED_FIELDS.some((one) => one === name)) return []
  return [{ field, value: undefined, message: 'is not supported: a run has one text answer' }]
}

/** The stored options of a chat agent. */
export interface ChatOptions {
  readonly kind: 'chat'
  readonly api: ChatApi
  /** The URL that the path of the API is appended to. */
  readonly base_url: string
  readonly model: string
  /** A text with `{{secret:NAME}}`; null: the server needs no key. */
  readonly api_key: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly system_prompt: string | null
  readonly temperature: number | null
  readonly max_tokens: number | null
  /** Whether the answer is streamed. */
  readonly stream: boolean
  /** Whether the server works in the background, and is asked for the answer until it is there. */
  readonly background: boolean
  /** Whether earlier messages of the session are sent along. */
  readonly history: boolean
  readonly prices: ChatPrices | null
  /** Additional request fields, sent unchanged. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The options of a chat agent, besides its kind. */
export const CHAT_OPTIONS = [
  ...(['api', 'base_url', 'model', 'api_key', 'headers', 'system_prompt', 'temperature', 'max_tokens'] as const),
  ...(['stream', 'background', 'history', 'prices', 'body'] as const),
] as const
const FIELDS = ['kind', ...CHAT_OPTIONS] as const

export const MAX_MODEL_LENGTH = 500
export const MAX_SYSTEM_PROMPT_LENGTH = 100_000
export const MAX_KEY_LENGTH = 8_192
export const MAX_OUTPUT_TOKENS = 10_000_000
export const MAX_TEMPERATURE = 2
const BASE = 'an http or https URL such as https://api.openai.com/v1'
const SECRET = '{{secret:NAME}}'

/** Reads the options of a chat agent and reports all flaws. */
export function parseChatOptions(field: string, given: Readonly<Record<string, unknown>>): Parsed<ChatOptions> {
  const flaws: Flaw[] = [...unknownChatOptionFlaws(field, given)]
  const read = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T => {
    const value = given[name] ?? undefined
    if (value === undefined) return otherwise
    const answer = parse(`${field}.${name}`, value)
    if (answer.ok) return answer.value
    addAll(flaws, answer.flaws)
    return otherwise
  }
  for (const [name, allowed] of [
    ['base_url', BASE],
    ['model', 'the name of the model at its server'],
  ] as const)
    if ((given[name] ?? undefined) === undefined)
      flaws.push({ field: `${field}.${name}`, value: undefined, message: 'is missing', allowed })
  const api = read<ChatApi>('api', parseApi, 'openai-chat')
  const options: ChatOptions = {
    kind: 'chat',
    api,
    base_url: read('base_url', parseBaseUrl, ''),
    model: read('model', chatTextField(1, MAX_MODEL_LENGTH), ''),
    api_key: read<string | null>('api_key', parseKey, null),
    headers: read('headers', parseHeaders, {}),
    system_prompt: read<string | null>('system_prompt', chatTextField(0, MAX_SYSTEM_PROMPT_LENGTH), null),
    temperature: read<number | null>('temperature', parseTemperature(api), null),
    max_tokens: read<number | null>('max_tokens', parseTokens, null),
    stream: read('stream', parseSwitch, true),
    background: read('background', parseBackground(api), false),
    history: read('history', parseSwitch, true),
    prices: read<ChatPrices | null>('prices', parsePrices, null),
    body: read('body', parseChatBody(api), {}),
  }
  const header = keyHeaderOf(options)
  if (options.api_key !== null && Object.keys(options.headers).some((name) => name.toLowerCase() === header))
    flaws.push({
      ...{ field: `${field}.headers.${header}`, value: undefined },
      message: 'is set from api_key; give only one of the two',
    })
  return flaws.length > 0 ? flawed(flaws) : parsed(options)
}

function unknownChatOptionFlaws(field: string, given: Readonly<Record<string, unknown>>): readonly Flaw[] {
  return unknownFieldsOf({ given, known: FIELDS, at: field }, (name) => {
    const near = nearestWord(name, FIELDS)
    const hint = RESERVED_BODY_FIELDS.includes(name) ? '' : '; put other request fields into body'
    const message = `is not a known field of a chat executor${near === null ? hint : `; did you mean ${near}?`}`
    return { field: `${field}.${name}`, value: given[name], message, allowed: FIELDS.join(', ') }
  })
}

function parseBaseUrl(field: string, value: unknown): Parsed<string> {
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed: BASE })
  if (value.includes('{{'))
    return flawed({ field, value: undefined, message: 'must not contain a template', allowed: BASE })
  const target = parseTarget(value.trim())
  // The value is not shown, because it may contain a password.
  if (!target.ok) return flawed({ field, value: undefined, message: target.message, allowed: BASE })
  if (target.value.url.hash !== '') return flawed({ field, value, message: 'must not have a fragment', allowed: BASE })
  return parsed(value.trim())
}

/** The value is not shown, because it may be a key. */
function parseKey(field: string, value: unknown): Parsed<string> {
  const allowed = `a text with ${SECRET}`
  if (typeof value !== 'string' || value === '' || value.length > MAX_KEY_LENGTH)
    return flawed({ field, value: undefined, message: 'must be a text', allowed })
  if (!/\{\{\s*secret:/.test(value))
    return flawed({
      ...{ field, value: undefined, allowed },
      message: `must reference a secret instead of containing the key; store the key with escapement secrets set NAME --host HOST, then use ${SECRET}`,
    })
  const flaws = templateFlaws(field, value, { secrets: true }).map((flaw) => ({ ...flaw, value: undefined }))
  return flaws.length > 0 ? flawed(flaws) : parsed(value)
}

const chatTextField =
  (min: number, max: number) =>
  (field: string, value: unknown): Parsed<string> =>
    typeof value === 'string' && value.trim().length >= min && value.length <= max
      ? parsed(value)
      : flawed({ field, value, message: 'must be a text', allowed: `${min} to ${max} characters` })

const parseTemperature =
  (api: ChatApi) =>
  (field: string, value: unknown): Parsed<number> => {
    const max = API_FACTS[api].maxTemperature
    return typeof value === 'number' && value >= 0 && value <= max
      ? parsed(value)
      : flawed({ field, value, message: 'must be a number', allowed: `a number from 0 to ${max}` })
  }

const parseApi = (field: string, value: unknown): Parsed<ChatApi> => parseWord(field, value, CHAT_APIS)

const parseBackground =
  (api: ChatApi) =>
  (field: string, value: unknown): Parsed<boolean> =>
    value === true && api !== 'openai-responses'
      ? flawed({ field, value, message: `is not possible with api ${api}`, allowed: 'true with api openai-responses' })
      : parseSwitch(field, value)

const parseTokens = (field: string, value: unknown): Parsed<number> =>
  parseInteger(field, value, { min: 1, max: MAX_OUTPUT_TOKENS })

const parseSwitch = (field: string, value: unknown): Parsed<boolean> =>
  typeof value === 'boolean'
    ? parsed(value)
    : flawed({ field, value, message: 'must be true or false', allowed: 'true, false' })

/** The lower-case name of the header that carries the key. */
export const keyHeaderOf = ({ api }: Pick<ChatOptions, 'api'>): string =>
  API_FACTS[api].keyHeader === 'bearer' ? 'authorization' : API_FACTS[api].keyHeader

/** The URL of the request: the base with the path of its API, as far as it does not already end with it. */
export function requestUrl({ api, base_url: base }: Pick<ChatOptions, 'api' | 'base_url'>): string {
  const url = new URL(base)
  const own = url.pathname.replace(/\/+$/, '')
  const { prefix, path } = API_FACTS[api]
  if (own.endsWith(`${prefix}${path}`)) url.pathname = own
  else url.pathname = own.endsWith(prefix) ? `${own}${path}` : `${own}${prefix}${path}`
  return url.href
}
