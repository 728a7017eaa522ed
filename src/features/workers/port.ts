import type { InvitationView } from '../access/restrictions-schema.ts'
import type { WorkerAttempt, WorkerCancel } from './schema.ts'
import type { AgentId, AttemptId, OrgId, RunId } from '../../domain/ids.ts'

/** A worker that wants work, or to hear that it should stop some. */
export interface WaitingWorker {
  readonly orgId: OrgId
  readonly workerId: string
  readonly agents: readonly AgentId[]
  readonly capacity: number
  /** It takes nothing more, and only wants to hear what it should stop. */
  readonly draining: boolean
  /** The attempts it works on. */
  readonly holding: readonly string[]
  readonly waitMs: number
  /** Aborted when whoever asks is gone. */
  readonly signal: AbortSignal
}

/** What a worker is told: what to begin, and what to stop. */
export interface WorkerNews {
  readonly attempts: readonly WorkerAttempt[]
  readonly cancel: readonly WorkerCancel[]
}

/** Where workers wait at this node. */
export interface WorkerPort {
  /**
   * What an attempt that a worker was given needs to make things by itself; null: its agent makes nothing. Left out: none
   * does.
   */
  readonly invite?: (about: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly attemptId: AttemptId
    readonly agentId: AgentId
  }) => Promise<InvitationView | null>
  /** Resolves as soon as there is news, and with none when the wait is over. */
  readonly wait: (worker: WaitingWorker) => Promise<WorkerNews>
  /** What an attempt says on its way, for everybody who watches. */
  readonly say: (saying: {
    readonly orgId: OrgId
    readonly runId: RunId
    readonly attemptId: AttemptId
    readonly event: unknown
  }) => void
}
