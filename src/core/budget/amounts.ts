import { toMicros, type BudgetUnit } from './budget.ts'

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
