import { isDeeperText } from '../../core/json-shape.ts'
import { MAX_ANSWER_DEPTH, readJson } from '../../core/json.ts'
import { isExpectedStatus, unmet, type SuccessWhen } from '../success-when.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import { outcomeOfHttpStatus, outcomeOfResult, RESULT_STATUSES, type ResultStatus } from '../../domain/run/outcome.ts'
import type { Reported } from '../../core/run/reported.ts'
import type { AnswerHeaders, OutboundAnswer } from '../../outbound/request.ts'
import { retryAfterMs } from '../../outbound/retry-after.ts'
import type { AttemptReport, Usage } from '../executor.ts'

/** A result in the shape that answers, callbacks and workers share. */
export interface AgentResult {
  readonly status: ResultStatus
  readonly jobRunId: string | null
  readonly attemptId: string | null
  readonly errorCode: ErrorCode | null
  readonly errorMessage: string | null
  readonly output: unknown
  readonly summary: unknown
  readonly reported: Reported | null
  readonly usage: Usage | null
  readonly retryable: boolean | null
  /** How long what it called asked it to wait. */
  readonly retryAfterMs?: number | null
  /** As it was said; left out when it was not. */
  readonly nextCheck?: unknown
}

/** Reads a result. What cannot be one is told in words. */
export type ReadAgentResult = (value: Readonly<Record<string, unknown>>) => AgentResult | { readonly flaw: string }

/** An answer that came, with its body as JSON if it is. */
export interface ReadAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: unknown
}

/** A report of a failure. */
export const failure = (
  errorCode: ErrorCode,
  errorMessage: string,
  more: { readonly retryable?: boolean; readonly retryAfterMs?: number | null } = {},
): AttemptReport => ({
  outcome: { kind: 'failed', errorCode, retryable: more.retryable ?? null, retryAfterMs: more.retryAfterMs ?? null },
  errorMessage,
})

/** What a request that brought no answer is to the attempt. */
export function reportOfSilence(answer: Exclude<OutboundAnswer, { kind: 'answered' }>): AttemptReport {
  switch (answer.kind) {
    case 'refused':
      return failure('outbound_refused', answer.message)
    case 'network':
      return failure('network', answer.message)
    case 'malformed':
      return failure('malformed_answer', answer.message)
    case 'too_large': {
      // Whoever fails at length has failed all the same, and may be asked again.
      const outcome = outcomeOfHttpStatus(answer.status)
      if (outcome.kind === 'failed') return { outcome, errorMessage: `${answer.status}: ${answer.message}` }
      return failure('answer_too_large', answer.message)
    }
    case 'timeout':
      return { outcome: { kind: 'timed_out', errorCode: 'timeout' }, errorMessage: answer.message }
    case 'aborted':
      return { outcome: { kind: 'stopped' }, errorMessage: answer.message }
  }
}

/** The body as what it says it is: JSON, or text. */
export function readBody(
  body: Buffer,
  headers: AnswerHeaders,
): { readonly value: unknown } | { readonly flaw: string } {
  const text = body.toString('utf8')
  if (text.trim() === '') return { value: null }
  const type = headers['content-type']
  const saysJson = typeof type === 'string' && /^application\/(?:[^;]*\+)?json\b/i.test(type.trim())
  // Many small services forget to say that it is JSON.
  if (!saysJson && !/^\s*[[{]/.test(text)) return { value: text }
  if (isDeeperText(body, MAX_ANSWER_DEPTH)) return { flaw: TOO_DEEP }
  const read = readJson(text)
  if (!('flaw' in read)) return read
  return saysJson ? { flaw: `the answer says that it is JSON and is not: ${read.flaw}` } : { value: text }
}

/** What is said of an answer that no row could hold. */
export const TOO_DEEP = `the answer is nested deeper than ${MAX_ANSWER_DEPTH} levels`

export interface Judging {
  readonly when: SuccessWhen | null
  readonly attempt: { readonly jobRunId: string; readonly attemptId: string }
  readonly read: ReadAgentResult
}

/** What an answer is to the attempt. */
export function reportOfAnswer(answer: ReadAnswer, judging: Judging): AttemptReport {
  const { when } = judging
  const { status, headers, body } = answer
  if (!isExpectedStatus(status, when)) return reportOfStatus(answer)
  const missing = when === null ? null : unmet(body, when)
  if (missing !== null) return { ...failure('condition_failed', missing), output: body }
  const said = isResult(body) ? reportOfResult(body, judging) : null
  const report: AttemptReport = said ?? { outcome: { kind: 'succeeded' }, output: body }
  const wait = retryAfterMs(headers)
  // Whoever fails with a 200 may still say when to come back.
  return report.outcome.kind === 'failed' && wait !== null
    ? { ...report, outcome: { ...report.outcome, retryAfterMs: wait, busy: true } }
    : report
}

/** An answer whose status says that it went wrong; what it says beside that is kept. */
function reportOfStatus({ status, headers, body }: ReadAnswer): AttemptReport {
  const outcome = outcomeOfHttpStatus(status, retryAfterMs(headers))
  const text = typeof body === 'string' ? body : body === null ? '' : JSON.stringify(body)
  const errorMessage = `the agent answered ${status}${text === '' ? '' : `: ${text}`}`
  // With `success_when.status` a 200 can be a failure.
  if (outcome.kind === 'succeeded') return failure('condition_failed', `status ${status} is not one that counts`)
  return { outcome, errorMessage }
}

const isResult = (body: unknown): body is Readonly<Record<string, unknown>> =>
  typeof body === 'object' &&
  body !== null &&
  'status' in body &&
  RESULT_STATUSES.some((status) => status === body.status)

function reportOfResult(body: Readonly<Record<string, unknown>>, { attempt, read }: Judging): AttemptReport {
  const result = read(body)
  if ('flaw' in result) return failure('malformed_answer', `the answer is not a result: ${result.flaw}`)
  if (result.jobRunId !== null && result.jobRunId !== attempt.jobRunId)
    return failure('malformed_answer', `the answer is about job_run_id ${result.jobRunId}`)
  if (result.attemptId !== null && result.attemptId !== attempt.attemptId)
    return failure('malformed_answer', `the answer is about attempt_id ${result.attemptId}`)
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
