import { flawed, parsed, parseInteger, type Flaw, type Parsed } from '../../domain/input.ts'
import { BUDGET_DEFAULTS, fromMicros, toMicros, type BudgetUnit } from '../../domain/budget/budget.ts'

/** Sums of amounts as budgets count them stay exact up to here. */
export const MAX_AMOUNT = 1_000_000_000_000_000

/** Reads an amount as budgets count it: tokens, or millionths of what was given in whole money. */
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

/** What may be used, and what is set aside for a run of which nothing is known, as budgets count them. */
interface Amounts {
  readonly amount: number
  readonly defaultReserve: number
}

/** Where nothing has been decided yet. */
export const NO_AMOUNTS: Amounts = { amount: 0, defaultReserve: BUDGET_DEFAULTS.defaultReserve }

/** Reads the amounts of a budget, each if it is given; what is left out stays. */
export function parseAmounts(
  unit: BudgetUnit,
  given: { readonly amount?: unknown; readonly default_reserve?: unknown },
  before: Amounts,
): Parsed<Amounts> {
  const amount = given.amount === undefined ? parsed(before.amount) : amountField(unit, 1)('amount', given.amount)
  const reserve =
    given.default_reserve === undefined
      ? parsed(before.defaultReserve)
      : amountField(unit, 0)('default_reserve', given.default_reserve)
  if (!amount.ok || !reserve.ok) return flawed([amount, reserve].flatMap((read) => (read.ok ? [] : read.flaws)))
  const read = { amount: amount.value, defaultReserve: reserve.value }
  const flaw = tooMuchReserve(given, read)
  return flaw === null ? parsed(read) : flawed(flaw)
}

/** A run that sets aside more than there ever is would wait for ever. */
function tooMuchReserve(given: Parameters<typeof parseAmounts>[1], read: Amounts): Flaw | null {
  if (read.amount === 0 || read.defaultReserve <= read.amount) return null
  return given.default_reserve === undefined
    ? { field: 'amount', value: given.amount, message: 'is less than the default reserve' }
    : { field: 'default_reserve', value: given.default_reserve, message: 'is more than the amount' }
}
