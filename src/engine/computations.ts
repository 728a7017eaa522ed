import { availableParallelism } from 'node:os'
import { threadModule } from '../package-root.ts'
import {
  computeBusy,
  type ComputeJob,
  type ComputeOutcome,
  type ComputePort,
  computeTooLarge,
  computeTooLong,
} from '../service/compute/compute.ts'
import { createThreadPool, type PoolBounds } from './thread-pool.ts'

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
export function openComputations(): Computations | null {
  const thread = threadModule('engine/computation-thread')
  return thread === null ? null : createComputations(thread)
}

export const createComputations = (thread: URL, bounds: PoolBounds = COMPUTE_BOUNDS): Computations =>
  createThreadPool<ComputeJob, ComputeOutcome, never>(thread, bounds, {
    ...{ what: 'A preview or forecast', busy: computeBusy, tooLong: computeTooLong, tooLarge: computeTooLarge },
  })
