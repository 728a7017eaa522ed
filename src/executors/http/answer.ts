import { isTextDeeperThan, MAX_ANSWER_DEPTH, parseJsonText } from '../../domain/json.ts'
import { isExpectedStatus, unmetCondition, type SuccessWhen } from '../success-when.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import { outcomeOfHttpStatus, outcomeOfResult, RESULT_STATUSES, type ResultStatus } from '../../domain/run/outcome.ts'
import type { RuntimeReport } from '../../domain/run/reports.ts'
import { type ResponseHeaders, type OutboundResponse, retryAfterMs } from '../../platform/outbound/request.ts'
import type { AttemptReport, Usage } from '../executor.ts'

/** A result in the shape shared by answers, callbacks and workers. */
export interface AgentResult {
  readonly status: ResultStatus
  readonly jobRunId: string | null
  readonly attemptId: string | null
  readonly errorCode: ErrorCode | null
  readonly errorMessage: string | null
  readonly output: unknown
  readonly summary: unknown
  readonly reported: RuntimeReport | null
  readonly usage: Usage | null
  readonly retryable: boolean | null
  /** The Retry-After of the called service. */
  readonly retryAfterMs?: number | null
  /** As the agent gave it; omitted when it did not. */
  readonly nextCheck?: unknown
}

/** Reads a result, or says what is wrong with it. */
export type ReadAgentResult = (value: Readonly<Record<string, unknown>>) => AgentResult | { readonly flaw: string }

/** A response with its body, parsed if it is JSON. */
export interface ReadAnswer {
  readonly status: number
  readonly headers: ResponseHeaders
  readonly body: unknown
}

/** Creates the report of a failure. */
export const failureReport = (
  errorCode: ErrorCode,
  errorMessage: string,
  more: { readonly retryable?: boolean; readonly retryAfterMs?: number | null } = {},
): AttemptReport => ({
  outcome: { kind: 'failed', errorCode, retryable: more.retryable ?? null, retryAfterMs: more.retryAfterMs ?? null },
  errorMessage,
})

/** The report of a request without a response. */
export function reportOfFailedRequest(answer: Exclude<OutboundResponse, { kind: 'answered' }>): AttemptReport {
  switch (answer.kind) {
    case 'refused':
      return failureReport('outbound_refused', answer.message)
    case 'network':
      return failureReport('network', answer.message)
    case 'malformed':
      return failureReport('malformed_answer', answer.message)
    case 'too_large': {
      // An error status counts even if its body is too large, so it can be retried.
      const outcome = outcomeOfHttpStatus(answer.status)
      if (outcome.kind === 'failed') return { outcome, errorMessage: `${answer.status}: ${answer.message}` }
      return failureReport('answer_too_large', answer.message)
    }
    case 'timeout':
      return { outcome: { kind: 'timed_out', errorCode: 'timeout' }, errorMessage: answer.message }
    case 'aborted':
      return { outcome: { kind: 'stopped' }, errorMessage: answer.message }
  }
}

/** Parses the body as JSON or text, according to its content type. */
export function readBody(
  body: Buffer,
  headers: ResponseHeaders,
): { readonly value: unknown } | { readonly flaw: string } {
  const text = body.toString('utf8')
  if (text.trim() === '') return { value: null }
  const type = headers['content-type']
  const saysJson = typeof type === 'string' && /^application\/(?:[^;]*\+)?json\b/i.test(type.trim())
  // Many small services omit the JSON content type.
  if (!saysJson && !/^\s*[[{]/.test(text)) return { value: text }
  if (isTextDeeperThan(body, MAX_ANSWER_DEPTH)) return { flaw: TOO_DEEP }
  const read = parseJsonText(text)
  if (!('flaw' in read)) return read
  return saysJson ? { flaw: `the answer has a JSON content type but is not valid JSON: ${read.flaw}` } : { value: text }
}

/** The flaw of an answer too deeply nested to store. */
export const TOO_DEEP = `the answer is nested deeper than ${MAX_ANSWER_DEPTH} levels`

export interface AnswerContext {
  readonly when: SuccessWhen | null
  readonly attempt: { readonly jobRunId: string; readonly attemptId: string }
  readonly read: ReadAgentResult
}

/** The report of a response. */
export function reportOfAnswer(answer: ReadAnswer, context: AnswerContext): AttemptReport {
  const { when } = context
  const { status, headers, body } = answer
  if (!isExpectedStatus(status, when)) return reportOfStatus(answer)
  const missing = when === null ? null : unmetCondition(body, when)
  if (missing !== null) return { ...failureReport('condition_failed', missing), output: body }
  const resultReport = isResult(body) ? reportOfResult(body, context) : null
  const report: AttemptReport = resultReport ?? { outcome: { kind: 'succeeded' }, output: body }
  const wait = retryAfterMs(headers)
  // A failure reported with a 200 may still have a Retry-After.
  return report.outcome.kind === 'failed' && wait !== null
    ? { ...report, outcome: { ...report.outcome, retryAfterMs: wait, busy: true } }
    : report
}

/** The report of a response with an error status, including its body. */
function reportOfStatus({ status, headers, body }: ReadAnswer): AttemptReport {
  const outcome = outcomeOfHttpStatus(status, retryAfterMs(headers))
  const text = typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body)
  const errorMessage = `the agent answered ${status}${text === '' ? '' : `: ${text}`}`
  // With `success_when.status` a 200 can be a failure.
  if (outcome.kind === 'succeeded')
    return failureReport('condition_failed', `status ${status} is not one of success_when.status`)
  return { outcome, errorMessage }
}

const isResult = (body: unknown): body is Readonly<Record<string, unknown>> =>
  typeof body === 'object' &&
  body !== null &&
  'status' in body &&
  RESULT_STATUSES.some((status) => status === body.status)

function reportOfResult(body: Readonly<Record<string, unknown>>, { attempt, read }: AnswerContext): AttemptReport {
  const result = read(body)
  if ('flaw' in result) return failureReport('malformed_answer', `the answer is not a result: ${result.flaw}`)
  if (result.jobRunId !== null && result.jobRunId !== attempt.jobRunId)
    return failureReport('malformed_answer', `the answer is about job_run_id ${result.jobRunId}`)
  if (result.attemptId !== null && result.attemptId !== attempt.attemptId)
    return failureReport('malformed_answer', `the answer is about attempt_id ${result.attemptId}`)
  const { output, summary, errorMessage, usage, nextCheck, reported } = result
  return {
    outcome: outcomeOfResult(result),
    output,
    ...(summary === null ? {} : { summary }),
    ...(errorMessage === null ? {} : { errorMessage }),
    ...(usage === null ? {} : { usage }),
    ...(reported === null ? {} : { reported }),
    ...(nextCheck === undefined ? {} : { nextCheck }),
  }
}
