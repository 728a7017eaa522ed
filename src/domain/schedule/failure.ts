import { formatInstant, later, type Instant } from '../instant.ts'
import type { RunId } from '../ids.ts'
import { because, type Why } from '../reasons.ts'
import { ladderStep } from '../run/retry.ts'
import type { ScheduleRules } from './rules.ts'
import { isFailure, type LastEnding, type ScheduleHistory } from './history.ts'

export type FailureDecision =
  | { readonly kind: 'run'; readonly firstAttempt: number }
  /** `uses` is the failed run that this skip is for, when one failure skips only one occurrence. */
  | { readonly kind: 'skip'; readonly why: Why; readonly uses: RunId | null }

/** Decides about an occurrence after the last run failed; called only when the previous run has ended. */
export function decideFailure(rules: ScheduleRules, history: ScheduleHistory, now: Instant): FailureDecision {
  const last = history.lastEnding
  const runNew: FailureDecision = { kind: 'run', firstAttempt: 1 }
  if (last === null || !isFailure(last.status)) return runNew
  switch (rules.failureAction) {
    case 'RUN_NEW':
      return runNew
    case 'RETRY':
      return { kind: 'run', firstAttempt: retryAttempt(rules.ownMaxRetries, last.attempt) }
    case 'SKIP':
      return history.skippedFor === last.id
        ? runNew
        : { kind: 'skip', why: failureWhy(rules, last, 'the next occurrence'), uses: last.id }
    case 'BACKOFF':
    case 'HALF_OPEN': {
      const until = pausedUntil(rules, history)
      if (until === null || now >= until) return runNew
      return { kind: 'skip', why: failureWhy(rules, last, formatInstant(until)), uses: null }
    }
  }
}

/** The time until which BACKOFF or HALF_OPEN skips all occurrences after the last failure; null: none. */
function pausedUntil(
  { failureAction, failureOptions }: ScheduleRules,
  { lastEnding, failureStreak }: Pick<ScheduleHistory, 'lastEnding' | 'failureStreak'>,
): Instant | null {
  if (lastEnding === null || !isFailure(lastEnding.status)) return null
  if (failureAction === 'BACKOFF') {
    const step = ladderStep(failureOptions.ladderSeconds, Math.max(0, failureStreak - 1))
    return later(lastEnding.endedAt, step * 1000)
  }
  const { threshold, cooldownSeconds } = failureOptions
  return failureAction === 'HALF_OPEN' && failureStreak >= threshold
    ? later(lastEnding.endedAt, cooldownSeconds * 1000)
    : null
}

/** A time until which occurrences are skipped, and why. */
export interface FailurePause {
  readonly until: Instant
  readonly why: Why
}

/** Until when the failure action skips occurrences, as far as that is known before the next run; null: it skips none. */
export function failurePause(
  rules: ScheduleRules,
  history: Pick<ScheduleHistory, 'lastEnding' | 'failureStreak' | 'skippedFor'>,
  plan: { readonly now: Instant; readonly nextRunAt: Instant | null },
): FailurePause | null {
  const { lastEnding: last } = history
  if (last === null || !isFailure(last.status)) return null
  if (rules.failureAction === 'SKIP') {
    if (plan.nextRunAt === null || history.skippedFor === last.id) return null
    return { until: later(plan.nextRunAt, 1), why: failureWhy(rules, last, 'the next occurrence') }
  }
  const until = pausedUntil(rules, history)
  return until === null || until <= plan.now ? null : { until, why: failureWhy(rules, last, formatInstant(until)) }
}

/**
 * The number of the next attempt: unlimited unless the schedule's own policy sets a number, after which it restarts
 * at 1.
 */
function retryAttempt(ownMaxRetries: number | null, lastAttempt: number): number {
  const next = lastAttempt + 1
  return ownMaxRetries !== null && ownMaxRetries >= 1 && next > ownMaxRetries + 1 ? 1 : next
}

const failureWhy = (rules: ScheduleRules, last: LastEnding, until: string): Why =>
  because('failure', `failure_action=${rules.failureAction}`, {
    failed_run: last.id,
    failed_status: last.status,
    policy: rules.failureAction,
    until,
  })
