import { costMicros } from '../../core/chat/chat-fields.ts'
import { completionsUrl, type ChatOptions } from './options.ts'
import { estimateTokens } from '../../core/chat/tokens.ts'
import { outcomeOfHttpStatus } from '../../domain/run/outcome.ts'
import { secretNamesIn } from '../../core/secret/secret-names.ts'
import type { AnswerHeaders } from '../../outbound/request.ts'
import { retryAfterMs } from '../../outbound/retry-after.ts'
import { errorIn, type Completion } from './completion.ts'
import type { AttemptReport, Usage } from '../executor.ts'
import { failure } from '../http/answer.ts'
import { LARGEST_ANSWER } from '../http/execute.ts'

/** An agent that is a model, and how much it takes in. */
export interface ChatAgent {
  readonly options: ChatOptions
  readonly contextWindow: number | null
}

/** What was asked. */
export interface Asked {
  readonly agent: ChatAgent
  /** What the messages are, roughly. */
  readonly tokens: number
}

/** What an answer is to the attempt, once there is nothing more of it. */
export function reportOfCompletion(completion: Completion, asked: Asked): AttemptReport {
  const { options } = asked.agent
  const said = { output: outputOf(completion.text(), options), usage: usageOf(completion, asked) }
  const error = completion.error()
  if (completion.isTooLarge())
    return { ...failure('answer_too_large', `the answer is larger than ${LARGEST_ANSWER} bytes`), ...said }
  if (error !== null) return { ...reportOfError(error, options), ...said }
  const flaw = completion.flaw()
  if (flaw !== null) return { ...failure('malformed_answer', `${flaw} (${asksRightPlace(options)})`), ...said }
  if (completion.wantsTools())
    return {
      ...failure('agent_error', 'the model wants a tool to be used, and nobody here could', { retryable: false }),
      ...said,
    }
  const finish = completion.finish()
  if (finish === 'content_filter')
    return {
      ...failure('agent_error', 'the server held the answer back: content_filter', { retryable: false }),
      ...said,
    }
  if (!completion.isWhole())
    return { ...failure('malformed_answer', 'the answer ended before its end was said'), ...said }
  const report: AttemptReport = { outcome: { kind: 'succeeded' }, ...said }
  return finish === 'length' ? { ...report, summary: 'The answer was cut off: it reached its limit of tokens' } : report
}

/** What there is of an answer that was broken off; nothing when nobody had begun to answer. */
export const saidSoFar = (completion: Completion | null, asked: Asked): Partial<AttemptReport> =>
  completion === null || completion.text() === ''
    ? {}
    : { output: outputOf(completion.text(), asked.agent.options), usage: usageOf(completion, asked) }

/** Whoever asks for JSON gets JSON, if it is; nothing is null. */
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

/** What the server counted; where it did not, a guess from what was sent and what came, so that budgets hold. */
function usageOf(completion: Completion, { agent, tokens }: Asked): Usage {
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
  if (status === null) return failure('agent_error', `the server broke off: ${message}`)
  return { outcome: outcomeOfHttpStatus(status), errorMessage: `${message}${hintFor(status, message, options)}` }
}

/** An answer whose status says that it went wrong, with what can be done about it. */
export function reportOfRefusal(
  answer: { readonly status: number; readonly headers: AnswerHeaders; readonly text: string },
  options: ChatOptions,
): AttemptReport {
  const { status, headers, text } = answer
  const said = wordsIn(text)
  const words = said === '' ? '' : `: ${said}`
  return {
    outcome: outcomeOfHttpStatus(status, retryAfterMs(headers)),
    errorMessage: `the server answered ${status}${words}${hintFor(status, said, options)}`,
  }
}

const MOST_WORDS = 2_000

function wordsIn(text: string): string {
  try {
    const body = JSON.parse(text) as unknown
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : body
    return errorIn(error).message.slice(0, MOST_WORDS)
  } catch {
    return text.trim().slice(0, MOST_WORDS)
  }
}

const asksRightPlace = (options: ChatOptions): string =>
  `check executor.base_url: ${completionsUrl(options)} was asked; the base mostly ends with /v1`

const TOO_LONG = /context[ _](?:length|window|size)|maximum context|too many tokens|context_length_exceeded/i

/** Whether a server says that the conversation is longer than its model takes. */
export const isTooLong = (status: number, said: string): boolean =>
  (status === 400 || status === 413 || status === 422) && TOO_LONG.test(said)

/** What somebody can do about it; nothing when only the other side can. */
function hintFor(status: number, said: string, options: ChatOptions): string {
  const [secret] = secretNamesIn([options.api_key, options.headers])
  switch (status) {
    case 401:
    case 403:
      return secret === undefined
        ? ` (the agent sends no key; put one on record with escapement secrets set NAME, and set executor.api_key to {{secret:NAME}})`
        : ` (the key in the secret ${secret} is not accepted; set another with escapement secrets set ${secret})`
    case 404:
      return ` (check executor.model, "${options.model}"; ${asksRightPlace(options)})`
    case 400:
    case 413:
    case 422:
      if (isTooLong(status, said))
        return ` (set context_window of the agent to what the model takes, and less of the conversation is sent)`
      if (/stream_options/.test(said)) return ` (set executor.body.stream_options to null)`
      return /max_completion_tokens/.test(said)
        ? ` (leave out executor.max_tokens and set executor.body.max_completion_tokens)`
        : ''
    case 429:
      return ` (it is tried again under retry_policy; requests_per_minute of a provider, named in the agent's field provider, keeps it below the quota)`
    default:
      return ''
  }
}
