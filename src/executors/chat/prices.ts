import { type Flaw, flawed, parsed, type Parsed } from '../../domain/input.ts'

/** Prices of a million tokens, in whole money such as dollars. */
export interface ChatPrices {
  readonly input: number
  readonly output: number
  /** Input read from a cache; omitted: the price of input. */
  readonly cached_input?: number
  /** Input written to a cache; omitted: the price of input. */
  readonly cache_write?: number
}

export const MAX_PRICE = 1_000_000
const REQUIRED = ['input', 'output'] as const
const OPTIONAL = ['cached_input', 'cache_write'] as const

/** Reads the prices of tokens. */
export function parsePrices(field: string, value: unknown): Parsed<ChatPrices> {
  const allowed = 'money per million tokens, such as {"input": 0.15, "cached_input": 0.075, "output": 0.6}'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  const given = value as Readonly<Record<string, unknown>>
  const names: readonly string[] = [...REQUIRED, ...OPTIONAL]
  const flaws: Flaw[] = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => ({ field: `${field}.${name}`, value: given[name], message: 'is not a known field', allowed }))
  for (const name of names) {
    const price = given[name]
    if (OPTIONAL.some((one) => one === name) && (price ?? undefined) === undefined) continue
    if (typeof price !== 'number' || !(price >= 0 && price <= MAX_PRICE))
      flaws.push({
        field: `${field}.${name}`,
        value: price,
        message: `must be a number from 0 to ${MAX_PRICE}`,
        allowed,
      })
  }
  if (flaws.length > 0) return flawed(flaws)
  const { cached_input: cached, cache_write: written } = given
  return parsed({
    input: Number(given['input']),
    output: Number(given['output']),
    ...(typeof cached === 'number' ? { cached_input: cached } : {}),
    ...(typeof written === 'number' ? { cache_write: written } : {}),
  })
}

interface PricedTokens {
  readonly input: number
  readonly output: number
  readonly cached: number
  readonly cacheWritten: number
}

/** The cost of tokens in millionths: a price per million tokens equals that many millionths per token. */
export function costMicros(prices: ChatPrices, { input, output, cached, cacheWritten }: PricedTokens): number {
  const { cached_input: ofCached = prices.input, cache_write: ofWritten = prices.input } = prices
  const fresh = Math.max(0, input - cached - cacheWritten)
  return Math.round(prices.input * fresh + ofCached * cached + ofWritten * cacheWritten + prices.output * output)
}

/** When the prices below were taken from the price lists of the vendors. */
export const PRICES_AS_OF = '2026-03-21'

type PriceRow = readonly [model: string, input: number, cachedInput: number, output: number]

/** List prices in US dollars per million tokens, by the host of the vendor's API. */
const OPENAI: readonly PriceRow[] = [
  ['gpt-5.4', 2.5, 0.25, 15],
  ['gpt-5.1', 1.25, 0.125, 10],
  ['gpt-5', 1.25, 0.125, 10],
  ['gpt-5-mini', 0.25, 0.025, 2],
  ['gpt-5-nano', 0.05, 0.005, 0.4],
  ['gpt-4.1', 2, 0.5, 8],
  ['gpt-4.1-mini', 0.4, 0.1, 1.6],
  ['gpt-4.1-nano', 0.1, 0.025, 0.4],
  ['gpt-4o', 2.5, 1.25, 10],
  ['gpt-4o-mini', 0.15, 0.075, 0.6],
  ['o3', 2, 0.5, 8],
  ['o4-mini', 1.1, 0.275, 4.4],
]

const ANTHROPIC: readonly PriceRow[] = [
  ['claude-opus-4-6', 5, 0.5, 25],
  ['claude-opus-4-5', 5, 0.5, 25],
  ['claude-opus-4-1', 15, 1.5, 75],
  ['claude-sonnet-4-6', 3, 0.3, 15],
  ['claude-sonnet-4-5', 3, 0.3, 15],
  ['claude-haiku-4-5', 1, 0.1, 5],
]

/** Anthropic charges a quarter more for input that is written to its cache. */
const ANTHROPIC_CACHE_WRITE = 1.25

/** A model with its list price, for the documents. */
export const LIST_PRICES: readonly { readonly host: string; readonly model: string; readonly prices: ChatPrices }[] = [
  ...OPENAI.map(([model, input, cached, output]) => ({
    host: 'api.openai.com',
    model,
    prices: { input, cached_input: cached, output },
  })),
  ...ANTHROPIC.map(([model, input, cached, output]) => ({
    host: 'api.anthropic.com',
    model,
    prices: { input, cached_input: cached, cache_write: input * ANTHROPIC_CACHE_WRITE, output },
  })),
]

/** The date that names one release of a model. */
const RELEASE = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/

/** OpenAI charges half for requests that may wait. */
const TIER_FACTORS: Readonly<Record<string, number>> = { auto: 1, default: 1, standard_only: 1, flex: 0.5 }

/**
 * The list price of a model at its vendor; null when the server is another, or the model or the tier is not in the
 * list.
 */
export function listPrice(agent: {
  readonly base_url: string
  readonly model: string
  readonly body: Readonly<Record<string, unknown>>
}): ChatPrices | null {
  const { host } = new URL(agent.base_url)
  const model = agent.model.replace(RELEASE, '')
  const found = LIST_PRICES.find((one) => one.host === host && one.model === model)
  const tier = agent.body['service_tier'] ?? 'default'
  const factor = typeof tier === 'string' && Object.hasOwn(TIER_FACTORS, tier) ? TIER_FACTORS[tier] : undefined
  if (found === undefined || factor === undefined) return null
  const { input, output, cached_input: cached = input, cache_write: written } = found.prices
  return {
    input: input * factor,
    cached_input: cached * factor,
    output: output * factor,
    ...(written === undefined ? {} : { cache_write: written * factor }),
  }
}
