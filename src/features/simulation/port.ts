import { invalid, Refusal } from '../../api/refusals.ts'
import type { SimulationProgress } from './schema.ts'
import type { PolicyChange, SimulationDiff, SimulationView } from './result-schema.ts'
import type { OrgId } from '../../domain/ids.ts'
import type { Flaw } from '../../domain/input.ts'
import type { SimulationTask } from './task.ts'

export type { SimulationProgress } from './schema.ts'

/** A simulation, and optionally the same window with other policies. */
export interface SimulationJob {
  readonly task: SimulationTask
  /** Null: no comparison. */
  readonly against: readonly PolicyChange[] | null
}

/** The results of a job. */
export interface SimulationOutcome {
  readonly view: SimulationView
  readonly against: SimulationView | null
  readonly diff: SimulationDiff | null
}

/** Progress callback and abort signal of the caller. */
export interface SimulationCallbacks {
  readonly signal?: AbortSignal | undefined
  readonly progress?: ((progress: SimulationProgress) => void) | undefined
}

/** Computes simulations in other threads, so that they do not block requests or runs. */
export interface SimulationPort {
  /** Rejects with the signal's reason when the caller aborts, and with a refusal when the queue is full. */
  readonly compute: (orgId: OrgId, job: SimulationJob, callbacks?: SimulationCallbacks) => Promise<SimulationOutcome>
}

/** The refusal when too many simulations of the org are waiting. */
export const simulationBusy = (waiting: number): Refusal =>
  new Refusal(
    'SIMULATION_BUSY',
    `${waiting} simulations of this org are already waiting; try again when one of them has finished`,
    { retryAfterMs: 2_000, details: { waiting } },
  )

const REDUCE_HINT = 'use a shorter window, fewer schedules, or longer intervals'

/** The refusal when a simulation exceeds its time limit. */
export const simulationTooLong = (limitMs: number): Refusal =>
  new Refusal('SIMULATION_LIMIT', `The simulation takes longer than ${limitMs / 1_000} s; ${REDUCE_HINT}`, {
    details: { limit_ms: limitMs },
  })

/** The refusal when a simulation exceeds the memory of its thread. */
export const simulationTooLarge = (): Refusal =>
  new Refusal('SIMULATION_LIMIT', `The simulation requires more memory than a simulation thread has; ${REDUCE_HINT}`)

/** The flaws of a refusal as plain data; empty for other errors. */
export const flawsOfError = (error: unknown): readonly Flaw[] => (error instanceof Refusal ? error.flaws : [])

/** Rebuilds a refusal from flaws found in another thread. */
export const refusalFromFlaws = (flaws: readonly Flaw[]): Refusal => invalid(flaws)
