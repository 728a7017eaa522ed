import { availableParallelism } from 'node:os'
import { IS_FROM_SOURCE, threadModule } from '../../platform/package-root.ts'
import {
  computeBusy,
  type ComputeJob,
  type ComputeOutcome,
  type ComputePort,
  computeTooLarge,
  computeTooLong,
} from '../compute.ts'
import type { Ports } from '../../service/ports.ts'
import {
  simulationBusy,
  type SimulationJob,
  type SimulationOutcome,
  type SimulationPort,
  type SimulationProgress,
  simulationTooLarge,
  simulationTooLong,
} from '../../service/simulate/port.ts'
import type { Log } from '../loops/health.ts'
import { createThreadPool, type PoolBounds } from './pool.ts'

/** The threads that a node computes in beside its own. */
export interface NodeThreads {
  readonly ports: Pick<Ports, 'simulations' | 'computations'>
  readonly close: () => Promise<void>
}

/** Sources have no file that a thread could begin with, and everybody knows; in a program that was bundled it is missed. */
export function openThreads(log: Log, isFromSource = IS_FROM_SOURCE): NodeThreads {
  const [simulations, computations] = [openSimulations() ?? undefined, openComputations() ?? undefined]
  if (!isFromSource && (simulations === undefined || computations === undefined))
    log({
      level: 'warn',
      message:
        'The modules of threads are missing beside this program: simulations, previews and forecasts block its main thread',
      facts: { expected: ['engine/simulation-thread.js', 'engine/computation-thread.js'] },
    })
  return {
    ports: { simulations, computations },
    close: async () => {
      await simulations?.close()
      await computations?.close()
    },
  }
}

/** A person waits for a preview, so that less time is given to each than to a simulation, and more may wait. */
export const COMPUTE_BOUNDS: PoolBounds = {
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  ...{ waiting: 16, timeLimitMs: 10_000, memoryMb: 256, idleMs: 60_000 },
}

/** Works out previews and forecasts of recurrence rules in threads of their own, one of an org at a time. */
export interface Computations extends ComputePort {
  readonly close: () => Promise<void>
}

/** Null in a program that is run from its sources, which has no file that a thread could begin with. */
function openComputations(): Computations | null {
  const thread = threadModule('engine/computation-thread')
  return thread === null ? null : createComputations(thread)
}

export const createComputations = (thread: URL, bounds: PoolBounds = COMPUTE_BOUNDS): Computations =>
  createThreadPool<ComputeJob, ComputeOutcome, never>(thread, bounds, {
    ...{ what: 'A preview or forecast', busy: computeBusy, tooLong: computeTooLong, tooLarge: computeTooLarge },
  })

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
function openSimulations(): Simulations | null {
  const thread = threadModule('engine/simulation-thread')
  return thread === null ? null : createSimulations(thread)
}

/** Opens the place where simulations are computed. */
export const createSimulations = (thread: URL, bounds: PoolBounds = SIMULATION_BOUNDS): Simulations =>
  createThreadPool<SimulationJob, SimulationOutcome, SimulationProgress>(thread, bounds, {
    ...{ what: 'A simulation', busy: simulationBusy, tooLong: simulationTooLong, tooLarge: simulationTooLarge },
  })
