/** A schedule as clients of GoClaw know it: a cron job. Moments and lengths of time are milliseconds. */
export interface CronJob {
  readonly id: string
  readonly name: string
  readonly agentId: string
  readonly userId?: string
  readonly enabled: boolean
  readonly schedule: CronJobSchedule
  readonly payload: { readonly kind: 'agent_turn'; readonly message: string }
  readonly state: {
    readonly nextRunAtMs?: number
    readonly lastRunAtMs?: number
    readonly lastStatus?: CronRunStatus
    readonly lastError?: string
  }
  readonly deleteAfterRun: boolean
  readonly stateless: boolean
  readonly deliver: boolean
  /** The id of the target that results go to. */
  readonly deliverTo?: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** When a job runs. Recurrence rules have no word in GoClaw; they are shown as what they are. */
export interface CronJobSchedule {
  readonly kind: 'at' | 'every' | 'cron' | 'rrule'
  readonly atMs?: number
  readonly everyMs?: number
  readonly expr?: string
  readonly rrule?: string
  readonly tz: string
}

/** How a run went. GoClaw knows the first two. */
export type CronRunStatus = 'ok' | 'error' | 'skipped' | 'running'

/** A run as the log of a job has it. */
export interface CronRunEntry {
  /** When it began, or was decided about. */
  readonly ts: number
  readonly jobId: string
  readonly runId: string
  readonly status: CronRunStatus
  readonly error?: string
  readonly summary?: string
  readonly durationMs?: number
  readonly inputTokens?: number
  readonly outputTokens?: number
}

/** Whether jobs are run, and how many are switched on. */
export interface CronStatus {
  readonly enabled: boolean
  readonly jobs: number
}
