import { Refusal } from '../api/refusals.ts'
import { explainWhy, type Why } from '../domain/reasons.ts'
import { closedDay } from './desk/daily-runs.ts'
import type { Desk } from './desk/desk.ts'
import type { Submitted } from './desk/submit.ts'

/** The refusal of a submission on a day that has had its runs; null when it was something else. */
export function overDailyLimit({ runId, why, retryAfterMs }: Extract<Submitted, { kind: 'rejected' }>): Refusal | null {
  return why.reason === 'runs_per_day' ? refusal(why, { runId, retryAfterMs }) : null
}

/** Refuses to make a run by hand on such a day. */
export function refuseOverDailyLimit(desk: Desk): void {
  const closed = closedDay(desk)
  if (closed !== null) throw overDay({ why: closed.why, retryAfterMs: closed.until - desk.now })
}

/** The same, when the desk has said so. */
export const overDay = ({ why, retryAfterMs }: { readonly why: Why; readonly retryAfterMs: number }): Refusal =>
  refusal(why, { retryAfterMs })

function refusal(why: Why, facts: { readonly runId?: string; readonly retryAfterMs: number | null }): Refusal {
  const kept = facts.runId === undefined ? '' : ` It is kept as rejected run ${facts.runId}`
  return new Refusal('RUNS_PER_DAY', `${explainWhy(why)}${kept}`, { ...facts, details: why.evidence })
}
