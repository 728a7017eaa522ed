import { BUDGET_DEFAULTS, type BudgetUnit, fromMicros, toMicros } from './budget.ts'
import { type Flaw, flawed, parsed, type Parsed, parseInteger } from '../input.ts'

/** Amounts in the units of budgets; null when the amount was not reported. */
export type Amounts = Readonly<Record<BudgetUnit, number | null>>

/** Larger reported amounts are capped: they are mistakes, and sums must stay exact. */
const MAX_PER_RUN = 1_000_000_000_000

/** Reads a number as an amount; null when it is not one. */
const amountOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.min(Math.ceil(value), MAX_PER_RUN) : null

/**
 * Reads the reported usage. In-process executors report `inputTokens`, `outputTokens` and `costMicros`; callbacks
 * report `input_tokens`, `output_tokens` and `cost`, in whole money.
 */
export function amountsUsed(usage: unknown): Amounts {
  if (typeof usage !== 'object' || usage === null) return { tokens: null, money: null }
  const reported = usage as Readonly<Record<string, unknown>>
  const input = amountOf(reported['inputTokens'] ?? reported['input_tokens'])
  const output = amountOf(reported['outputTokens'] ?? reported['output_tokens'])
  const cost = reported['cost']
  return {
    tokens: input === null && output === null ? null : (input ?? 0) + (output ?? 0),
    money: amountOf(reported['costMicros']) ?? (typeof cost === 'number' ? amountOf(toMicros(cost)) : null),
  }
}

/**
 * Reads the maximum that a run states: `max_tokens` and `max_cost` (in whole money) in the payload of its schedule,
 * in the `fields` of a message or in the `params` of a task.
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

/** The maximum amount of a budget; sums stay exact up to here. */
export const MAX_AMOUNT = 1_000_000_000_000_000

/** Reads an amount as budgets store it: tokens, or money converted to millionths. */
const amountField =
  (unit: BudgetUnit, min: number) =>
  (field: string, value: unknown): Parsed<number> => {
    if (unit === 'tokens') return parseInteger(field, value, { min, max: MAX_AMOUNT })
    const allowed = `an amount of money from ${fromMicros(min)} to ${fromMicros(MAX_AMOUNT)}, six decimals at most`
    if (typeof value !== 'number' || !Number.isFinite(value))
      return flawed({ field, value, message: 'must be a number', allowed })
    const micros = toMicros(value)
    if (micros < min || micros > MAX_AMOUNT) return flawed({ field, value, message: 'is out of range', allowed })
    return fromMicros(micros) === value
      ? parsed(micros)
      : flawed({ field, value, message: 'has more than six decimals', allowed })
  }

/** The amount of a budget and its reserve for runs without any usage data, as budgets store them. */
interface BudgetAmounts {
  readonly amount: number
  readonly defaultReserve: number
}

/** The amounts before any were set. */
export const NO_AMOUNTS: BudgetAmounts = { amount: 0, defaultReserve: BUDGET_DEFAULTS.defaultReserve }

/** Reads the amounts of a budget; omitted amounts keep their previous value. */
export function parseAmounts(
  unit: BudgetUnit,
  given: { readonly amount?: unknown; readonly default_reserve?: unknown },
  before: BudgetAmounts,
): Parsed<BudgetAmounts> {
  const amount = given.amount === undefined ? parsed(before.amount) : amountField(unit, 1)('amount', given.amount)
  const reserve =
    given.default_reserve === undefined
      ? parsed(before.defaultReserve)
      : amountField(unit, 0)('default_reserve', given.default_reserve)
  if (!amount.ok || !reserve.ok) return flawed([amount, reserve].flatMap((read) => (read.ok ? [] : read.flaws)))
  const read = { amount: amount.value, defaultReserve: reserve.value }
  const flaw = reserveFlaw(given, read)
  return flaw === null ? parsed(read) : flawed(flaw)
}

/** A reserve above the amount would keep every run waiting forever. */
function reserveFlaw(given: Parameters<typeof parseAmounts>[1], read: BudgetAmounts): Flaw | null {
  if (read.amount === 0 || read.defaultReserve <= read.amount) return null
  return given.default_reserve === undefined
    ? { field: 'amount', value: given.amount, message: 'is less than default_reserve' }
    : { field: 'default_reserve', value: given.default_reserve, message: 'is more than amount' }
}
