import { flawed, parseFields, parseInteger, parsed, wordField, type Parsed } from '../core/input.ts'
import { SECOND_MS } from '../core/instant.ts'
import type { ErrorCode } from '../core/run/error-codes.ts'
import { isErrorCode, reportedBy, type Reported } from '../core/run/reported.ts'
import { RESULT_STATUSES, type ResultStatus } from '../core/run/outcome.ts'
import { toMicros } from '../core/budget/budget.ts'
import type { ResultInput, UsageView } from '../contract/run.ts'
import { parseFlag, parseJson, textField } from '../core/input-fields.ts'
import { read } from './messages.ts'

const text = textField({ min: 0, max: 1_000_000 })

const amount = (field: string, value: unknown): Parsed<number> =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0
    ? parsed(value)
    : flawed({ field, value, message: 'must be a number from 0 on' })

/** Longer waits than a year are a mistake. */
const LONGEST_WAIT_SECONDS = 366 * 86_400

const parseWait = (field: string, value: unknown): Parsed<number> =>
  parseInteger(field, value, { min: 0, max: LONGEST_WAIT_SECONDS })

const FIELDS = {
  job_run_id: text,
  attempt_id: text,
  status: wordField(RESULT_STATUSES),
  session_id: text,
  message_id: text,
  error_code: text,
  error_message: text,
  output: parseJson,
  summary: parseJson,
  usage: parseUsage,
  retryable: parseFlag,
  retry_after_seconds: parseWait,
  next_check: parseJson,
}

const USAGE_FIELDS = { input_tokens: amount, output_tokens: amount, context_window: amount, cost: amount }

function parseUsage(field: string, value: unknown): Parsed<UsageView> {
  return parseFields(field, value, USAGE_FIELDS)
}

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

/** Reads a result in the one shape for answers, callbacks and workers. An error code that is not ours is `agent_error`. */
export function readResult(input: ResultInput): ReadResult {
  const fields = read(parseFields('', input, FIELDS))
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
  const known = Object.fromEntries(Object.entries(answer).filter(([name]) => Object.hasOwn(FIELDS, name)))
  const isMixed = Object.keys(known).length < Object.keys(answer).length
  try {
    const result = readResult(known)
    return isMixed && known['output'] === undefined ? { ...result, output: answer } : result
  } catch (error) {
    return { flaw: error instanceof Error ? error.message : String(error) }
  }
}
