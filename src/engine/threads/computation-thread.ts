import { parentPort } from 'node:worker_threads'
import { computeJob, type ComputeJob, type ComputeOutcome } from '../compute.ts'
import { lowerThreadPriority, type ThreadMessage } from './thread-side.ts'

lowerThreadPriority()

const say = (message: ThreadMessage<ComputeOutcome, never>): void => parentPort?.postMessage(message)

/** Works out one job after the other; the pool ends the thread of one that is no longer wanted. */
parentPort?.on('message', (job: ComputeJob) => {
  try {
    say({ kind: 'outcome', outcome: computeJob(job) })
  } catch (error) {
    say({ kind: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
