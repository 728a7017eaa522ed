import { Refusal } from '../api/refusals.ts'
import { explainWhy } from '../domain/reasons.ts'
import type { Submitted } from './desk/submit.ts'

/** The refusal of a submission that a budget has turned away; null when it was something else. */
export function overBudget({ runId, why, retryAfterMs }: Extract<Submitted, { kind: 'rejected' }>): Refusal | null {
  if (why.reason !== 'budget') return null
  const message = `${explainWhy(why)} It is kept as rejected run ${runId}`
  return new Refusal('BUDGET', message, { runId, retryAfterMs, details: why.evidence })
}
