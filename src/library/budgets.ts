import { forecastFilter } from '../contract/forecast.ts'
import { schemaReader } from '../contract/read-input.ts'
import type { Escapement } from '../escapement.ts'
import { changeBudget, createBudget, findBudgets, getBudget, removeBudget, resumeBudget } from '../service/budgets.ts'
import { forecastOrg } from '../service/forecast/forecast.ts'
import type { Running } from './running.ts'

const readFilter = schemaReader(forecastFilter)

/** Budgets: what runs may use. */
export const budgetsOf = (running: () => Running): Escapement['budgets'] => ({
  create: (input) => createBudget(running().app.ports, running().caller, input),
  get: (id) => getBudget(running().app.ports, running().caller, id),
  list: () => findBudgets(running().app.ports, running().caller),
  update: (id, change) => changeBudget(running().app.ports, running().caller, { id, change }),
  forecast: async (filter = {}) => forecastOrg(running().app.ports, running().caller, readFilter(filter)),
  resume: (id) => resumeBudget(running().app.ports, running().caller, { id }),
  delete: (id) => removeBudget(running().app.ports, running().caller, { id }),
})
