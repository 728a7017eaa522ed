import { type Flaw, flawed, parsed, type Parsed, parseInteger, unknownFieldsOf } from '../../domain/input.ts'
import { addAll } from '../../domain/long-lists.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { parseTarget } from '../../domain/outbound/ssrf-guard.ts'
import { parseHeaders } from '../http/options.ts'
import { templateFlaws } from '../template.ts'

/** The price of a million tokens, in whole money such as dollars. */
interface ChatPrices {
  readonly input: number
  readonly output: number
}

/** Request fields that have options of their own. */
const OPTION_FIELDS = ['model', 'temperature', 'max_tokens', 'stream'] as const
/** Request fields that are not supported. */
const UNSUPPORTED_FIELDS = ['n', 'tools', 'tool_choice', 'functions', 'function_call', 'parallel_tool_calls'] as const

/** Request fields that `body` must not contain. */
const RESERVED_BODY_FIELDS: readonly string[] = [...OPTION_FIELDS, ...UNSUPPORTED_FIELDS, 'messages']

const MAX_CHAT_BODY_LENGTH = 65_536

/** Reads the additional request fields. */
function parseChatBody(field: string, value: unknown): Parsed<Readonly<Record<string, unknown>>> {
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
    ...reservedFieldFlaws(`${field}.${name}`, name),
    ...textsIn(given).flatMap((text) => templateFlaws(`${field}.${name}`, text, { secrets: true })),
  ])
  return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, unknown>>)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function reservedFieldFlaws(field: string, name: string): Flaw[] {
  if (OPTION_FIELDS.some((own) => own === name))
    return [{ field, value: undefined, message: `has an option of its own: executor.${name}` }]
  if (name === 'messages')
    return [{ field, value: undefined, message: 'cannot be set: Escapement fills in the conversation' }]
  if (!UNSUPPORTED_FIELDS.some((one) => one === name)) return []
  return [{ field, value: undefined, message: 'is not supported: a run has one text answer' }]
}

export const MAX_PRICE = 1_000_000

/** Reads the prices of tokens. */
function parsePrices(field: string, value: unknown): Parsed<ChatPrices> {
  const allowed = 'money per million tokens, such as {"input": 0.15, "output": 0.6}'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  const given = value as Readonly<Record<string, unknown>>
  const flaws: Flaw[] = Object.keys(given)
    .filter((name) => name !== 'input' && name !== 'output')
    .map((name) => ({ field: `${field}.${name}`, value: given[name], message: 'is not a known field', allowed }))
  for (const name of ['input', 'output']) {
    const price = given[name]
    if (typeof price !== 'number' || !(price >= 0 && price <= MAX_PRICE))
      flaws.push({
        field: `${field}.${name}`,
        value: price,
        message: `must be a number from 0 to ${MAX_PRICE}`,
        allowed,
      })
  }
  return flaws.length > 0 ? flawed(flaws) : parsed({ input: Number(given['input']), output: Number(given['output']) })
}

/** The cost of tokens in millionths: a price per million tokens equals that many millionths per token. */
export const costMicros = (prices: ChatPrices, used: { readonly input: number; readonly output: number }): number =>
  Math.round(prices.input * used.input + prices.output * used.output)

/** The stored options of a chat agent. */
export interface ChatOptions {
  readonly kind: 'chat'
  /** The URL that `/chat/completions` is appended to. */
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
  /** Whether earlier messages of the session are sent along. */
  readonly history: boolean
  readonly prices: ChatPrices | null
  /** Additional request fields, sent unchanged. */
  readonly body: Readonly<Record<string, unknown>>
}

/** The options of a chat agent, besides its kind. */
export const CHAT_OPTIONS = [
  ...(['base_url', 'model', 'api_key', 'headers', 'system_prompt', 'temperature', 'max_tokens', 'stream'] as const),
  ...(['history', 'prices', 'body'] as const),
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
  const options: ChatOptions = {
    kind: 'chat',
    base_url: read('base_url', parseBaseUrl, ''),
    model: read('model', chatTextField(1, MAX_MODEL_LENGTH), ''),
    api_key: read<string | null>('api_key', parseKey, null),
    headers: read('headers', parseHeaders, {}),
    system_prompt: read<string | null>('system_prompt', chatTextField(0, MAX_SYSTEM_PROMPT_LENGTH), null),
    temperature: read<number | null>('temperature', parseTemperature, null),
    max_tokens: read<number | null>('max_tokens', parseTokens, null),
    stream: read('stream', parseSwitch, true),
    history: read('history', parseSwitch, true),
    prices: read<ChatPrices | null>('prices', parsePrices, null),
    body: read('body', parseChatBody, {}),
  }
  if (options.api_key !== null && Object.keys(options.headers).some((name) => name.toLowerCase() === 'authorization'))
    flaws.push({
      ...{ field: `${field}.headers.authorization`, value: undefined },
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

function parseTemperature(field: string, value: unknown): Parsed<number> {
  return typeof value === 'number' && value >= 0 && value <= MAX_TEMPERATURE
    ? parsed(value)
    : flawed({ field, value, message: 'must be a number', allowed: `a number from 0 to ${MAX_TEMPERATURE}` })
}

const parseTokens = (field: string, value: unknown): Parsed<number> =>
  parseInteger(field, value, { min: 1, max: MAX_OUTPUT_TOKENS })

const parseSwitch = (field: string, value: unknown): Parsed<boolean> =>
  typeof value === 'boolean'
    ? parsed(value)
    : flawed({ field, value, message: 'must be true or false', allowed: 'true, false' })

/** The URL of the request: the base with the standard path, unless it already ends with it. */
export function completionsUrl({ base_url: base }: Pick<ChatOptions, 'base_url'>): string {
  const url = new URL(base)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/chat/completions') ? path : `${path}/chat/completions`
  return url.href
}
