import { invalid, Refusal } from '../../api/refusals.ts'
import type { SimulationProgress } from '../../features/simulation/schema.ts'
import type { PolicyChange, SimulationDiff, SimulationView } from '../../features/simulation/result-schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import type { SimulationTask } from '../../features/simulation/task.ts'

export type { SimulationProgress } from '../../features/simulation/schema.ts'

/** What is computed: a window, and perhaps the same again under other policies. */
export interface SimulationJob {
  readonly task: SimulationTask
  /** Null: nothing to compare with. */
  readonly against: readonly PolicyChange[] | null
}

/** What comes of it. */
export interface SimulationOutcome {
  readonly view: SimulationView
  readonly against: SimulationView | null
  readonly diff: SimulationDiff | null
}

/** What whoever waits for a simulation wants to hear, and how they say that they no longer do. */
export interface SimulationListening {
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((progress: SimulationProgress) => void) | undefined
}

/** Where simulations are computed: beside everything else, so that nothing waits for them. */
export interface SimulationPort {
  /** Rejects with the signal's reason when nobody waits any more, and with a refusal when there is no room for it. */
  readonly compute: (orgId: OrgId, job: SimulationJob, listening?: SimulationListening) => Promise<SimulationOutcome>
}

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
