import { templateFlaws } from '../../executors/template.ts'
import { flawed, parsed, type Flaw, type Parsed } from '../../domain/input.ts'

/** What a million tokens cost, in whole money such as dollars. */
export interface ChatPrices {
  readonly input: number
  readonly output: number
}

/** What is sent by options of their own, and so cannot be said a second time. */
const OWN = ['model', 'temperature', 'max_tokens', 'stream'] as const
/** What nobody here could carry out, or answer with. */
const IMPOSSIBLE = ['n', 'tools', 'tool_choice', 'functions', 'function_call', 'parallel_tool_calls'] as const

/** Fields of a request that `body` cannot have. */
export const CHAT_BODY_TAKEN: readonly string[] = [...OWN, ...IMPOSSIBLE, 'messages']

const LARGEST_BODY = 65_536

/** Reads what is sent beside the known fields. */
export function parseChatBody(field: string, value: unknown): Parsed<Readonly<Record<string, unknown>>> {
  const allowed = 'an object with fields of a chat completion, such as {"top_p": 0.9}'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  if (JSON.stringify(value).length > LARGEST_BODY)
    return flawed({ field, value: undefined, message: 'is too long', allowed: `up to ${LARGEST_BODY} characters` })
  const flaws = Object.entries(value).flatMap(([name, given]) => [
    ...takenFlaw(`${field}.${name}`, name),
    ...textsIn(given).flatMap((text) => templateFlaws(`${field}.${name}`, text, { secrets: true })),
  ])
  return flaws.length > 0 ? flawed(flaws) : parsed(value as Readonly<Record<string, unknown>>)
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

function takenFlaw(field: string, name: string): Flaw[] {
  if (OWN.some((own) => own === name))
    return [{ field, value: undefined, message: `is an option of its own: executor.${name}` }]
  if (name === 'messages') return [{ field, value: undefined, message: 'is the conversation, which is filled in' }]
  if (!IMPOSSIBLE.some((one) => one === name)) return []
  return [{ field, value: undefined, message: 'cannot be asked for: one answer in words is what a run ends with' }]
}

export const MOST_PRICE = 1_000_000

/** Reads what tokens cost. */
export function parsePrices(field: string, value: unknown): Parsed<ChatPrices> {
  const allowed = 'money per million tokens, such as {"input": 0.15, "output": 0.6}'
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return flawed({ field, value, message: 'must be an object', allowed })
  const given = value as Readonly<Record<string, unknown>>
  const flaws: Flaw[] = Object.keys(given)
    .filter((name) => name !== 'input' && name !== 'output')
    .map((name) => ({ field: `${field}.${name}`, value: given[name], message: 'is not a known field', allowed }))
  for (const name of ['input', 'output']) {
    const price = given[name]
    if (typeof price !== 'number' || !(price >= 0 && price <= MOST_PRICE))
      flaws.push({ field: `${field}.${name}`, value: price, message: 'must be a number from 0 on', allowed })
  }
  return flaws.length > 0 ? flawed(flaws) : parsed({ input: Number(given['input']), output: Number(given['output']) })
}

/** What tokens cost, in millionths: a price per million is as many millionths for each. */
export const costMicros = (prices: ChatPrices, used: { readonly input: number; readonly output: number }): number =>
  Math.round(prices.input * used.input + prices.output * used.output)
