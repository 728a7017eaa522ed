import { invalid, Refusal } from '../../contract/refusals.ts'
import type { Flaw } from '../../core/input.ts'

/** Others of the org have asked first, and enough of them. */
export const simulationBusy = (waiting: number): Refusal =>
  new Refusal(
    'SIMULATION_BUSY',
    `${waiting} simulations of this org wait already; try again when one of them is done`,
    { retryAfterMs: 2_000, details: { waiting } },
  )

const LESS = 'take a shorter window, fewer schedules, or rarer occurrences'

/** It takes longer than anybody may keep a thread. */
export const simulationTooLong = (limitMs: number): Refusal =>
  new Refusal('SIMULATION_LIMIT', `The simulation takes longer than ${limitMs / 1_000} seconds; ${LESS}`, {
    details: { limit_ms: limitMs },
  })

/** It takes more memory than a thread has. */
export const simulationTooLarge = (): Refusal =>
  new Refusal('SIMULATION_LIMIT', `The simulation takes more memory than it may; ${LESS}`)

/** What is wrong with what was given, as plain data; nothing when that was not the trouble. */
export const flawsOf = (error: unknown): readonly Flaw[] => (error instanceof Refusal ? error.flaws : [])

/** The refusal for what somebody else has found wrong. */
export const refusedFor = (flaws: readonly Flaw[]): Refusal => invalid(flaws)
