import { SECOND_MS } from '../../domain/instant.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import { isErrorCode, reportedBy, type Reported } from '../../core/run/reported.ts'
import type { ResultStatus } from '../../domain/run/outcome.ts'
import { toMicros } from '../../domain/budget/budget.ts'
import { readShape } from '../../contract/read-shape.ts'
import { invalid } from '../../api/refusals.ts'
import { resultInput, type ResultInput, type UsageView } from './schema.ts'

/** A result as somebody outside reports it. */
export interface ReadResult {
  /** What the result says it is about; null: it does not say. */
  readonly jobRunId: string | null
  readonly attemptId: string | null
  readonly status: ResultStatus
  readonly errorCode: ErrorCode | null
  readonly errorMessage: string | null
  readonly output: unknown
  /** A text or JSON. */
  readonly summary: unknown
  /** Names of the runtime's own; null: it gave none. */
  readonly reported: Reported | null
  /** As it is kept, under the names every executor uses. */
  readonly usage: StoredUsage | null
  readonly retryable: boolean | null
  /** How long what the agent called asked it to wait; null: it did not say. */
  readonly retryAfterMs: number | null
  /** As it was said; left out when it was not. */
  readonly nextCheck?: unknown
}

interface StoredUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly contextWindow?: number
  readonly costMicros?: number
}

function storedUsage(usage: UsageView): StoredUsage {
  const { input_tokens: inputTokens, output_tokens: outputTokens, context_window: contextWindow, cost } = usage
  return {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(cost === undefined ? {} : { costMicros: toMicros(cost) }),
  }
}

/** A result in the one shape for answers, callbacks and workers, as runs keep it. An error code that is not ours is `agent_error`. */
export function readResult(fields: ResultInput): ReadResult {
  const code = fields.error_code
  return {
    jobRunId: fields.job_run_id ?? null,
    attemptId: fields.attempt_id ?? null,
    status: fields.status ?? 'success',
    errorCode: isErrorCode(code) ? code : null,
    errorMessage: fields.error_message ?? code ?? null,
    output: fields.output ?? null,
    summary: fields.summary ?? null,
    reported: reportedBy({ sessionId: fields.session_id, messageId: fields.message_id, errorCode: code }),
    usage: fields.usage === undefined ? null : storedUsage(fields.usage),
    retryable: fields.retryable ?? null,
    retryAfterMs: fields.retry_after_seconds === undefined ? null : fields.retry_after_seconds * SECOND_MS,
    ...(fields.next_check === undefined ? {} : { nextCheck: fields.next_check }),
  }
}

/**
 * Reads a result inside an answer, where it may stand among fields of the agent's own: without an output of its own the
 * whole answer is the output. What cannot be read is told in words.
 */
export function readAnsweredResult(answer: Readonly<Record<string, unknown>>): ReadResult | { readonly flaw: string } {
  const known = Object.fromEntries(Object.entries(answer).filter(([name]) => Object.hasOwn(resultInput.shape, name)))
  const isMixed = Object.keys(known).length < Object.keys(answer).length
  const read = readShape(resultInput, known)
  if (!read.ok) return { flaw: invalid(read.flaws).message }
  const result = readResult(read.value)
  return isMixed && known['output'] === undefined ? { ...result, output: answer } : result
}
