import type { Escapement } from '../escapement.ts'
import { explainAsked } from '../service/explain/ask.ts'
import type { Asker } from '../service/explain/occurrence.ts'
import type { Running } from './running.ts'

/** The program that embeds us may see everything of its org. */
export const askerOf = ({ app, caller }: Running): Asker => ({ ...caller, may: () => true, live: app.live })

/** Why something did, or did not, happen. */
export const explainOf =
  (running: () => Running): Escapement['explain'] =>
  async (query) =>
    explainAsked(running().app.ports, askerOf(running()), query)
