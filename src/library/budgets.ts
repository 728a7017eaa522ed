import { budgetInput, budgetPatch } from '../contract/budget.ts'
import { schemaReader } from '../contract/read-input.ts'
import type { Escapement } from '../escapement.ts'
import { changeBudget, createBudget, findBudgets, getBudget, removeBudget, resumeBudget } from '../service/budgets.ts'
import { forecastOrg } from '../service/forecast/forecast.ts'
import type { Running } from './running.ts'

/** Budgets: what runs may use. */
export const budgetsOf = (running: () => Running): Escapement['budgets'] => ({
  create: async (input) => createBudget(running().app.ports, running().caller, schemaReader(budgetInput)(input)),
  get: (id) => getBudget(running().app.ports, running().caller, id),
  list: () => findBudgets(running().app.ports, running().caller),
  update: async (id, change) =>
    changeBudget(running().app.ports, running().caller, { id, change: schemaReader(budgetPatch)(change) }),
  forecast: (filter) => forecastOrg(running().app.ports, running().caller, filter),
  resume: (id) => resumeBudget(running().app.ports, running().caller, { id }),
  delete: (id) => removeBudget(running().app.ports, running().caller, { id }),
})
