import type { Problem, ProblemError } from '../../api/problem.ts'
import { Refusal, REFUSAL_TITLES, type RefusalCode } from '../../api/refusals.ts'
import { describeFlaw, type Flaw } from '../../domain/input.ts'
import { toJsonPointer } from '../../domain/json.ts'
import { readFailure } from '../../engine/transaction/failures.ts'

/** Error codes of Fastify. A client error that is not listed is reported as malformed. */
const FASTIFY_ERRORS: Readonly<Record<string, readonly [RefusalCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'UNSUPPORTED_MEDIA_TYPE',
    'Send the body as JSON, with the header "Content-Type: application/json"',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: ['BODY_TOO_LARGE', 'The body exceeds the limit of 1 MiB; send less per request'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['MALFORMED', 'The length of the body does not match Content-Length'],
  FST_ERR_BAD_URL: ['MALFORMED', 'The URL cannot be decoded'],
  FST_ERR_MAX_PARAM_LENGTH: ['URL_TOO_LONG', 'A path segment of the URL is too long'],
  FST_ERR_PARAM_TOO_LONG: ['URL_TOO_LONG', 'A path segment of the URL is too long'],
}

/** The suggested delay before a retry when the database is unavailable. */
const AWAY_RETRY_MS = 2_000

/** Maps an error to an API error; null if it is unexpected and must be logged. */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown }
  const known = typeof code === 'string' ? FASTIFY_ERRORS[code] : undefined
  if (known !== undefined) return new Refusal(...known)
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new Refusal('MALFORMED', error instanceof Error ? error.message : 'The request cannot be parsed')
  if (readFailure(error) !== 'broken')
    return new Refusal(
      'DATABASE_AWAY',
      'The database is unavailable or busy; no change is known to have been saved. Try again.',
      {
        retryAfterMs: AWAY_RETRY_MS,
        cause: error,
      },
    )
  return null
}

/** The error that hides an unexpected one and names the request id in the log. */
export const internalError = (requestId: string): Refusal =>
  new Refusal('INTERNAL', `Internal error; see the server log under the request id ${requestId}`)

/** The media type of error responses. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** The maximum number of flaws in a response, to keep it small. */
const MAX_ERRORS = 50

/** An API error as a problem document. */
export function problemOf(refusal: Refusal, requestId: string, body?: unknown): Problem {
  const { code, status, flaws, runId, details } = refusal
  return {
    type: `/docs/errors#${code}`,
    title: REFUSAL_TITLES[code],
    status,
    detail: flaws.length === 0 ? refusal.message : detailOf(flaws),
    code,
    request_id: requestId,
    ...(flaws.length === 0 ? {} : { errors: flaws.slice(0, MAX_ERRORS).map((flaw) => errorOf(flaw, body)) }),
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

/**
 * Converts a field path such as `retry_policy.base_ms` to a JSON pointer. A path that is the name of a field of the
 * body counts as one name.
 */
function pointerTo(field: string, body: unknown): string {
  if (field === '') return ''
  const whole = typeof body === 'object' && body !== null && Object.hasOwn(body, field)
  return toJsonPointer(whole ? [field] : field.split('.'))
}
