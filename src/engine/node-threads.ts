import type { Ports } from '../service/ports.ts'
import { openComputations } from './computations.ts'
import { openSimulations } from './simulations.ts'

/** The threads that a node computes in beside its own. */
export interface NodeThreads {
  readonly ports: Pick<Ports, 'simulations' | 'computations'>
  readonly close: () => Promise<void>
}

export function openThreads(): NodeThreads {
  const [simulations, computations] = [openSimulations() ?? undefined, openComputations() ?? undefined]
  return {
    ports: { simulations, computations },
    close: async () => {
      await simulations?.close()
      await computations?.close()
    },
  }
}
