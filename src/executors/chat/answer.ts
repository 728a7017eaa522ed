import { StringDecoder } from 'node:string_decoder'
import { estimateTokens } from '../../domain/input-fields.ts'
import { outcomeOfHttpStatus } from '../../domain/run/outcome.ts'
import { secretNamesIn } from '../../domain/secret/secret-names.ts'
import { type Completion, isCompleteData, createCompletion, errorIn } from './completion.ts'
import { type ChatOptions, completionsUrl, costMicros } from './options.ts'
import type { AttemptReport, Usage } from '../executor.ts'
import { failureReport } from '../http/answer.ts'
import { MAX_AGENT_ANSWER_BYTES } from '../http/execute.ts'
import { type ResponseHeaders, retryAfterMs, type ReceiveChunk } from '../../platform/outbound/request.ts'

/** The maximum size of a stream, including its protocol overhead. */
const MAX_STREAM_BYTES = 64 * MAX_AGENT_ANSWER_BYTES

/** Reads a streamed answer. */
interface ChatStream {
  readonly take: ReceiveChunk
  /** The answer so far. */
  readonly completion: Completion
}

/**
 * Reads a stream of server-sent events, each with one piece of an answer. Portions may end anywhere, even inside a
 * character; lines may end in any of the three ways; comments and unknown fields are ignored. `said` receives the
 * text of each portion.
 */
export function createChatStream(received: (words: string) => void): ChatStream {
  const decoder = new StringDecoder('utf8')
  const completion = createCompletion(received)
  const events = createEventParser((data, event) => completion.add(data, event))
  let bytes = 0
  return {
    completion,
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
  const finish = completion.finish()
  if (finish === 'content_filter')
    return {
      ...failureReport('agent_error', 'the server blocked the answer: content_filter', { retryable: false }),
      ...received,
    }
  if (!completion.isWhole())
    return { ...failureReport('malformed_answer', 'the answer ended without an end marker'), ...received }
  const report: AttemptReport = { outcome: { kind: 'succeeded' }, ...received }
  return finish === 'length'
    ? { ...report, summary: 'The answer was cut off because it reached its token limit' }
    : report
}

/** The partial output of an interrupted answer; empty when none had begun. */
export const partialReport = (completion: Completion | null, request: ModelRequest): Partial<AttemptReport> =>
  completion === null || completion.text() === ''
    ? {}
    : { output: outputOf(completion.text(), request.agent.options), usage: usageOf(completion, request) }

/** Parses the output as JSON if a JSON format was requested and it is valid; empty output is null. */
function outputOf(text: string, { body }: ChatOptions): unknown {
  if (text === '') return null
  const format: unknown = body['response_format']
  const type = typeof format === 'object' && format !== null && 'type' in format ? format.type : null
  if (type !== 'json_object' && type !== 'json_schema') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The usage that the server reported, or an estimate from request and answer, so that budgets still count. */
function usageOf(completion: Completion, { agent, tokens }: ModelRequest): Usage {
  const { prices } = agent.options
  const counted = completion.usage()
  const used = counted ?? { input: tokens, output: estimateTokens(completion.text()), cost: null }
  const cost = used.cost === null ? (prices === null ? null : costMicros(prices, used)) : Math.round(used.cost * 1e6)
  return {
    ...{ inputTokens: used.input, outputTokens: used.output },
    ...(agent.contextWindow === null ? {} : { contextWindow: agent.contextWindow }),
    ...(cost === null ? {} : { costMicros: cost }),
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
    outcome: outcomeOfHttpStatus(status, retryAfterMs(headers)),
    errorMessage: `the server answered ${status}${words}${hintFor(status, received, options)}`,
  }
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
  `check executor.base_url: the request went to ${completionsUrl(options)}; the base URL usually ends with /v1`

const TOO_LONG = /context[ _](?:length|window|size)|maximum context|too many tokens|context_length_exceeded/i

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
