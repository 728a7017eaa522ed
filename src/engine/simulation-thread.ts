import { performance } from 'node:perf_hooks'
import { parentPort } from 'node:worker_threads'
import { computeSimulation } from '../features/simulation/compute.ts'
import {
  flawsOf,
  type SimulationJob,
  type SimulationOutcome,
  type SimulationProgress,
} from '../service/simulate/port.ts'
import { lowerThreadPriority, type ThreadMessage } from './threads/thread-side.ts'

/** People see ten pictures a second as movement; more would only be work. */
const TELL_EVERY_MS = 100

lowerThreadPriority()

const say = (message: ThreadMessage<SimulationOutcome, SimulationProgress>): void => parentPort?.postMessage(message)

/** Computes one simulation after the other, and says how far it is. Whoever does not want it any more ends the thread. */
parentPort?.on('message', (job: SimulationJob) => {
  let told = performance.now()
  try {
    const outcome = computeSimulation(job, {
      progress: (progress) => {
        const now = performance.now()
        if (now - told < TELL_EVERY_MS) return
        told = now
        say({ kind: 'progress', progress })
      },
    })
    say({ kind: 'outcome', outcome })
  } catch (error) {
    const flaws = flawsOf(error)
    if (flaws.length > 0) say({ kind: 'invalid', flaws })
    else say({ kind: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
