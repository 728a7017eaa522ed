import { addAll } from '../../domain/long-lists.ts'
import { parseHeaders } from '../http/options.ts'
import { templateFlaws } from '../template.ts'
import { flawed, parsed, parseInteger, unknownFieldsOf, type Flaw, type Parsed } from '../../domain/input.ts'
import { nearestWord } from '../../domain/nearest-word.ts'
import { parseTarget } from '../../domain/outbound/ssrf-guard.ts'
import { CHAT_BODY_TAKEN, parseChatBody, parsePrices, type ChatPrices } from '../../core/chat/chat-fields.ts'

/** How a model behind an OpenAI-compatible server is asked, as it is kept. */
export interface ChatOptions {
  readonly kind: 'chat'
  /** What `/chat/completions` is appended to. */
  readonly base_url: string
  readonly model: string
  /** A text with `{{secret:NAME}}` in it; null: the server asks for no key. */
  readonly api_key: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly system_prompt: string | null
  readonly temperature: number | null
  readonly max_tokens: number | null
  /** Whether words are shown as they come. */
  readonly stream: boolean
  /** Whether earlier messages of the session are sent along. */
  readonly history: boolean
  readonly prices: ChatPrices | null
  /** What is sent beside that, as it is. */
  readonly body: Readonly<Record<string, unknown>>
}

/** Everything that can be said about such an agent, beside its kind. */
export const CHAT_OPTIONS = [
  ...(['base_url', 'model', 'api_key', 'headers', 'system_prompt', 'temperature', 'max_tokens', 'stream'] as const),
  ...(['history', 'prices', 'body'] as const),
] as const
const FIELDS = ['kind', ...CHAT_OPTIONS] as const

export const LONGEST_MODEL = 500
export const LONGEST_PROMPT = 100_000
export const LONGEST_KEY = 8_192
export const MOST_TOKENS = 10_000_000
export const HOTTEST = 2
const BASE = 'an http or https address such as https://api.openai.com/v1'
const SECRET = '{{secret:NAME}}'

/** Reads how a model is asked. Says everything that is wrong with it. */
export function parseChatOptions(field: string, given: Readonly<Record<string, unknown>>): Parsed<ChatOptions> {
  const flaws: Flaw[] = [...strangers(field, given)]
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
    ['model', 'the name of a model as its server knows it'],
  ] as const)
    if ((given[name] ?? undefined) === undefined)
      flaws.push({ field: `${field}.${name}`, value: undefined, message: 'is missing', allowed })
  const options: ChatOptions = {
    kind: 'chat',
    base_url: read('base_url', parseBaseUrl, ''),
    model: read('model', text(1, LONGEST_MODEL), ''),
    api_key: read<string | null>('api_key', parseKey, null),
    headers: read('headers', parseHeaders, {}),
    system_prompt: read<string | null>('system_prompt', text(0, LONGEST_PROMPT), null),
    temperature: read<number | null>('temperature', parseTemperature, null),
    max_tokens: read<number | null>('max_tokens', tokens, null),
    stream: read('stream', parseSwitch, true),
    history: read('history', parseSwitch, true),
    prices: read<ChatPrices | null>('prices', parsePrices, null),
    body: read('body', parseChatBody, {}),
  }
  if (options.api_key !== null && Object.keys(options.headers).some((name) => name.toLowerCase() === 'authorization'))
    flaws.push({
      ...{ field: `${field}.headers.authorization`, value: undefined },
      message: 'is made of api_key; give one of the two',
    })
  return flaws.length > 0 ? flawed(flaws) : parsed(options)
}

function strangers(field: string, given: Readonly<Record<string, unknown>>): readonly Flaw[] {
  return unknownFieldsOf({ given, known: FIELDS, at: field }, (name) => {
    const near = nearestWord(name, FIELDS)
    const hint = CHAT_BODY_TAKEN.includes(name) ? '' : '; what the server takes beside them goes into body'
    const message = `is not a known field of a chat executor${near === null ? hint : `; did you mean ${near}?`}`
    return { field: `${field}.${name}`, value: given[name], message, allowed: FIELDS.join(', ') }
  })
}

function parseBaseUrl(field: string, value: unknown): Parsed<string> {
  if (typeof value !== 'string') return flawed({ field, value, message: 'must be a text', allowed: BASE })
  if (value.includes('{{'))
    return flawed({ field, value: undefined, message: 'must not have a template in it', allowed: BASE })
  const target = parseTarget(value.trim())
  // A password must not come back in a complaint.
  if (!target.ok) return flawed({ field, value: undefined, message: target.message, allowed: BASE })
  if (target.value.url.hash !== '') return flawed({ field, value, message: 'must not have a fragment', allowed: BASE })
  return parsed(value.trim())
}

/** The value is not shown: it may be somebody's key. */
function parseKey(field: string, value: unknown): Parsed<string> {
  const allowed = `a text with ${SECRET}`
  if (typeof value !== 'string' || value === '' || value.length > LONGEST_KEY)
    return flawed({ field, value: undefined, message: 'must be a text', allowed })
  if (!/\{\{\s*secret:/.test(value))
    return flawed({
      ...{ field, value: undefined, allowed },
      message: `must name a secret and not be the key itself; put it on record first: escapement secrets set NAME --host HOST, then give ${SECRET}`,
    })
  const flaws = templateFlaws(field, value, { secrets: true }).map((flaw) => ({ ...flaw, value: undefined }))
  return flaws.length > 0 ? flawed(flaws) : parsed(value)
}

const text =
  (min: number, max: number) =>
  (field: string, value: unknown): Parsed<string> =>
    typeof value === 'string' && value.trim().length >= min && value.length <= max
      ? parsed(value)
      : flawed({ field, value, message: 'must be a text', allowed: `${min} to ${max} characters` })

function parseTemperature(field: string, value: unknown): Parsed<number> {
  return typeof value === 'number' && value >= 0 && value <= HOTTEST
    ? parsed(value)
    : flawed({ field, value, message: 'must be a number', allowed: `a number from 0 to ${HOTTEST}` })
}

const tokens = (field: string, value: unknown): Parsed<number> =>
  parseInteger(field, value, { min: 1, max: MOST_TOKENS })

const parseSwitch = (field: string, value: unknown): Parsed<boolean> =>
  typeof value === 'boolean'
    ? parsed(value)
    : flawed({ field, value, message: 'must be true or false', allowed: 'true, false' })

/** Where the model is asked: the base with the one path that every such server has. */
export function completionsUrl({ base_url: base }: Pick<ChatOptions, 'base_url'>): string {
  const url = new URL(base)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/chat/completions') ? path : `${path}/chat/completions`
  return url.href
}
