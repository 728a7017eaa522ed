import { NO_RETRIES } from '../core/run/retry.ts'
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from '../core/run/retry-policy.ts'
import type { RunRow } from './run-row.ts'

/** Null in the table is the usual policy, which nearly every run has: none for tasks, the default for all others. */
export function storeRetryPolicy(run: Pick<RunRow, 'retryPolicy' | 'trigger'>): string | null {
  return run.retryPolicy === usual(run.trigger) ? null : JSON.stringify(run.retryPolicy)
}

export const readRetryPolicy = (stored: RetryPolicy | null, trigger: RunRow['trigger']): RetryPolicy =>
  stored ?? usual(trigger)

const usual = (trigger: RunRow['trigger']): RetryPolicy => (trigger === 'task' ? NO_RETRIES : DEFAULT_RETRY_POLICY)
