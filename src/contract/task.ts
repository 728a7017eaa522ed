/** A task as the façade of seed 004 takes it. */
export interface TaskInput {
  /** Any text: whoever the task is for. One that is the id of an agent wakes that agent. */
  readonly agentId: string
  readonly action: string
  readonly tabId?: string | undefined
  readonly selector?: string | undefined
  readonly ref?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** Lower is sooner; 0 unless given. */
  readonly priority?: number | undefined
  readonly deadline?: string | undefined
  readonly callbackUrl?: string | undefined
  /** Ours beside the façade: tasks are not retried unless they ask. */
  readonly retry_policy?: Readonly<Record<string, unknown>> | undefined
}

/** Tasks of one agent. */
export interface TaskBatchInput {
  readonly agentId: string
  /** Of every task that has none of its own. */
  readonly callbackUrl?: string | undefined
  readonly tasks: readonly TaskItemInput[]
}

/** A task of a batch: everything a task can have, but the agent. */
export type TaskItemInput = Omit<TaskInput, 'agentId'>

/** What became of a task that was accepted. */
export interface TaskReceipt {
  readonly taskId: string
  readonly state: string
  /** Place among the queued tasks of the agent; 0 when it has started already. */
  readonly position: number
  readonly createdAt: string
}

/** What became of one task of a batch. */
export interface TaskBatchItem {
  /** Empty when nothing was stored, because the task could not be read. */
  readonly taskId: string
  readonly state: string
  readonly position?: number | undefined
  readonly error?: string | undefined
}

/** What became of the tasks of a batch, in their order. */
export interface TaskBatchReceipt {
  readonly tasks: readonly TaskBatchItem[]
  /** How many there were. */
  readonly submitted: number
}

/** A task as it is. */
export interface TaskView {
  readonly taskId: string
  readonly agentId: string
  readonly action: string
  readonly tabId?: string | undefined
  readonly selector?: string | undefined
  readonly ref?: string | undefined
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly priority: number
  readonly state: string
  readonly deadline: string | null
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  readonly latencyMs?: number | undefined
  readonly result?: unknown
  readonly error?: string | undefined
  readonly callbackUrl?: string | undefined
  readonly position?: number | undefined
}

/** Which tasks. */
export interface TaskFilter {
  readonly agentId?: string | undefined
  /** Words of the façade, separated by commas. */
  readonly state?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Tasks, newest first. */
export interface TaskList {
  readonly tasks: readonly TaskView[]
  /** How many are in this answer. */
  readonly count: number
  /** Where to go on; left out when there is nothing more. */
  readonly next_cursor?: string | undefined
}

/** That a task is cancelled. */
export interface TaskCancelled {
  readonly status: 'cancelled'
  readonly taskId: string
}

/** How the tasks of an agent, or of the org, went. Each task that has ended is in one of these. */
export interface TaskAgentMetrics {
  /** Accepted, whatever became of them; those that were rejected are not among them. */
  readonly submitted: number
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly rejected: number
  readonly expired: number
}

/** What waits, how it went, and within which limits. */
export interface TaskStats {
  readonly queue: {
    readonly totalQueued: number
    readonly totalInflight: number
    readonly agents: Readonly<Record<string, { readonly queued: number; readonly inflight: number }>>
  }
  readonly metrics: {
    readonly tasksSubmitted: number
    readonly tasksCompleted: number
    readonly tasksFailed: number
    readonly tasksCancelled: number
    readonly tasksRejected: number
    readonly tasksExpired: number
    /** Tasks that were started. */
    readonly dispatchCount: number
    /** How long they were queued before, together. */
    readonly dispatchLatencyTotalMs: number
    readonly avgDispatchLatencyMs: number
    readonly agents: Readonly<Record<string, TaskAgentMetrics>>
  }
  readonly config: {
    readonly strategy: 'fair-fifo'
    readonly maxQueueSize: number
    readonly maxPerAgent: number
    readonly maxInflight: number
    readonly maxPerAgentFlight: number
    /** Slots of the lane `task` on this node. */
    readonly workerCount: number
    /** As Go writes lengths of time: `5m0s`. */
    readonly resultTTL: string
  }
}

/** How the façade tells what it refuses. */
export interface TaskError {
  readonly error: string
  /** Stable, for programs. */
  readonly code: string
  /** True when the same request may go through later. */
  readonly retryable?: true | undefined
  readonly details?: Readonly<Record<string, unknown>> | undefined
}
