import { NO_RETRIES } from '../core/run/retry.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../core/run/retry-policy.ts'
import type { RunRow } from './run-row.ts'

/** Null in the table is the usual policy, which nearly every run has: none for tasks, the default for all others. */
export const storeRetryPolicy = (run: Pick<RunRow, 'retryPolicy' | 'trigger'>): string | null =>
  run.retryPolicy === usual(run.trigger) ? null : JSON.stringify(run.retryPolicy)

export const readRetryPolicy = (stored: RetryPolicy | null, trigger: RunRow['trigger']): RetryPolicy =>
  stored ?? usual(trigger)

const usual = (trigger: RunRow['trigger']): RetryPolicy => (trigger === 'task' ? NO_RETRIES : DEFAULT_RETRY_POLICY)

/** The start of the first attempt of a run that was tried again, as a column; nothing is read of the others. */
export const firstStart = (run: 'r' | 'p', attempt: string): string =>
  `case when ${attempt} > 1 then (select a.started_at from attempt a
     where a.org_id = ${run}.org_id and a.run_id = ${run}.id order by a.number limit 1) end`

/**
 * Whether a run is in the session of a schedule's run, by the session's key: sent there, or the run that it belongs to,
 * whose row names no session. For keys that `runOfSession` reads.
 */
export const inRunSession = (run: string, key: string): string =>
  `(${run}session_key = ${key} or (${run}session_key is null and ${run}id = split_part(${key}, ':run:', 2)
     and ${run}schedule_id = split_part(split_part(${key}, ':run:', 1), ':', -1)
     and (${run}agent_id = split_part(${key}, ':', 2) or starts_with(${key}, 'schedule:'))
     and ${run}state is distinct from 'skipped'))`
