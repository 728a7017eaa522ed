import { budgetInput } from '../../features/budgets/schema.ts'
import { readShape } from '../../contract/read-shape.ts'
import { changedNames, differences } from '../../core/as-code/compare.ts'
import { pick } from '../../core/as-code/same.ts'
import type { BudgetOnRecord } from '../../features/budgets/store.ts'
import { budgetChange, budgetCreation } from '../budgets.ts'
import { budgetRow, type DecidedBudget } from '../budget-row.ts'
import { budgetFields } from './budget-fields.ts'
import { madeOf, type Context, type Place, type Wanted } from './wanted.ts'

/** What an item asks of a budget; its references are ids by now. `coming` are the schedules that are made with it. */
export function wantBudget(
  { ports, caller }: Context,
  { item, id, known }: Place<BudgetOnRecord>,
  { name, coming }: { readonly name: string; readonly coming: ReadonlySet<string> },
): Wanted {
  const base = { item, name, id, isNew: known === null, permissions: [] }
  const read = readShape(budgetInput, item.fields)
  if (!read.ok) return { ...base, changes: [], flaws: read.flaws, doing: null }
  if (known === null) {
    const input = read.value
    return {
      ...{ ...base, flaws: [], changes: madeOf(item.fields) },
      doing: () => budgetCreation(ports, caller, { input, id, coming }),
    }
  }
  return changed(base, known, { read: budgetRow(read.value, known.timezone), caller })
}

function changed(
  base: Omit<Wanted, 'changes' | 'flaws' | 'doing'>,
  known: BudgetOnRecord,
  { read, caller }: { readonly read: DecidedBudget; readonly caller: Context['caller'] },
): Wanted {
  const [before, after] = [budgetFields(known), budgetFields(read)]
  const names = changedNames(before, after)
  const fixed = names.filter((name) => !CHANGEABLE.includes(name))
  return {
    ...{ ...base, changes: differences(before, after) },
    flaws: fixed.map((field) => ({
      ...{ field, value: after[field], message: `never changes, and is ${String(before[field])}` },
      allowed: 'a budget of its own, without this id',
    })),
    doing:
      names.length === 0 || fixed.length > 0
        ? null
        : () => budgetChange(caller, { id: known.id, change: pick(after, names) }),
  }
}

const CHANGEABLE = ['amount', 'on_exceed', 'default_reserve']
