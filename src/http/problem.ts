import type { Problem, ProblemError } from '../api/problem.ts'
import { type Refusal, REFUSAL_TITLES } from '../api/refusals.ts'
import { describeFlaw, type Flaw } from '../domain/input.ts'
import { toPointer } from '../core/pointer.ts'

/** The media type of everything that is refused. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** More flaws than these are not told: nobody reads them, and an answer must stay small. */
const MOST_ERRORS = 50

/** What a refusal looks like on the wire. */
export function problemOf(refusal: Refusal, requestId: string, body?: unknown): Problem {
  const { code, status, flaws, runId, details } = refusal
  return {
    type: `/docs/errors#${code}`,
    title: REFUSAL_TITLES[code],
    status,
    detail: flaws.length === 0 ? refusal.message : detailOf(flaws),
    code,
    request_id: requestId,
    ...(flaws.length === 0 ? {} : { errors: flaws.slice(0, MOST_ERRORS).map((flaw) => errorOf(flaw, body)) }),
    ...(runId === null ? {} : { run_id: runId }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
  }
}

function detailOf(flaws: readonly Flaw[]): string {
  const [first, ...more] = flaws
  if (first === undefined) return ''
  return more.length === 0 ? describeFlaw(first) : `${describeFlaw(first)} (and ${more.length} more, see errors)`
}

const errorOf = (flaw: Flaw, body: unknown): ProblemError => ({
  pointer: pointerTo(flaw.field, body),
  message: flaw.position === undefined ? flaw.message : `${flaw.message} at position ${flaw.position + 1}`,
  ...(flaw.allowed === undefined ? {} : { allowed: flaw.allowed }),
})

/** `retry_policy.base_ms` as JSON pointer. A name with a dot in it is one name if the body has it so. */
function pointerTo(field: string, body: unknown): string {
  if (field === '') return ''
  const whole = typeof body === 'object' && body !== null && Object.hasOwn(body, field)
  return toPointer(whole ? [field] : field.split('.'))
}
