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
import type { Ports } from '../ports.ts'
import {
  simulationBusy,
  type SimulationJob,
  type SimulationOutcome,
  type SimulationPort,
  type SimulationProgress,
  simulationTooLarge,
  simulationTooLong,
} from '../../features/simulation/port.ts'
import type { Log } from '../loops/health.ts'
import { createThreadPool, type PoolBounds } from './pool.ts'

/** The computation threads of a node. */
export interface NodeThreads {
  readonly ports: Pick<Ports, 'simulations' | 'computations'>
  readonly close: () => Promise<void>
}

/**
 * Opens the pools of a node. Running from sources has no thread modules, which is expected; a bundled program without
 * them logs a warning.
 */
export function openThreads(log: Log, isFromSource = IS_FROM_SOURCE): NodeThreads {
  const [simulations, computations] = [openSimulations() ?? undefined, openComputations() ?? undefined]
  if (!isFromSource && (simulations === undefined || computations === undefined))
    log({
      level: 'warn',
      message:
        'The thread modules are missing next to this program; simulations, previews and forecasts block its main thread',
      facts: { expected: ['engine/threads/simulation-thread.js', 'engine/threads/computation-thread.js'] },
    })
  return {
    ports: { simulations, computations },
    close: async () => {
      await simulations?.close()
      await computations?.close()
    },
  }
}

/** A person waits for a preview, so each gets less time than a simulation, and more of them may wait. */
export const COMPUTE_BOUNDS: PoolBounds = {
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  ...{ waiting: 16, timeLimitMs: 10_000, memoryMb: 256, idleMs: 60_000 },
}

/** Computes previews and forecasts of recurrence rules in threads, one per org at a time. */
export interface Computations extends ComputePort {
  readonly close: () => Promise<void>
}

/** Null when running from sources, which have no thread modules. */
function openComputations(): Computations | null {
  const thread = threadModule('engine/threads/computation-thread')
  return thread === null ? null : createComputations(thread)
}

export const createComputations = (thread: URL, bounds: PoolBounds = COMPUTE_BOUNDS): Computations =>
  createThreadPool<ComputeJob, ComputeOutcome, never>(thread, bounds, {
    ...{ what: 'A preview or forecast', busy: computeBusy, tooLong: computeTooLong, tooLarge: computeTooLarge },
  })

/** The limits of a server: the engine keeps one core for itself where there is more than one. */
export const SIMULATION_BOUNDS: PoolBounds = {
  threads: Math.min(2, Math.max(1, availableParallelism() - 1)),
  ...{ waiting: 8, timeLimitMs: 120_000, memoryMb: 768, idleMs: 60_000 },
}

/** Computes simulations in threads, one per org at a time, until it is closed. */
export interface Simulations extends SimulationPort {
  readonly close: () => Promise<void>
}

/** Null when running from sources, which have no thread modules. */
function openSimulations(): Simulations | null {
  const thread = threadModule('engine/threads/simulation-thread')
  return thread === null ? null : createSimulations(thread)
}

/** Opens the pool that computes simulations. */
export const createSimulations = (thread: URL, bounds: PoolBounds = SIMULATION_BOUNDS): Simulations =>
  createThreadPool<SimulationJob, SimulationOutcome, SimulationProgress>(thread, bounds, {
    ...{ what: 'A simulation', busy: simulationBusy, tooLong: simulationTooLong, tooLarge: simulationTooLarge },
  })
