import { performance } from 'node:perf_hooks'
import { parentPort } from 'node:worker_threads'
import { computeSimulation } from '../../features/simulation/compute.ts'
import {
  flawsOfError,
  type SimulationJob,
  type SimulationOutcome,
  type SimulationProgress,
} from '../../features/simulation/port.ts'
import { lowerThreadPriority, type ThreadMessage } from './thread-side.ts'

/** Ten updates a second look smooth to people; more would only cost time. */
const PROGRESS_EVERY_MS = 100

lowerThreadPriority()

const postToParent = (message: ThreadMessage<SimulationOutcome, SimulationProgress>): void =>
  parentPort?.postMessage(message)

/** Computes one simulation after the other and reports progress; the pool ends the thread to cancel one. */
parentPort?.on('message', (job: SimulationJob) => {
  let lastSentAt = performance.now()
  try {
    const outcome = computeSimulation(job, {
      progress: (progress) => {
        const now = performance.now()
        if (now - lastSentAt < PROGRESS_EVERY_MS) return
        lastSentAt = now
        postToParent({ kind: 'progress', progress })
      },
    })
    postToParent({ kind: 'outcome', outcome })
  } catch (error) {
    const flaws = flawsOfError(error)
    if (flaws.length > 0) postToParent({ kind: 'invalid', flaws })
    else
      postToParent({ kind: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
