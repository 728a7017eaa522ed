import { givenDocument } from '../contract/as-code.ts'
import { schemaReader } from '../contract/read-input.ts'
import type { Escapement } from '../escapement.ts'
import { applyDocument, exportDocument, planDocument } from '../service/as-code/apply.ts'
import type { Running } from './running.ts'

const readDocument = schemaReader(givenDocument)

/** The program that embeds us may do everything. */
const may = (): boolean => true

/** Schedules as code. What was applied wakes the loop that watches over schedules. */
export const asCodeOf = (running: () => Running): Escapement['asCode'] => ({
  export: async (kinds) => exportDocument(running().app.ports, running().caller, { kinds: kinds?.join(','), may }),
  plan: async (document, how = {}) =>
    planDocument(running().app.ports, running().caller, { ...how, document: readDocument(document), may }),
  apply: async (document, how = {}) => {
    const { app, caller, refuseWhileDraining } = running()
    refuseWhileDraining()
    const applied = await applyDocument(app.ports, caller, { ...how, document: readDocument(document), may })
    app.loops.wakeSchedules()
    return applied
  },
})
