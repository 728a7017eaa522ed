import { availableParallelism } from 'node:os'
import { threadModule } from '../package-root.ts'
import {
  simulationBusy,
  type SimulationJob,
  type SimulationOutcome,
  type SimulationPort,
  type SimulationProgress,
  simulationTooLarge,
  simulationTooLong,
} from '../service/simulate/port.ts'
import { createThreadPool, type PoolBounds } from './thread-pool.ts'

/** What holds for a server: the engine keeps a core for itself where there is more than one. */
export const SIMULATION_BOUNDS: PoolBounds = {
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  ...{ waiting: 8, timeLimitMs: 120_000, memoryMb: 768, idleMs: 60_000 },
}

/** Computes simulations in threads of their own, one of an org at a time, until it is closed. */
export interface Simulations extends SimulationPort {
  readonly close: () => Promise<void>
}

/**
 * Opens the place where a server computes simulations; null in a program that is run from its sources, which has no file
 * that a thread could begin with.
 */
export function openSimulations(): Simulations | null {
  const thread = threadModule('engine/simulation-thread')
  return thread === null ? null : createSimulations(thread)
}

/** Opens the place where simulations are computed. */
export const createSimulations = (thread: URL, bounds: PoolBounds = SIMULATION_BOUNDS): Simulations =>
  createThreadPool<SimulationJob, SimulationOutcome, SimulationProgress>(thread, bounds, {
    ...{ what: 'A simulation', busy: simulationBusy, tooLong: simulationTooLong, tooLarge: simulationTooLarge },
  })
