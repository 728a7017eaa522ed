import { StringDecoder } from 'node:string_decoder'
import { estimateTokens } from '../../domain/input-fields.ts'
import { outcomeOfHttpStatus } from '../../domain/run/outcome.ts'
import type { ReportedQuota } from '../../domain/budget/quota.ts'
import { secretNamesIn } from '../../domain/secret/secret-names.ts'
import { type Completion, isCompleteData, createCompletion, type Dialect, errorIn } from './completion.ts'
import { DIALECTS } from './dialects.ts'
import { API_FACTS, type ChatOptions, requestUrl } from './options.ts'
import { costMicros, listPrice, PRICES_AS_OF } from './prices.ts'
import type { AttemptReport, Usage } from '../executor.ts'
import { failureReport } from '../http/answer.ts'
import { MAX_AGENT_ANSWER_BYTES } from '../http/execute.ts'
import { type ResponseHeaders, retryAfterMs, type ReceiveChunk } from '../../platform/outbound/request.ts'

/** The maximum size of a stream, including its protocol overhead. */
const MAX_STREAM_BYTES = 64 * MAX_AGENT_ANSWER_BYTES

/** Reads a streamed answer. */
interface ChatStream {
  readonly take: ReceiveChunk
  /** The connection has ended: a last line without a line break counts. */
  readonly end: () => void
  /** The answer so far. */
  readonly completion: Completion
}

/**
 * Reads a stream of server-sent events or of JSON lines, each with one piece of an answer. Portions may end anywhere,
 * even inside a character; lines may end in any of the three ways; comments and unknown fields are ignored. `received`
 * gets the text of each portion.
 */
export function createChatStream(dialect: Dialect, received: (words: string) => void): ChatStream {
  const decoder = new StringDecoder('utf8')
  const completion = createCompletion(received, dialect.read)
  const add = (data: string, event = ''): void => completion.add(data, event)
  const events = dialect.framing === 'lines' ? createLineParser(add) : createEventParser(add)
  let bytes = 0
  return {
    completion,
    end: () => {
      if (dialect.framing === 'lines') events.push('\n')
      completion.flush()
    },
    take: (portion) => {
      bytes += portion.length
      events.push(decoder.write(portion))
      completion.flush()
      if (
        bytes > MAX_STREAM_BYTES ||
        events.pendingLength() > MAX_AGENT_ANSWER_BYTES ||
        completion.bytes() > MAX_AGENT_ANSWER_BYTES
      ) {
        completion.markTooLarge()
        return 'cut'
      }
      return completion.isOver() ? 'enough' : 'more'
    },
  }
}

interface EventParser {
  readonly push: (text: string) => void
  /** The size of the buffered incomplete data. */
  readonly pendingLength: () => number
}

/** Splits a stream into lines, each with one JSON object. */
function createLineParser(take: (data: string) => void): EventParser {
  let rest = ''
  return {
    pendingLength: () => rest.length,
    push: (text) => {
      const [first = '', ...others] = text.split('\n')
      const all = [rest + first, ...others]
      rest = all.pop() ?? ''
      for (const line of all) if (line.trim() !== '') take(line)
    },
  }
}

/**
 * Splits a stream into events. By the standard, consecutive data lines form one event; but a line that is complete
 * JSON is processed at once, because some servers omit the empty lines in between.
 */
function createEventParser(take: (data: string, event: string) => void): EventParser {
  let [rest, event] = ['', '']
  // A CR at the end of a portion may be the first half of a CRLF.
  let isHalf = false
  let lines: string[] = []
  let pendingInLines = 0
  const finish = (): void => {
    if (lines.length > 0) take(lines.join('\n'), event)
    lines = []
    pendingInLines = 0
    event = ''
  }
  const line = (text: string): void => {
    if (text === '') {
      finish()
      return
    }
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(text) ?? []
    if (name === 'event') event = value
    if (name !== 'data') return
    if (lines.length === 0 && isCompleteData(value)) take(value, event)
    else {
      lines.push(value)
      pendingInLines += value.length
    }
  }
  return {
    pendingLength: () => rest.length + pendingInLines,
    push: (text) => {
      // A line may arrive in very many portions, so earlier portions are not scanned again.
      const fresh = isHalf && text.startsWith('\n') ? text.slice(1) : text
      if (text !== '') isHalf = text.endsWith('\r')
      const [first = '', ...others] = fresh.split(/\r\n|\n|\r/)
      const all = [rest + first, ...others]
      rest = all.pop() ?? ''
      for (const one of all) line(one.startsWith('\uFEFF') ? one.slice(1) : one)
    },
  }
}

/** A model agent and its context window. */
export interface ChatAgent {
  readonly options: ChatOptions
  readonly contextWindow: number | null
}

/** A request to a model. */
export interface ModelRequest {
  readonly agent: ChatAgent
  /** The estimated tokens of the messages. */
  readonly tokens: number
}

/** Finish reasons of the APIs for answers that were withheld, and for answers that reached a limit. */
const BLOCKED: readonly string[] = ['content_filter', 'refusal']
const CUT_OFF: readonly string[] = ['length', 'max_tokens', 'max_output_tokens', 'model_context_window_exceeded']

/** The report of an attempt from a complete answer. */
export function reportOfCompletion(completion: Completion, request: ModelRequest): AttemptReport {
  const { options } = request.agent
  const received = { output: outputOf(completion.text(), options), usage: usageOf(completion, request) }
  const error = completion.error()
  if (completion.isTooLarge())
    return {
      ...failureReport('answer_too_large', `the answer is larger than ${MAX_AGENT_ANSWER_BYTES} bytes`),
      ...received,
    }
  if (error !== null) return { ...reportOfError(error, options), ...received }
  const flaw = completion.flaw()
  if (flaw !== null) return { ...failureReport('malformed_answer', `${flaw} (${baseUrlHint(options)})`), ...received }
  if (completion.wantsTools())
    return {
      ...failureReport('agent_error', 'the model requested a tool call, and tools are not supported', {
        retryable: false,
      }),
      ...received,
    }
  const finish = completion.finish() ?? ''
  if (BLOCKED.includes(finish))
    return {
      ...failureReport('agent_error', `the server blocked the answer: ${finish}`, { retryable: false }),
      ...received,
    }
  if (!completion.isWhole())
    return { ...failureReport('malformed_answer', 'the answer ended without an end marker'), ...received }
  const report: AttemptReport = { outcome: { kind: 'succeeded' }, ...received }
  return CUT_OFF.includes(finish)
    ? { ...report, summary: 'The answer was cut off because it reached its token limit' }
    : report
}

/** The partial output of an interrupted answer; empty when none had begun. */
export const partialReport = (completion: Completion | null, request: ModelRequest): Partial<AttemptReport> =>
  completion === null || completion.text() === ''
    ? {}
    : { output: outputOf(completion.text(), request.agent.options), usage: usageOf(completion, request) }

/** Parses the output as JSON if a JSON format was requested and it is valid; empty output is null. */
function outputOf(text: string, { api, body }: ChatOptions): unknown {
  if (text === '') return null
  if (!DIALECTS[api].wantsJson(body)) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The usage that the server reported, or an estimate from request and answer, so that budgets still count. */
function usageOf(completion: Completion, { agent, tokens }: ModelRequest): Usage {
  const counted = completion.usage()
  const estimated = estimateTokens(completion.text())
  const input = counted?.input ?? tokens
  // Before the end, some servers report only the tokens so far.
  const output =
    counted === null ? estimated : completion.isWhole() ? counted.output : Math.max(counted.output, estimated)
  const { cached = 0, cacheWritten = 0, reasoning = 0, cost = null } = counted ?? {}
  const { prices: own } = agent.options
  const listed = own === null && cost === null ? listPrice(agent.options) : null
  const prices = own ?? listed
  const computed = prices === null ? null : costMicros(prices, { input, output, cached, cacheWritten })
  const micros = cost === null ? computed : Math.round(cost * 1e6)
  return {
    inputTokens: input,
    outputTokens: output,
    ...(cached === 0 ? {} : { cachedInputTokens: cached }),
    ...(reasoning === 0 ? {} : { reasoningTokens: reasoning }),
    ...(agent.contextWindow === null ? {} : { contextWindow: agent.contextWindow }),
    ...(micros === null ? {} : { costMicros: micros }),
    ...(listed === null ? {} : { pricesAsOf: PRICES_AS_OF }),
  }
}

function reportOfError({ message, status }: ReturnType<typeof errorIn>, options: ChatOptions): AttemptReport {
  if (status === null) return failureReport('agent_error', `the server reported an error: ${message}`)
  return { outcome: outcomeOfHttpStatus(status), errorMessage: `${message}${hintFor(status, message, options)}` }
}

/** The report of an answer with an error status, with a hint where the user can fix it. */
export function reportOfRefusal(
  answer: { readonly status: number; readonly headers: ResponseHeaders; readonly text: string },
  options: ChatOptions,
): AttemptReport {
  const { status, headers, text } = answer
  const received = errorTextIn(text)
  const words = received === '' ? '' : `: ${received}`
  return {
    outcome: outcomeOfHttpStatus(status, retryAfterMs(headers) ?? quotaIn(headers, 0)?.availableInMs ?? null),
    errorMessage: `the server answered ${status}${words}${hintFor(status, received, options)}`,
  }
}

/** The names of rate limit headers: OpenAI's, which many servers use, and Anthropic's. */
const RATE_LIMIT_HEADERS = {
  requests: [
    ['x-ratelimit-remaining-requests', 'x-ratelimit-limit-requests', 'x-ratelimit-reset-requests'],
    [
      'anthropic-ratelimit-requests-remaining',
      'anthropic-ratelimit-requests-limit',
      'anthropic-ratelimit-requests-reset',
    ],
  ],
  tokens: [
    ['x-ratelimit-remaining-tokens', 'x-ratelimit-limit-tokens', 'x-ratelimit-reset-tokens'],
    ['anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-limit', 'anthropic-ratelimit-tokens-reset'],
  ],
} as const

/** What the headers report as left for further requests; null: nothing. */
export function quotaIn(headers: ResponseHeaders, usedTokens: number): ReportedQuota | null {
  const read = (kind: 'requests' | 'tokens', need: number): { readonly left: number; readonly inMs: number } | null => {
    for (const [remaining, limit, reset] of RATE_LIMIT_HEADERS[kind]) {
      const left = countIn(headers[remaining])
      if (left === null) continue
      const resetMs = durationIn(headers[reset], headers['date']) ?? 0
      // Limits refill evenly until the reset: room for a request like this one comes earlier.
      const share = Math.min(1, Math.max(1, need) / Math.max(1, countIn(headers[limit]) ?? 1))
      return { left, inMs: left > 0 ? 0 : Math.ceil(resetMs * share) }
    }
    return null
  }
  const [requests, tokens] = [read('requests', 1), read('tokens', usedTokens)]
  if (requests === null && tokens === null) return null
  const availableInMs = Math.max(requests?.inMs ?? 0, tokens?.inMs ?? 0)
  return {
    requests: requests?.left ?? null,
    tokens: tokens?.left ?? null,
    availableInMs: availableInMs === 0 ? null : availableInMs,
  }
}

const countIn = (value: ResponseHeaders[string]): number | null =>
  typeof value === 'string' && /^\d{1,15}$/.test(value.trim()) ? Number(value) : null

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 }

/** A time such as `6m0s` or `12ms`, or an instant, compared with the `Date` header because clocks differ. */
function durationIn(value: ResponseHeaders[string], date: ResponseHeaders[string]): number | null {
  if (typeof value !== 'string') return null
  const text = value.trim()
  if (/^(?:\d+(?:\.\d+)?(?:ms|[hms]))+$/.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[hms])/g)]
    return Math.ceil(parts.reduce((sum, [, count, unit = 's']) => sum + Number(count) * (UNIT_MS[unit] ?? 0), 0))
  }
  const [until, from] = [Date.parse(text), typeof date === 'string' ? Date.parse(date) : Number.NaN]
  return Number.isNaN(until) || Number.isNaN(from) ? null : Math.max(0, until - from)
}

const MAX_ERROR_LENGTH = 2_000

function errorTextIn(text: string): string {
  try {
    const body = JSON.parse(text) as unknown
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : body
    return errorIn(error).message.slice(0, MAX_ERROR_LENGTH)
  } catch {
    return text.trim().slice(0, MAX_ERROR_LENGTH)
  }
}

const baseUrlHint = (options: ChatOptions): string =>
  `check executor.base_url: the request went to ${requestUrl(options)}; ${API_FACTS[options.api].base}`

const TOO_LONG =
  /context[ _](?:length|window|size|limit)|maximum context|too many tokens|prompt is too long|request_too_large/i

/** Whether a server reports that the conversation exceeds the model's context window. */
export const isTooLong = (status: number, received: string): boolean =>
  (status === 400 || status === 413 || status === 422) && TOO_LONG.test(received)

/** A hint on how to fix an error; empty when only the server's side can. */
function hintFor(status: number, received: string, options: ChatOptions): string {
  const [secret] = secretNamesIn([options.api_key, options.headers])
  switch (status) {
    case 401:
    case 403:
      return secret === undefined
        ? ` (the agent sends no key; store one with escapement secrets set NAME, and set executor.api_key to {{secret:NAME}})`
        : ` (the key in secret ${secret} was not accepted; replace it with escapement secrets set ${secret})`
    case 404:
      return ` (check executor.model, "${options.model}"; ${baseUrlHint(options)})`
    case 400:
    case 413:
    case 422:
      if (isTooLong(status, received))
        return ` (set context_window of the agent to the model's context window, so that less of the conversation is sent)`
      if (/stream_options/.test(received)) return ` (set executor.body.stream_options to null)`
      return /max_completion_tokens/.test(received)
        ? ` (remove executor.max_tokens and set executor.body.max_completion_tokens)`
        : ''
    case 429:
      return ` (it is retried under retry_policy; to stay below the quota, set requests_per_minute of a provider and name it in the agent's provider field)`
    default:
      return ''
  }
}
