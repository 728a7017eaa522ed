import { amountsStated } from '../../domain/budget/amounts.ts'
import { completionsUrl, type ChatOptions } from './options.ts'
import { conversationOf, type Conversation } from './conversation.ts'
import { maxConversationTokens } from '../../domain/input-fields.ts'
import { CHAT } from './kind.ts'
import { fillJson, fillText, type TemplateValues } from '../template.ts'
import { createStreamMask } from '../../domain/secret/mask.ts'
import { runOfSession } from '../../domain/session/session.ts'
import type { ResponseHeaders, OutboundResponse, ReceiveChunk } from '../../platform/outbound/request.ts'
import type { Outbound } from '../../platform/outbound/send.ts'
import { createCompletion, type Completion } from './completion.ts'
import {
  type ModelRequest,
  type ChatAgent,
  createChatStream,
  isTooLong,
  reportOfCompletion,
  reportOfRefusal,
  partialReport,
} from './answer.ts'
import {
  type Attempt,
  type AttemptContext,
  type AttemptReport,
  type Executor,
  type ExposedSecrets,
  traceparentOf,
} from '../executor.ts'
import { failureReport, reportOfFailedRequest } from '../http/answer.ts'
import { asHeader, openSecretsFor, MAX_AGENT_ANSWER_BYTES, templateValuesOf } from '../http/execute.ts'
import type { SessionHistory, CreateExecutor } from '../host.ts'

export interface ChatExecutorOptions {
  readonly send: Outbound['send']
  /** The model agent of an attempt; null when it no longer exists. */
  readonly agentOf: (attempt: Attempt) => Promise<ChatAgent | null>
  /** The model that a retry was created with; null, or left out: that of the agent. */
  readonly modelOf?: (attempt: Attempt) => Promise<string | null>
  /** The conversation before this attempt, of about `mostTokens` tokens at most. */
  readonly historyOf: (attempt: Attempt, maxTokens: number) => Promise<SessionHistory>
}

/** The executor for models behind an OpenAI-compatible server; it streams the answer as progress. */
export const createChatExecutor =
  (ports: ChatExecutorOptions): Executor =>
  async (attempt, context) => {
    const agent = await agentFor(ports, attempt)
    if (agent === null)
      return failureReport('executor_offline', `agent ${attempt.agentId} no longer exists`, {
        retryable: false,
      })
    const past = await loadHistory(ports, attempt, agent)
    if (context.signal.aborted) return { outcome: { kind: 'stopped' } }
    const url = completionsUrl(agent.options)
    const { api_key: key, headers, body } = agent.options
    const carried = key === null ? headers : { ...headers, authorization: key }
    const exposed = (await openSecretsFor({ headers: carried, body }, url, context)) ?? NOTHING_EXPOSED
    if (!exposed.ok) return failureReport('secret_refused', exposed.message)
    const values = { ...templateValuesOf(attempt), secrets: exposed.values }
    for (let room = maxInputTokens(agent); ;) {
      const conversation = buildConversation(attempt, { agent, past, room })
      const { report, isTooLong: wasTooLong } = await sendChatRequest(ports.send, context, {
        ...{ agent, tokens: conversation.tokens, url, secrets: Object.values(exposed.values) },
        headers: headersOf(attempt, agent.options, values),
        body: JSON.stringify({
          ...bodyOf(agent.options, conversation, values),
          ...limitOf(attempt, agent, conversation),
        }),
      })
      if (!wasTooLong || conversation.kept === 0) return report
      // Token counts are estimates, and real context windows can be smaller than configured: with less history the
      // request may still succeed.
      room = Math.floor(conversation.tokens / 2)
    }
  }

/** The agent of an attempt, with the model that a retry was created with. The prices of another model are not known. */
async function agentFor(
  { agentOf, modelOf }: Pick<ChatExecutorOptions, 'agentOf' | 'modelOf'>,
  attempt: Attempt,
): Promise<ChatAgent | null> {
  const agent = await agentOf(attempt)
  const model = attempt.trigger === 'retry' ? ((await modelOf?.(attempt)) ?? null) : null
  if (agent === null || model === null || model === agent.options.model) return agent
  return { ...agent, options: { ...agent.options, model, prices: null } }
}

/** Creates the chat executor of a process. */
export const createChatExecutorFor: CreateExecutor = (host) =>
  createChatExecutor({ ...host, agentOf: host.agentOf(CHAT) })

const NOTHING_EXPOSED: ExposedSecrets = { ok: true, values: {} }

const EMPTY_HISTORY: SessionHistory = { sender: null, retryOf: null, exchanges: [] }

const maxInputTokens = ({ options, contextWindow }: ChatAgent): number =>
  maxConversationTokens(contextWindow, options.max_tokens)

/** The history of the session, unless there is none or it is not wanted. */
async function loadHistory(
  { historyOf }: ChatExecutorOptions,
  attempt: Attempt,
  agent: ChatAgent,
): Promise<SessionHistory> {
  const { sessionKey, runId } = attempt
  // A session of the run's own starts with the run, so it has no history.
  const hasPast = sessionKey !== null && runOfSession(sessionKey)?.runId !== runId
  return hasPast && agent.options.history ? historyOf(attempt, maxInputTokens(agent)) : EMPTY_HISTORY
}

function buildConversation(
  { payload }: Attempt,
  { agent, past, room }: { readonly agent: ChatAgent; readonly past: SessionHistory; readonly room: number },
): Conversation {
  const { sender, retryOf, exchanges } = past
  const { system_prompt: systemPrompt } = agent.options
  return conversationOf({ systemPrompt, past: exchanges, newest: { payload, sender, retryOf }, maxTokens: room })
}

function headersOf(attempt: Attempt, options: ChatOptions, values: TemplateValues): Readonly<Record<string, string>> {
  const own = Object.entries(options.headers).map(([name, text]): readonly [string, string] => [
    name.toLowerCase(),
    fillText(text, values, asHeader),
  ])
  return {
    'content-type': 'application/json',
    accept: options.stream ? 'text/event-stream, application/json' : 'application/json',
    ...Object.fromEntries(own),
    ...(options.api_key === null ? {} : { authorization: `Bearer ${fillText(options.api_key, values, asHeader)}` }),
    'idempotency-key': attempt.attemptId,
    traceparent: traceparentOf(attempt),
  }
}

function bodyOf(options: ChatOptions, { messages }: Conversation, values: TemplateValues): object {
  const { model, temperature, max_tokens, stream } = options
  const own = fillJson(options.body, values) as Readonly<Record<string, unknown>>
  // Servers report the usage of a stream only when asked to; null leaves the option out.
  const { stream_options: said = { include_usage: true }, ...rest } = own
  return {
    ...{ model, messages },
    ...(temperature === null ? {} : { temperature }),
    ...(max_tokens === null ? {} : { max_tokens }),
    ...rest,
    ...(stream ? { stream, ...(said === null ? {} : { stream_options: said }) } : {}),
  }
}

/**
 * The output limit that the run states, which can only lower the agent's. A server whose agent sets
 * `max_completion_tokens` in its body refuses `max_tokens` beside it.
 */
function limitOf(
  { payload }: Attempt,
  { options, contextWindow }: ChatAgent,
  { tokens }: Conversation,
): Readonly<Record<string, number>> {
  const stated = amountsStated(payload).tokens
  if (stated === null || stated === 0) return {}
  const newer = options.body['max_completion_tokens']
  const own = newer ?? options.max_tokens
  // Servers refuse a limit above the rest of the context window, whatever the run may use in total.
  const left = contextWindow === null ? stated : Math.max(1, contextWindow - tokens)
  const limit = Math.min(stated, typeof own === 'number' ? own : left)
  return newer === undefined ? { max_tokens: limit } : { max_completion_tokens: limit }
}

interface ChatRequest extends ModelRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Secrets that must not appear in the progress, not even split. */
  readonly secrets: readonly string[]
}

interface ChatResponse {
  readonly report: AttemptReport
  /** Whether the server refused the request as too long. */
  readonly isTooLong: boolean
}

async function sendChatRequest(
  send: Outbound['send'],
  context: AttemptContext,
  question: ChatRequest,
): Promise<ChatResponse> {
  const { url, headers, body, agent, secrets } = question
  const mask = createStreamMask(secrets)
  const publish = (words: string): void => {
    if (words !== '') context.progress(words)
  }
  let streamed: Completion | null = null
  const take = (answer: { readonly status: number; readonly headers: ResponseHeaders }): ReceiveChunk | null => {
    if (!isStream(answer)) return null
    const stream = createChatStream((words) => publish(mask.push(words)))
    streamed = stream.completion
    return stream.take
  }
  const answer = await send({
    ...{ url, method: 'POST', headers, body, receive: take, signal: context.signal, maxBytes: MAX_AGENT_ANSWER_BYTES },
    ...{ purpose: 'agent', ...(secrets.length === 0 ? {} : { sameOriginOnly: true }) },
  })
  const completion = streamed as Completion | null
  const plain = (report: AttemptReport): ChatResponse => ({ report, isTooLong: false })
  if (answer.kind !== 'answered')
    return plain({ ...reportOfFailedRequest(answer), ...partialReport(completion, question) })
  if (completion !== null) {
    publish(mask.end())
    return plain(reportOfCompletion(completion, question))
  }
  const report = reportOfWhole(answer, question, agent.options)
  return { report, isTooLong: isTooLong(answer.status, answer.body.toString('utf8')) }
}

const isStream = ({ status, headers }: { readonly status: number; readonly headers: ResponseHeaders }): boolean =>
  status >= 200 && status < 300 && /^text\/event-stream\b/i.test(String(headers['content-type'] ?? '').trim())

/** Some servers do not stream even when asked to. */
function reportOfWhole(
  answer: Extract<OutboundResponse, { readonly kind: 'answered' }>,
  request: ModelRequest,
  options: ChatOptions,
): AttemptReport {
  const { status, headers } = answer
  const text = answer.body.toString('utf8')
  if (status < 200 || status >= 300) return reportOfRefusal({ status, headers, text }, options)
  const completion = createCompletion(() => undefined)
  completion.add(text)
  // A non-streamed answer is complete; without `choices` it is not a chat completion.
  const isAnswer = completion.flaw() !== null || completion.error() !== null || /"choices"\s*:\s*\[/.test(text)
  if (!isAnswer) return failureReport('malformed_answer', 'the answer is not a chat completion: it has no choices')
  return reportOfCompletion({ ...completion, isWhole: () => true }, request)
}
