import type { budgetOperations } from '../../operations/budgets.ts'
import { changeBudget, createBudget, getBudget, removeBudget, resumeBudget } from '../../service/budgets.ts'
import { findBudgetPage } from '../../service/budgets-find.ts'
import { forecastOrg } from '../../service/forecast/forecast.ts'
import type { HandlersOf } from '../call.ts'

/** What runs may use. */
export const budgetHandlers: HandlersOf<typeof budgetOperations> = {
  'budgets.create': ({ ports, caller, body }) => createBudget(ports, caller, body),
  'budgets.list': ({ ports, caller, query }) => findBudgetPage(ports, caller, query),
  'budgets.forecast': ({ ports, caller, query }) => forecastOrg(ports, caller, query),
  'budgets.get': ({ ports, caller, params }) => getBudget(ports, caller, params.id),
  'budgets.update': ({ ports, caller, params, body }) => changeBudget(ports, caller, { id: params.id, change: body }),
  'budgets.resume': ({ ports, caller, params }) => resumeBudget(ports, caller, { id: params.id }),
  'budgets.delete': async ({ ports, caller, params }) => {
    await removeBudget(ports, caller, { id: params.id })
    return undefined
  },
}
