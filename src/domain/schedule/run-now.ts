import { decideConcurrency } from './concurrency.ts'
import type { Instant } from '../instant.ts'
import { because, type Why } from '../reasons.ts'
import type { ScheduleHistory } from './history.ts'
import type { ScheduleRules } from './rules.ts'

export type RunNowDecision =
  | { readonly kind: 'run'; readonly slot: 'held' | 'parked'; readonly why: Why }
  /** 409 CONCURRENCY_LIMIT. */
  | { readonly kind: 'refuse'; readonly why: Why }
  | { readonly kind: 'not_due'; readonly nextRunAt: Instant | null }

/**
 * Decides about a manual run of a schedule. The plan is unchanged, a paused schedule runs too, and only the
 * concurrency policy applies, because the user has seen the rest.
 */
export function decideRunNow(
  schedule: { readonly rules: ScheduleRules; readonly history: ScheduleHistory; readonly nextRunAt: Instant | null },
  mode: 'force' | 'due',
  now: Instant,
): RunNowDecision {
  const { nextRunAt } = schedule
  if (mode === 'due' && (nextRunAt === null || nextRunAt > now)) return { kind: 'not_due', nextRunAt }
  const concurrency = decideConcurrency(schedule.rules, schedule.history, { mayWait: false, isCatchUp: false })
  if (concurrency.kind === 'skip') return { kind: 'refuse', why: concurrency.why }
  const slot = concurrency.kind === 'run' ? 'held' : 'parked'
  return { kind: 'run', slot, why: because('run_now', 'run-now', mode === 'due' ? { slot, mode } : { slot }) }
}
