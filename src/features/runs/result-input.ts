import { SECOND_MS } from '../../domain/instant.ts'
import type { ErrorCode } from '../../domain/run/error-codes.ts'
import { isErrorCode, readRuntimeReport, type RuntimeReport } from '../../domain/run/reports.ts'
import type { ResultStatus } from '../../domain/run/outcome.ts'
import { toMicros } from '../../domain/budget/budget.ts'
import type { Usage } from '../../executors/executor.ts'
import { readShape } from '../../api/read-input.ts'
import { invalid } from '../../api/refusals.ts'
import { resultInput, type ResultInput, type UsageView } from './schema.ts'

/** The result of an attempt, as an agent or a worker reports it. */
export interface AttemptResult {
  /** The run that the result names; null: it names none. */
  readonly jobRunId: string | null
  readonly attemptId: string | null
  readonly status: ResultStatus
  readonly errorCode: ErrorCode | null
  readonly errorMessage: string | null
  readonly output: unknown
  /** Text or JSON. */
  readonly summary: unknown
  /** Ids and codes of the runtime itself; null: it gave none. */
  readonly reported: RuntimeReport | null
  /** In the stored form, with the names every executor uses. */
  readonly usage: Usage | null
  readonly retryable: boolean | null
  /** How long the provider asked the agent to wait; null: it did not ask. */
  readonly retryAfterMs: number | null
  /** As reported; omitted if it was not. */
  readonly nextCheck?: unknown
}

function storedUsage(usage: UsageView): Usage {
  const { input_tokens: inputTokens, output_tokens: outputTokens, context_window: contextWindow, cost } = usage
  const { cached_input_tokens: cachedInputTokens, reasoning_tokens: reasoningTokens, prices_as_of: pricesAsOf } = usage
  return {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(cost === undefined ? {} : { costMicros: toMicros(cost) }),
    ...(pricesAsOf === undefined ? {} : { pricesAsOf }),
  }
}

/** Reads a result of an HTTP response, a callback or a worker. An error code that is not ours becomes `agent_error`. */
export function readResult(fields: ResultInput): AttemptResult {
  const code = fields.error_code
  return {
    jobRunId: fields.job_run_id ?? null,
    attemptId: fields.attempt_id ?? null,
    status: fields.status ?? 'success',
    errorCode: isErrorCode(code) ? code : null,
    errorMessage: fields.error_message ?? code ?? null,
    output: fields.output ?? null,
    summary: fields.summary ?? null,
    reported: readRuntimeReport({ sessionId: fields.session_id, messageId: fields.message_id, errorCode: code }),
    usage: fields.usage === undefined ? null : storedUsage(fields.usage),
    retryable: fields.retryable ?? null,
    retryAfterMs: fields.retry_after_seconds === undefined ? null : fields.retry_after_seconds * SECOND_MS,
    ...(fields.next_check === undefined ? {} : { nextCheck: fields.next_check }),
  }
}

/**
 * Reads a result from the response of an agent, which may have other fields of its own: without the field `output`, the
 * whole response is the output. Returns the flaw if the result is invalid.
 */
export function readResponseResult(
  answer: Readonly<Record<string, unknown>>,
): AttemptResult | { readonly flaw: string } {
  const resultFields = Object.fromEntries(
    Object.entries(answer).filter(([name]) => Object.hasOwn(resultInput.shape, name)),
  )
  const isMixed = Object.keys(resultFields).length < Object.keys(answer).length
  const read = readShape(resultInput, resultFields)
  if (!read.ok) return { flaw: invalid(read.flaws).message }
  const result = readResult(read.value)
  return isMixed && resultFields['output'] === undefined ? { ...result, output: answer } : result
}
