import type { Escapement } from '../escapement.ts'
import { cancelBackfill, findBackfills, getBackfill } from '../service/backfill/backfills.ts'
import type { Running } from './running.ts'

/** Backfills: past moments of schedules that are made into runs. */
export const backfillsOf = (running: () => Running): Escapement['backfills'] => ({
  list: async (filter) => findBackfills(running().app.ports, running().caller, filter),
  get: async (id) => getBackfill(running().app.ports, running().caller, id),
  cancel: async (id, how = {}) => cancelBackfill(running().app.ports, running().caller, { id, cancel: how }),
})
