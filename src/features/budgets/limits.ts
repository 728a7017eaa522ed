import { invalid, Refusal } from '../../api/refusals.ts'
import type { Flaw } from '../../domain/input.ts'
import { explainWhy, type Why } from '../../domain/reasons.ts'
import { dailyLimitReached } from '../../engine/commands/daily-runs.ts'
import type { SubmitResult } from '../../engine/commands/submit.ts'
import type { OrgState } from '../../engine/org-state/org-state.ts'
import type { OrgRow } from '../access/orgs-store.ts'

/** The error of a submission rejected by the daily limit; null if another reason rejected it. */
export function dailyLimitError({
  runId,
  why,
  retryAfterMs,
}: Extract<SubmitResult, { kind: 'rejected' }>): Refusal | null {
  return why.reason === 'runs_per_day' ? dailyLimitRefusal(why, { runId, retryAfterMs }) : null
}

/** Refuses a manual run if the daily limit is reached. */
export function refuseOverDailyLimit(state: OrgState): void {
  const closed = dailyLimitReached(state)
  if (closed !== null) throw closedDayError({ why: closed.why, retryAfterMs: closed.until - state.now })
}

/** The error for a day whose limit is reached. */
export const closedDayError = ({ why, retryAfterMs }: { readonly why: Why; readonly retryAfterMs: number }): Refusal =>
  dailyLimitRefusal(why, { retryAfterMs })

function dailyLimitRefusal(
  why: Why,
  context: { readonly runId?: string; readonly retryAfterMs: number | null },
): Refusal {
  const kept = context.runId === undefined ? '' : ` It is stored as rejected run ${context.runId}`
  return new Refusal('RUNS_PER_DAY', `${explainWhy(why)}${kept}`, { ...context, details: why.evidence })
}

/** The error of a submission rejected by a budget; null if another reason rejected it. */
export function budgetError({ runId, why, retryAfterMs }: Extract<SubmitResult, { kind: 'rejected' }>): Refusal | null {
  if (why.reason !== 'budget') return null
  const message = `${explainWhy(why)} It is stored as rejected run ${runId}`
  return new Refusal('BUDGET', message, { runId, retryAfterMs, details: why.evidence })
}

/** The flaw of a requested time limit above the org's maximum. Stored time limits are not checked. */
export function timeoutFlaws(
  given: { readonly timeout_seconds?: unknown },
  { maxTimeoutSeconds: max }: Pick<OrgRow, 'maxTimeoutSeconds'>,
): readonly Flaw[] {
  const { timeout_seconds: wanted } = given
  if (max === null || typeof wanted !== 'number' || wanted <= max) return []
  const message = `is above the limit of the org, max_timeout_seconds ${max}`
  return [{ field: 'timeout_seconds', value: wanted, message, allowed: `a whole number up to ${max}` }]
}

/** Refuses a requested time limit above the org's maximum. */
export function refuseLongTimeout(...of: Parameters<typeof timeoutFlaws>): void {
  const flaws = timeoutFlaws(...of)
  if (flaws.length > 0) throw invalid(flaws)
}
