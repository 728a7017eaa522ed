/** A task as the façade of seed 004 takes it. */
export interface TaskInput {
  readonly agentId: string
  readonly action: string
  readonly tabId?: string
  readonly selector?: string
  readonly ref?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly priority?: number
  readonly deadline?: string
  readonly callbackUrl?: string
  /** Ours beside the façade: tasks are not retried unless they ask. */
  readonly retry_policy?: Readonly<Record<string, unknown>>
}

export interface TaskReceipt {
  readonly taskId: string
  readonly state: string
  readonly position: number | null
  readonly createdAt: string
}

export interface TaskView {
  readonly taskId: string
  readonly agentId: string
  readonly action: string
  readonly tabId?: string
  readonly selector?: string
  readonly ref?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly priority: number
  readonly state: string
  readonly deadline: string | null
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  readonly latencyMs?: number
  readonly result?: unknown
  readonly error?: string
  readonly callbackUrl?: string
  readonly position?: number
}
