// The exports of `escapement/worker`. It loads only the files of the client.
export { startWorker, type Worker, type WorkerOptions } from './worker.ts'
export { AttemptCancelled, type WorkerContext, type WorkerHandler, type WorkerLogEntry } from './attempts.ts'
export { EscapementError } from '../errors.ts'
export type { WorkerAttempt } from '../../features/workers/schema.ts'
