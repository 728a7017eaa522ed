import { addAll } from '../core/long-lists.ts'
import {
  BUDGET_ACTIONS,
  BUDGET_DEFAULTS,
  BUDGET_UNITS,
  toMicros,
  type BudgetScope,
  type BudgetUnit,
} from '../core/budget/budget.ts'
import { BUDGET_PERIODS } from '../core/budget/budget-period.ts'
import { agentId, scheduleId } from '../core/ids.ts'
import { flawed, parsed, parseInteger, parseWord, type Flaw, type Parsed } from '../core/input.ts'
import { parseZone, type Zone } from '../core/time/zone.ts'
import type { BudgetRow } from '../store/budgets.ts'
import { showAmount } from './budget-view.ts'
import { collectFlaws, parseObject, textField, unknownFields, type Given } from '../core/input-fields.ts'

const CHANGEABLE = ['amount', 'on_exceed', 'default_reserve']
const FIXED = ['agent_id', 'schedule_id', 'unit', 'period', 'timezone']

/** Sums of these stay exact. */
const MOST = 1_000_000_000_000_000

const parseId = textField({ min: 1, max: 512 })

/** What a person decides about a budget. */
export type ReadBudget = Pick<
  BudgetRow,
  'scope' | 'unit' | 'amount' | 'period' | 'timezone' | 'onExceed' | 'defaultReserve'
>

/** Reads a new budget. Whether what it is for exists is not looked at. */
export function parseBudget(value: unknown, defaultZone: Zone): Parsed<ReadBudget> {
  const object = parseObject('budget', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  addAll(flaws, [...unknownFields('', given, [...FIXED, ...CHANGEABLE]), ...missing(given)])
  const field = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T =>
    given[name] === undefined ? otherwise : (keep(parse(name, given[name])) ?? otherwise)
  const unit = field('unit', (name, word) => parseWord(name, word, BUDGET_UNITS), 'tokens')
  const read: ReadBudget = {
    scope: keep(parseScope(given)) ?? { kind: 'org' },
    unit,
    amount: field('amount', amountOf(unit, 1), 0),
    period: field('period', (name, word) => parseWord(name, word, BUDGET_PERIODS), BUDGET_DEFAULTS.period),
    timezone: field('timezone', parseZone, defaultZone),
    onExceed: field('on_exceed', (name, word) => parseWord(name, word, BUDGET_ACTIONS), BUDGET_DEFAULTS.onExceed),
    defaultReserve: field('default_reserve', amountOf(unit, 0), BUDGET_DEFAULTS.defaultReserve),
  }
  addAll(flaws, tooMuchReserve(given, read))
  return flaws.length > 0 ? flawed(flaws) : parsed(read)
}

/** Reads a change of a budget: what it leaves out stays. */
export function parseBudgetChange(value: unknown, existing: BudgetRow): Parsed<BudgetRow> {
  const object = parseObject('budget', value)
  if (!object.ok) return object
  const given = object.value
  const { flaws, keep } = collectFlaws()
  const fixed = Object.keys(given).filter((name) => FIXED.includes(name))
  for (const name of fixed)
    flaws.push({ field: name, value: given[name], message: 'never changes', allowed: 'a budget of its own' })
  addAll(flaws, unknownFields('', given, [...FIXED, ...CHANGEABLE]))
  const field = <T>(name: string, parse: (field: string, value: unknown) => Parsed<T>, otherwise: T): T =>
    given[name] === undefined ? otherwise : (keep(parse(name, given[name])) ?? otherwise)
  const read: BudgetRow = {
    ...existing,
    amount: field('amount', amountOf(existing.unit, 1), existing.amount),
    onExceed: field('on_exceed', (name, word) => parseWord(name, word, BUDGET_ACTIONS), existing.onExceed),
    defaultReserve: field('default_reserve', amountOf(existing.unit, 0), existing.defaultReserve),
  }
  addAll(flaws, tooMuchReserve(given, read))
  return flaws.length > 0 ? flawed(flaws) : parsed(read)
}

const missing = (given: Given): readonly Flaw[] =>
  ['unit', 'amount']
    .filter((name) => given[name] === undefined)
    .map((name) => ({ field: name, value: undefined, message: 'is missing' }))

/** A run that sets aside more than there ever is would wait for ever. */
function tooMuchReserve(given: Given, read: Pick<BudgetRow, 'amount' | 'defaultReserve'>): readonly Flaw[] {
  if (read.amount === 0 || read.defaultReserve <= read.amount) return []
  const field = given['default_reserve'] === undefined ? 'amount' : 'default_reserve'
  const message = field === 'amount' ? 'is less than the default reserve' : 'is more than the amount'
  return [{ field, value: given[field], message }]
}

function parseScope(given: Given): Parsed<BudgetScope> {
  const { agent_id: agent, schedule_id: schedule } = given
  if (agent !== undefined && schedule !== undefined)
    return flawed({ field: 'schedule_id', value: schedule, message: 'excludes agent_id', allowed: 'one of the two' })
  if (agent !== undefined) {
    const id = parseId('agent_id', agent)
    return id.ok ? parsed({ kind: 'agent', agentId: agentId(id.value) }) : id
  }
  if (schedule === undefined) return parsed({ kind: 'org' })
  const id = parseId('schedule_id', schedule)
  return id.ok ? parsed({ kind: 'schedule', scheduleId: scheduleId(id.value) }) : id
}

/** Reads an amount as budgets count it: tokens, or millionths of what was given in whole money. */
const amountOf =
  (unit: BudgetUnit, min: number) =>
  (field: string, value: unknown): Parsed<number> => {
    if (unit === 'tokens') return parseInteger(field, value, { min, max: MOST })
    const allowed = `an amount of money from ${showAmount(unit, min)} to ${showAmount(unit, MOST)}, six decimals at most`
    if (typeof value !== 'number' || !Number.isFinite(value))
      return flawed({ field, value, message: 'must be a number', allowed })
    const micros = toMicros(value)
    if (micros < min || micros > MOST) return flawed({ field, value, message: 'is out of range', allowed })
    return micros / 1_000_000 === value
      ? parsed(micros)
      : flawed({ field, value, message: 'has more than six decimals', allowed })
  }
