import type { InvitationView } from '../access/restrictions-schema.ts'
import type { WorkerAttempt, WorkerCancel } from './schema.ts'
import type { AgentId, AttemptId, OrgId, RunId } from '../../domain/ids.ts'

/** A worker that waits for attempts to start or stop. */
export interface WaitingWorker {
  readonly orgId: OrgId
  readonly workerId: string
  readonly agents: readonly AgentId[]
  readonly capacity: number
  /** It takes no more attempts and only waits for cancellations. */
  readonly draining: boolean
  /** Ids of the attempts it is working on. */
  readonly holding: readonly string[]
  readonly waitMs: number
  /** Aborted when the worker disconnects. */
  readonly signal: AbortSignal
}

/** The attempts that a worker should start, and those it should stop. */
export interface WorkerUpdates {
  readonly attempts: readonly WorkerAttempt[]
  readonly cancel: readonly WorkerCancel[]
}

/** The claims of workers that wait at this node. */
export interface WorkerPort {
  /** The API access of an attempt. Null: its agent has no `self_service`. Omitted: no agent has. */
  readonly createInvitation?: (attempt: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly attemptId: AttemptId
    readonly agentId: AgentId
  }) => Promise<InvitationView | null>
  /** Resolves as soon as there is something to start or stop, or with empty lists after the wait. */
  readonly wait: (worker: WaitingWorker) => Promise<WorkerUpdates>
  /** Publishes an event of an attempt in progress to the clients that watch the run. */
  readonly publish: (published: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly attemptId: AttemptId
    readonly event: unknown
  }) => void
}
