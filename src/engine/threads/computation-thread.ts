import { parentPort } from 'node:worker_threads'
import { computeJob, type ComputeJob, type ComputeOutcome } from '../compute.ts'
import { lowerThreadPriority, type ThreadMessage } from './thread-side.ts'

lowerThreadPriority()

const postToParent = (message: ThreadMessage<ComputeOutcome, never>): void => parentPort?.postMessage(message)

/** Computes one job after the other; the pool ends the thread to cancel a job. */
parentPort?.on('message', (job: ComputeJob) => {
  try {
    postToParent({ kind: 'outcome', outcome: computeJob(job) })
  } catch (error) {
    postToParent({ kind: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
