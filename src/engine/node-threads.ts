import { IS_FROM_SOURCE } from '../package-root.ts'
import type { Ports } from '../service/ports.ts'
import { openComputations } from './computations.ts'
import type { Log } from './health.ts'
import { openSimulations } from './simulations.ts'

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
