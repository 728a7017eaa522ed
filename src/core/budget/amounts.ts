import { toMicros, type BudgetUnit } from '../../domain/budget/budget.ts'

/** Amounts in the units of budgets. Null: nothing was said about it. */
export type Amounts = Readonly<Record<BudgetUnit, number | null>>

/** More than this is no report but a mistake, and sums must stay exact. */
const MOST_PER_RUN = 1_000_000_000_000

/** A number as an amount; null for what is none. */
export const amountOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.min(Math.ceil(value), MOST_PER_RUN) : null

/**
 * What a report says was used. Executors inside report `inputTokens`, `outputTokens` and `costMicros`; callbacks say
 * `input_tokens`, `output_tokens` and `cost`, in whole money.
 */
export function amountsUsed(usage: unknown): Amounts {
  if (typeof usage !== 'object' || usage === null) return { tokens: null, money: null }
  const said = usage as Readonly<Record<string, unknown>>
  const input = amountOf(said['inputTokens'] ?? said['input_tokens'])
  const output = amountOf(said['outputTokens'] ?? said['output_tokens'])
  const cost = said['cost']
  return {
    tokens: input === null && output === null ? null : (input ?? 0) + (output ?? 0),
    money: amountOf(said['costMicros']) ?? (typeof cost === 'number' ? amountOf(toMicros(cost)) : null),
  }
}

/**
 * What a run says it needs at most: `max_tokens` and `max_cost` (in whole money) in the payload of its schedule, in the
 * `fields` of a message or in the `params` of a task.
 */
export function amountsStated(payload: unknown): Amounts {
  if (typeof payload !== 'object' || payload === null) return { tokens: null, money: null }
  const given = payload as Readonly<Record<string, unknown>>
  const find = (name: string): unknown =>
    [given, given['fields'], given['params']].map((part) => fieldOf(part, name)).find((value) => value !== undefined)
  const cost = find('max_cost')
  return {
    tokens: amountOf(find('max_tokens')),
    money: typeof cost === 'number' ? amountOf(toMicros(cost)) : null,
  }
}

const fieldOf = (part: unknown, name: string): unknown =>
  typeof part === 'object' && part !== null ? (part as Readonly<Record<string, unknown>>)[name] : undefined
