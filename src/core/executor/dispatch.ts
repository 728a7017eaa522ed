import type { Trigger } from '../run/run.ts'

/** What whoever performs an attempt is told of it: an agent over HTTP, a command, a worker. */
export interface DispatchedAttempt {
  readonly trigger_type: Trigger | 'scheduled'
  /** Whether a person or a program asked for this run of a schedule: run-now, a backfill or a retry. */
  readonly manual: boolean
  readonly schedule_id: string | null
  readonly job_run_id: string
  readonly run_id: string
  readonly attempt: number
  readonly attempt_id: string
  readonly nominal_time: string | null
  readonly session_id: string | null
  readonly message: string | null
  readonly schedule_payload: unknown
  readonly payload: unknown
  readonly deadline: string | null
}
